"""From names and options to points: which benchmark, kernel, board and configuration, or why not."""

from rtoslab.plan.labels import varying_labels
from rtoslab.plan.obstacles import whole_option
from rtoslab.plan.placements import placed
from rtoslab.plan.plan import (
    DEFAULT_WINDOW_MS,
    Options,
    Plan,
    Point,
    conformance_points,
    demand_few,
    experiment_points,
    make_plan,
    one_point,
)
from rtoslab.plan.point_options import CONFIG_HELP, DEFAULT_COMPILER, POINT_KEYS, POINT_OPTIONS, USUAL, with_usual
