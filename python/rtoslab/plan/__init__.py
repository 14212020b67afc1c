"""Turns names and options into points: benchmark, kernel, board and configuration, or the reason why there is none."""

from typing import TYPE_CHECKING

from rtoslab.base import lazy_attribute_getter

if TYPE_CHECKING:
    from rtoslab.plan.kernel_pairs import SIGN as PAIR_SIGN
    from rtoslab.plan.kernel_pairs import split_kernel_pair_name
    from rtoslab.plan.labels import labels_by_differing_settings
    from rtoslab.plan.obstacles import parse_integer_setting
    from rtoslab.plan.placements import repeat_plan_in_code_placements
    from rtoslab.plan.plan import (
        DEFAULT_WINDOW_MS,
        MeasurementPlan,
        PlannedPoint,
        PlanOptions,
        add_second_kernel_to_measurement,
        experiment_points,
        make_measurement_plan,
        make_planned_point,
        points_of_conformance_suite,
        require_measurement_count_within_limit,
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
