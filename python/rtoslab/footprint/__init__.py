"""The size of an image: bytes by section, memory, symbol and object file; per service; stacks; differences.

`linkmap` reads what the linker wrote, `attribute` gives every byte an owner, `programs` builds those of
firmware/footprint/, `services` compares each with its base, `stacks` and `callgraph` say what the tasks' stacks need,
`diff` compares two images, `tables` turns all of it into rows.
"""

from typing import TYPE_CHECKING

from rtoslab.base import lazy_names

if TYPE_CHECKING:
    from rtoslab.footprint.attribute import ImageFootprint, read_footprint
    from rtoslab.footprint.control_blocks import structure_members
    from rtoslab.footprint.diff import compare_footprints
    from rtoslab.footprint.memories import board_regions
    from rtoslab.footprint.programs import build_program
    from rtoslab.footprint.services import ServiceSurvey, survey_services
    from rtoslab.footprint.tables import difference_tables, image_size_tables, minimal_image_sizes_table, survey_tables
else:
    __getattr__ = lazy_names(__name__)
