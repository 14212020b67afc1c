"""Pin edges, whether a virtual board's or an analyzer's: read from any form, written to any, decoded by one path.

`capture` is what all share, `forms/` one file a file form, `pins` the virtual board's edges, `sampling` what an
analyzer of a given rate would have seen, `pulses` the intervals, `live` what an analyzer records while a board runs.
"""

from rtoslab.captures.capture import Capture
from rtoslab.captures.forms import capture_forms, form_of, read_capture, write_capture
from rtoslab.captures.live import LiveRun, raw_file, record_live, wires_of
from rtoslab.captures.pulses import Pulses, find_pulses, unsure_note
from rtoslab.captures.recording import OUT, Recording, pin_point, record
from rtoslab.captures.sampling import resample
