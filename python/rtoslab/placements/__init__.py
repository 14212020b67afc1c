"""One benchmark in many placements: what moving the same code costs, and which functions' place it is.

`moved_functions` sets each function's cycles against its address, `study` gathers the figures of all placements,
`report` says both to people and machines.
"""

from rtoslab.placements.report import study_as_json, study_document
from rtoslab.placements.study import make_studies

__all__ = ["make_studies", "study_as_json", "study_document"]
