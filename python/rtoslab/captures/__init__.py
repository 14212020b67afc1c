"""Pin edges, whether a virtual board's or an analyzer's: read from any form, written to any, decoded by one path.

`capture` is what all share, `forms/` one file a file form, `pins` the virtual board's edges, `sampling` what an
analyzer of a given rate would have seen, `pulses` the intervals, `live` what an analyzer records while a board runs,
`voltages` what makes an oscilloscope's voltages levels.
"""

from rtoslab.captures.capture import LogicLevelCapture
from rtoslab.captures.forms import capture_format_modules, choose_capture_format, read_capture, write_capture
from rtoslab.captures.live import LiveCaptureRun, parse_analyzer_wires, raw_recording_path, record_pins_of_real_board
from rtoslab.captures.pulses import PulseTrain, find_pulses, unknown_pulse_width_sentence
from rtoslab.captures.recording import (
    OUT,
    PinEdgeRecording,
    pin_latency_measurement_point,
    record_pins_of_virtual_board,
)
from rtoslab.captures.sampling import resample_as_logic_analyzer
from rtoslab.captures.voltages import VoltageThreshold
