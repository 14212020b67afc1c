"""From names and options to points: which benchmark, kernel, board and configuration, or why not."""

from rtoslab.plan.labels import varying_labels
from rtoslab.plan.obstacles import DEFAULT_COMPILER, whole_option
from rtoslab.plan.placements import placed
from rtoslab.plan.plan import (
    DEFAULT_WINDOW_MS,
    USUAL,
    Options,
    Plan,
    Point,
    conformance_points,
    demand_few,
    experiment_points,
    make_plan,
    one_point,
)

__all__ = [
    "DEFAULT_COMPILER",
    "DEFAULT_WINDOW_MS",
    "USUAL",
    "Options",
    "Plan",
    "Point",
    "conformance_points",
    "demand_few",
    "experiment_points",
    "make_plan",
    "one_point",
    "placed",
    "varying_labels",
    "whole_option",
]
