"""Judges every statement of a paper in many builds of the same kernels, to show how stable the statements are.

`builds` lists the builds, `build_points` the points to measure for them, `values_file` stores the values, `judged` and
`shares` count the builds in which a statement holds, `document` makes the report."""

from rtoslab.stability.build_points import stability_plan
from rtoslab.stability.document import stability_document
from rtoslab.stability.judged import JudgedPaper, JudgedStatement, holding_builds_texts, judge_statements_in_builds
from rtoslab.stability.measured_rows import stored_rows_of_run
from rtoslab.stability.merged_values import merge_stability_rows
from rtoslab.stability.overview import placement_overview_document
from rtoslab.stability.values_file import read_stability_file, stability_file_path, write_stability_file
