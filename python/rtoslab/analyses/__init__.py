"""Turns stored points into statements: figures, latencies, losses by cause, claims."""

from rtoslab.analyses.axis_values import (
    MeasuredValue,
    Selector,
    axis_value_of_measured_point,
    convert_unit,
    select_values_by_coordinates,
    values_of_points,
)
from rtoslab.analyses.bands import CodePlacementValueRange, MeasuredValueRatio
from rtoslab.analyses.claim_rules import StatementResult, combine_paper_statement_results
from rtoslab.analyses.claims import OUTCOMES, ClaimVerdict, Outcome, judge_claims
from rtoslab.analyses.collisions import (
    SEED_PARAMETER,
    STRESS_PARAMETER,
    StressLevelRunGroup,
    StressRun,
    compare_stress_runs,
    group_runs_by_stress_level,
)
from rtoslab.analyses.counts_per_second import MulticoreGain, counts_per_second_of_point, multicore_throughput_gains
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
    noun_of_measured_event,
    number_of_counts_or_latency_samples,
)
from rtoslab.analyses.heap_fragmentation import most_fragmented_heap
from rtoslab.analyses.instrument_agreement import ALL_INSTRUMENTS, InstrumentComparison, compare_instruments
from rtoslab.analyses.instrument_overhead import empty_measurement_overheads, measurement_window_lengths
from rtoslab.analyses.latency import (
    SPREAD_FIGURES,
    AbsentSeries,
    MeasuredLatencySeries,
    SeriesByInstrument,
    absent_series,
    histogram_of_samples,
    instrument_overheads_of_measured_points,
    latencies_by_instrument,
    latencies_of_point,
    point_id_without_instrument,
    sample_statistics,
)
from rtoslab.analyses.losses_by_cause import LongestHeldSpinlock, MulticorePerformanceLoss, multicore_performance_losses
from rtoslab.analyses.middle_placement import (
    MeasuredPointInCodePlacements,
    group_measurement_points_without_values,
    group_points_over_code_placements,
)
from rtoslab.analyses.named_figures import (
    BYTES,
    COUNTS,
    CYCLES,
    INSTRUCTIONS,
    NamedMetricValue,
    comparable_values_of_measurement_point,
    placement_band,
    primary_speed_values_of_point,
    unit_of_measured_value,
)
from rtoslab.analyses.pair_rates import (
    CoreCyclesPerBenchmarkCount,
    KernelPair,
    kernel_pairs,
    mean_cycles_per_benchmark_count,
)
from rtoslab.analyses.place_matters import does_timing_depend_on_code_addresses, results_depending_on_addresses
from rtoslab.analyses.placed_figures import CodePlacementLookup
from rtoslab.analyses.placed_times import (
    PLACEMENT,
    MeasuredTimeInCodePlacements,
    code_placement_number_text,
    geometric_mean_ratio,
    group_measurements_over_code_placements,
    main_point_times_in_code_placements,
    measurement_id_without_code_placement,
)
from rtoslab.analyses.placed_values import (
    ValuesByCodePlacement,
    median_values_over_code_placements,
    point_values_by_code_placement,
)
from rtoslab.analyses.series import cores_and_pinning_text, distinct_point_names, short_test_name, task_pinning_sentence
from rtoslab.analyses.tick_cost import (
    TickCostModel,
    cycles_by_released_tasks,
    fit_tick_cost_model,
    scheduler_search_duration_samples,
)
from rtoslab.analyses.value_groups import group_values_by_axes
