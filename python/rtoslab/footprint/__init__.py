"""What an image weighs: bytes by section, memory, symbol and object file; per service; stacks; differences.

`elf` and `linkmap` read what the linker wrote, `attribute` gives every byte an owner, `images` builds the programs of
firmware/footprint/, `services` sets each against its base, `stacks` and `callgraph` say what the tasks' stacks need,
`diff` compares two images, `tables` turns all of it into rows.
"""

from rtoslab.footprint.attribute import Footprint, footprint_of
from rtoslab.footprint.diff import Difference, difference
from rtoslab.footprint.images import Weighed, weigh
from rtoslab.footprint.services import Survey, survey

__all__ = ["Difference", "Footprint", "Survey", "Weighed", "difference", "footprint_of", "survey", "weigh"]
