"""Turns names and options into points: which benchmark, kernel, board and configuration, or why not."""

from rtoslab.plan.labels import varying_labels
from rtoslab.plan.obstacles import whole_option
from rtoslab.plan.placements import in_placements
from rtoslab.plan.plan import (
    DEFAULT_WINDOW_MS,
    Options,
    Plan,
    Point,
    conformance_points,
    experiment_points,
    make_plan,
    one_point,
    require_few,
)
from rtoslab.plan.point_options import CONFIG_HELP, DEFAULT_COMPILER, POINT_KEYS, POINT_OPTIONS, USUAL, with_usual
