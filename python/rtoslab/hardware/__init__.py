"""Real boards: what is connected, which program flashes it, and every byte that it then sends.

`usb` finds probes and boards by their USB identity. `bench` reads a hardware map. `flash_tools` has one entry for each
program, its command line as its own documentation has it. `image_forms` makes what some of them want instead of an ELF.
`choosing` makes a target of a board's name, a probe and a port. `flashing` runs the program while `listening` listens.
`analyzers` runs sigrok-cli beside both.
"""

from rtoslab.hardware.analyzers import (
    SIGROK,
    AnalyzerRecording,
    LogicAnalyzer,
    analyzer_version_line,
    recording_command_text,
)
from rtoslab.hardware.bench import SILENCE_LIMIT_S, read_hardware_map
from rtoslab.hardware.choosing import ConnectedBoard, find_connected_board, installed_flash_tools
from rtoslab.hardware.flash_tools import TOOLS, is_flash_tool_installed
from rtoslab.hardware.flashing import flash_command_texts
from rtoslab.hardware.listening import listen_to_board
from rtoslab.hardware.usb import UsbDevice, connected_devices, kind_of_debug_probe
from rtoslab.hardware.whole_runs import TRIES, measure_real_board_with_retries
