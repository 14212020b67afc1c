"""Judges every statement of a paper in many builds of the same kernels, to show how stable the statements are.

`builds` lists the builds, `build_points` the points to measure for them, `values_file` stores the values, `judged` and
`shares` count the builds in which a statement holds, `document` makes the report."""

from rtoslab.stability.build_points import plan_paper_claim_stability_points
from rtoslab.stability.document import statement_stability_report
from rtoslab.stability.judged import (
    JudgedPaper,
    JudgedStatement,
    build_count_texts_by_paper_claim,
    judge_paper_claims_in_builds,
)
from rtoslab.stability.measured_rows import stored_rows_of_run
from rtoslab.stability.merged_values import merge_claim_stability_rows
from rtoslab.stability.overview import placement_overview_document
from rtoslab.stability.values_file import read_stability_file, stability_file_path, write_stability_file
