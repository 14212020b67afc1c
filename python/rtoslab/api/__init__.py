"""The library's face."""

from rtoslab.api.library import board, build_image, default_out, load, profile, run, sweep_phases, timeline
from rtoslab.api.real_boards import readable_on_board, run_on_port, run_on_targets, targets_of
