"""Turns stored points into statements: figures, latencies, losses by cause, claims."""

from rtoslab.analyses.axis_values import (
    MeasuredValue,
    Selector,
    convert_unit,
    coordinate_of_point,
    select_values_by_coordinates,
    values_of_points,
)
from rtoslab.analyses.bands import FigureRatio, PlacementBand
from rtoslab.analyses.claim_rules import StatementResult, combine_statement_results
from rtoslab.analyses.claims import OUTCOMES, ClaimVerdict, Outcome, judge_claims
from rtoslab.analyses.collisions import (
    SEED_PARAMETER,
    STRESS_PARAMETER,
    RunsAtStressLevel,
    StressRun,
    compare_stress_runs,
    group_runs_by_stress_level,
)
from rtoslab.analyses.counts_per_second import MulticoreGain, counts_per_second_of_point, multicore_gains
from rtoslab.analyses.cycles import (
    CYCLE_PARTS,
    VISIBLE_PART,
    cycle_use_of_cores,
    functions_with_most_cycles,
    lock_wait_share,
    spinlock_costs,
)
from rtoslab.analyses.function_cycles import (
    calls_by_function,
    cycles_by_function,
    divide_by_measured_events,
    measured_event_count,
    measured_event_noun,
)
from rtoslab.analyses.heap_fragmentation import most_fragmented_heap
from rtoslab.analyses.instrument_agreement import ALL_INSTRUMENTS, InstrumentComparison, compare_instruments
from rtoslab.analyses.instrument_overhead import empty_measurement_costs, window_length_by_instruments
from rtoslab.analyses.latency import (
    SPREAD_FIGURES,
    AbsentSeries,
    SeriesByInstrument,
    SeriesLatency,
    absent_series,
    histogram_of_samples,
    instrument_costs,
    latencies_by_instrument,
    latencies_of_point,
    point_id_without_instrument,
    sample_statistics,
)
from rtoslab.analyses.losses_by_cause import LongestHeldSpinlock, MulticoreLoss, multicore_losses
from rtoslab.analyses.middle_placement import (
    PointOverPlacements,
    group_points_without_figures,
    join_points_over_placements,
)
from rtoslab.analyses.named_figures import (
    BYTES,
    COUNTS,
    CYCLES,
    INSTRUCTIONS,
    NamedFigure,
    all_point_figures,
    figure_unit,
    leading_point_figures,
    placement_band,
)
from rtoslab.analyses.pair_rates import CyclesPerCount, KernelPair, kernel_pairs, mean_cycles_per_count
from rtoslab.analyses.place_matters import depends_on_code_addresses, results_depending_on_addresses
from rtoslab.analyses.placed_figures import PlacementLookup
from rtoslab.analyses.placed_times import (
    PLACEMENT,
    TimeOverPlacements,
    geometric_mean_ratio,
    group_points_over_placements,
    leading_times_over_placements,
    placement_number_text,
    point_id_without_placement,
)
from rtoslab.analyses.placed_values import (
    ValuesByPlacement,
    point_numbers_by_placement,
    values_of_points_over_placements,
)
from rtoslab.analyses.series import cores_and_pinning_text, distinct_point_names, short_test_name, task_pinning_sentence
from rtoslab.analyses.tick_cost import (
    TickCostModel,
    cycles_by_released_tasks,
    fit_tick_cost_model,
    next_task_search_samples,
)
from rtoslab.analyses.value_groups import group_values_by_axes
