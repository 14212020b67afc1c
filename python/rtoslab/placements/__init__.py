"""One benchmark in many placements: how far figures change when code moves, and which functions' addresses matter.

`moved_functions` compares each function's cycles with its address, `study` gathers the figures of all placements,
`report` shows both, as a document and as JSON.
"""

from rtoslab.placements.report import study_as_json, study_document
from rtoslab.placements.study import make_studies
