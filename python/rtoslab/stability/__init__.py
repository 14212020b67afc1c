"""How stable a paper's statements are: every statement judged in many builds of the same kernels.

`builds` says which builds, `build_points` what to measure for them, `values_file` keeps the values, `judged` and
`shares` count in how many builds a statement holds, `document` tells it.
"""

from rtoslab.stability.build_points import stability_plan
from rtoslab.stability.document import stability_document
from rtoslab.stability.judged import JudgedPaper, JudgedStatement, held_counts, judge_builds
from rtoslab.stability.measured_rows import measure_rows
from rtoslab.stability.overview import overview_document
from rtoslab.stability.values_file import read_stability, stability_path, write_stability
