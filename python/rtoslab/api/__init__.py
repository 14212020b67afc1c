"""The library's face."""

from rtoslab.api.library import board, build_image, default_run_directory, load, profile, run, sweep_phases, timeline
from rtoslab.api.real_boards import (
    find_target_for_each_board,
    mark_unreadable_points,
    measure_on_connected_boards,
    measure_over_serial_port,
)
