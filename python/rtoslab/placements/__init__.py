"""Measures one benchmark in many placements, to show how figures change when code moves, and through which functions.

`moved_functions` compares each function's cycles with its address, `study` gathers the figures of all placements,
`report` makes a document and JSON of both."""

from rtoslab.placements.report import code_placement_studies_as_json, code_placement_study_report
from rtoslab.placements.study import make_code_placement_studies
