"""The library's face."""

from rtoslab.api.library import board, build_image, default_run_directory, load, profile, run, sweep_phases, timeline
from rtoslab.api.real_boards import choose_targets, mark_unreadable_points, measure_over_serial_port, run_on_targets
