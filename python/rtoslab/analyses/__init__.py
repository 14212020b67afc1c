"""Turns stored points into statements: figures, latencies, losses by cause, claims."""

from rtoslab.analyses.axis_values import Selector, Value, axis_of_point, in_unit, select, values
from rtoslab.analyses.bands import Band, Ratio
from rtoslab.analyses.claim_rules import StatementResult, worst
from rtoslab.analyses.claims import OUTCOMES, ClaimVerdict, Outcome, judge_claims
from rtoslab.analyses.collisions import LEVEL, SEED, Level, Step, levels, steps
from rtoslab.analyses.counts_per_second import Gain, gains, throughput
from rtoslab.analyses.cycles import PARTS, VISIBLE_PART, lock_costs, lock_wait_part, shares, top_functions
from rtoslab.analyses.function_cycles import calls_by_function, cycles_by_function, event_count, per_event, per_what
from rtoslab.analyses.heap_fragmentation import fragmentation
from rtoslab.analyses.instrument_agreement import WAYS, FourWays, four_ways
from rtoslab.analyses.instrument_overhead import probe_effect, ruler_costs
from rtoslab.analyses.latency import (
    FIGURES,
    Absence,
    Comparison,
    Latency,
    absences,
    comparisons,
    conditions,
    histogram,
    instrument_costs,
    latencies,
    spread,
)
from rtoslab.analyses.losses_by_cause import BusiestLock, Loss, losses
from rtoslab.analyses.middle_placement import PlacedPoint, numberless, placed_points
from rtoslab.analyses.named_figures import (
    BYTES,
    COUNTS,
    CYCLES,
    INSTRUCTIONS,
    Metric,
    band_of,
    leading,
    metrics,
    unit_of,
)
from rtoslab.analyses.place_matters import place_bound, place_matters
from rtoslab.analyses.placed_figures import Places
from rtoslab.analyses.placed_times import (
    PLACEMENT,
    PlacedTime,
    by_placement,
    mean_ratio,
    placed_times,
    placement,
    without_placement,
)
from rtoslab.analyses.placed_values import PlacedValues, placement_values, values_over_placements
from rtoslab.analyses.series import cores_of, pinning_note, series_names, short_test
from rtoslab.analyses.tick_cost import TickModel, by_loops, tasks_released, tick_model
from rtoslab.analyses.value_groups import group_by
