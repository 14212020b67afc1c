"""The size of an image: bytes by section, memory, symbol and object file; per service; stacks; differences.

`linkmap` reads what the linker wrote, `attribute` gives every byte an owner, `programs` builds those of
firmware/footprint/, `services` compares each with its base, `stacks` and `callgraph` say what the tasks' stacks need,
`diff` compares two images, `tables` turns all of it into rows.
"""

from rtoslab.footprint.attribute import Footprint, footprint_of
from rtoslab.footprint.control_blocks import members_of
from rtoslab.footprint.diff import difference
from rtoslab.footprint.memories import regions_of
from rtoslab.footprint.programs import weigh
from rtoslab.footprint.services import Survey, survey
from rtoslab.footprint.tables import difference_tables, image_tables, minimal_table, survey_tables
