"""Turns names and options into points: benchmark, kernel, board and configuration, or the reason why there is none."""

from typing import TYPE_CHECKING

from rtoslab.base import lazy_attribute_getter

if TYPE_CHECKING:
    from rtoslab.plan.kernel_pairs import SIGN as PAIR_SIGN
    from rtoslab.plan.kernel_pairs import split_kernel_pair_name
    from rtoslab.plan.labels import labels_by_differing_settings
    from rtoslab.plan.obstacles import parse_integer_setting
    from rtoslab.plan.placements import plan_with_placements
    from rtoslab.plan.plan import (
        DEFAULT_WINDOW_MS,
        Plan,
        PlanOptions,
        Point,
        conformance_points,
        experiment_points,
        make_plan,
        make_point,
        require_point_limit,
        with_second_kernel,
    )
    from rtoslab.plan.point_options import (
        CONFIG_HELP,
        DEFAULT_COMPILER,
        DEFAULT_RAM,
        DEFAULTS,
        POINT_KEYS,
        POINT_OPTIONS,
        config_with_defaults,
    )
else:
    __getattr__ = lazy_attribute_getter(__name__)
