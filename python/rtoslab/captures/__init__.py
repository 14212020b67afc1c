"""Pin edges, whether a virtual board's or an analyzer's: read from any form, written to any, decoded by one path.

`capture` is what all share, `forms/` one file a file form, `pins` the virtual board's edges, `sampling` what an
analyzer of a given rate would have seen, `pulses` the intervals.
"""

from rtoslab.captures.capture import Capture
from rtoslab.captures.forms import capture_forms, read_capture, write_capture
from rtoslab.captures.pulses import Pulses, find_pulses
from rtoslab.captures.recording import OUT, Recording, record
from rtoslab.captures.sampling import sampled

__all__ = [
    "OUT",
    "Capture",
    "Pulses",
    "Recording",
    "capture_forms",
    "find_pulses",
    "read_capture",
    "record",
    "sampled",
    "write_capture",
]
