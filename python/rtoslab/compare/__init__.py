"""Runs compared: what differs between them, by how much, and in which functions.

`sides` reads what is compared, `placement_pairs` makes one of a point in several placements, `matching` says which
points belong together, `differences` what differs in their manifests, `noise` what noisy samples allow to say,
`comparison` puts it together, `attribution` tells where cycles went, `document` and the other renderers say it to
people and machines. `baseline` and `gate` make it a test.
"""

from rtoslab.compare.baseline import (
    Baseline,
    baseline_path,
    find_regression_baseline_file,
    make_regression_baseline,
    read_baseline_without_seal_check,
    read_regression_baseline_file,
    write_baseline,
)
from rtoslab.compare.comparison import FigureChange, MeasurementRunComparison, compare_runs_or_baselines
from rtoslab.compare.document import comparison_document, fastest_and_slowest_sentence
from rtoslab.compare.gate import (
    RegressionGateResult,
    compare_run_with_baseline,
    gate_verdict_text,
    measurement_plan_for_baseline,
    regression_gate_document,
    shorten_clause_list_to_three,
    without_moved_code_regressions,
)
from rtoslab.compare.history import history_document_of_measured_values
from rtoslab.compare.machines import comparisons_as_json, comparisons_as_junit
from rtoslab.compare.placement_pairs import merge_measurements_over_code_placements
from rtoslab.compare.rules import CALLS, MeasuredValueLimits, MetricGrowthLimit
from rtoslab.compare.sides import ComparedMeasurementSet, read_runs_for_comparison
