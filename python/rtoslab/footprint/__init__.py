"""The size of an image: bytes by section, memory, symbol and object file; per service; stacks; differences.

`linkmap` reads what the linker wrote, `attribute` gives every byte an owner, `programs` builds those of
firmware/footprint/, `services` compares each with its base, `stacks` and `callgraph` say what the tasks' stacks need,
`diff` compares two images, `tables` turns all of it into rows.
"""

from typing import TYPE_CHECKING

from rtoslab.base import lazy_attribute_getter

if TYPE_CHECKING:
    from rtoslab.footprint.attribute import ImageFootprint, read_image_footprint
    from rtoslab.footprint.control_blocks import structure_member_offsets
    from rtoslab.footprint.diff import compare_footprints
    from rtoslab.footprint.memories import board_memory_regions
    from rtoslab.footprint.programs import build_footprint_program
    from rtoslab.footprint.services import ServiceSizeSurvey, survey_service_sizes
    from rtoslab.footprint.tables import (
        image_size_tables,
        minimal_image_sizes_table,
        service_survey_tables,
        size_difference_tables,
    )
else:
    __getattr__ = lazy_attribute_getter(__name__)
