"""Turns stored points into statements: figures, latencies, losses by cause, claims."""

from rtoslab.analyses.axis_values import (
    MeasuredValue,
    Selector,
    axis_of_point,
    convert_unit,
    point_values,
    select_values,
)
from rtoslab.analyses.bands import FigureRatio, PlacementBand
from rtoslab.analyses.claim_rules import StatementResult, combine_statement_results
from rtoslab.analyses.claims import OUTCOMES, ClaimVerdict, Outcome, judge_claims
from rtoslab.analyses.collisions import (
    SEED_PARAMETER,
    STRESS_PARAMETER,
    StressLevel,
    StressRun,
    stress_levels,
    stress_runs,
)
from rtoslab.analyses.counts_per_second import CoreGain, core_gains, throughput
from rtoslab.analyses.cycles import (
    CYCLE_PARTS,
    VISIBLE_PART,
    cycle_use_of_cores,
    lock_costs,
    lock_wait_share,
    top_functions,
)
from rtoslab.analyses.function_cycles import (
    calls_by_function,
    cycles_by_function,
    measured_event_count,
    measured_event_noun,
    per_measured_event,
)
from rtoslab.analyses.heap_fragmentation import most_fragmented_heap
from rtoslab.analyses.instrument_agreement import ALL_INSTRUMENTS, InstrumentComparison, compare_instruments
from rtoslab.analyses.instrument_overhead import empty_measurement_costs, probe_effect
from rtoslab.analyses.latency import (
    SPREAD_FIGURES,
    AbsentSeries,
    SeriesComparison,
    SeriesLatency,
    absent_series,
    histogram,
    instrument_costs,
    latencies,
    sample_spread,
    series_comparisons,
    without_instrument,
)
from rtoslab.analyses.losses_by_cause import BusiestLock, MulticoreLoss, multicore_losses
from rtoslab.analyses.middle_placement import PointOverPlacements, join_points_over_placements, points_without_number
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
    group_placements,
    mean_ratio,
    placed_times,
    placement_number,
    without_placement,
)
from rtoslab.analyses.placed_values import ValuesByPlacement, placement_values, values_over_placements
from rtoslab.analyses.series import cores_text, series_names, short_test_name, task_pinning_sentence
from rtoslab.analyses.tick_cost import TickModel, cycles_by_released_tasks, fit_tick_model, search_samples_by_loops
from rtoslab.analyses.value_groups import group_values_by_axes
