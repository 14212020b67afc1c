"""Values that one mark, cell or rule may stand for: equal on every axis but those that the reduction names.

A chart must not show the median over two kernels as one bar. So the caller names the axes that are joined. If the
values differ on any other axis, there is no mark, but an error.

    groups = group_values_by_axes(values, drawn=("benchmark", "kernel"), joined=("param.seed",))
"""

from collections.abc import Collection, Sequence
from typing import Final

from rtoslab.analyses.axis_values import MeasuredValue
from rtoslab.base import ReportError
from rtoslab.plan import DEFAULTS

AXES: Final = (
    "benchmark", "kernel", "board", "cores", "pinning", "window_ms", "clock_mhz", "metric", "stat", "unit",
)  # fmt: skip
"""The axes of every value. The keys of its point's configuration are further ones."""


def parameters_in_which_values_differ(
    values: Sequence[MeasuredValue], allowed: Collection[str] = ()
) -> dict[str, list[str]]:
    """Returns the axes on which the values differ, except those in `allowed`, with the values' coordinates there."""
    keys = dict.fromkeys([*AXES, *(key for value in values for key in value.point.config)])
    axes = {}
    for axis in keys:
        places = list(dict.fromkeys(value.coordinate_on_axis(axis) or DEFAULTS.get(axis, "") for value in values))
        if len(places) > 1 and axis not in allowed:
            axes[axis] = places
    return axes


def group_values_by_axes(
    values: Sequence[MeasuredValue], drawn: Sequence[str], joined: Collection[str] = (), subject: str = "a figure"
) -> dict[tuple[str, ...], list[MeasuredValue]]:
    """Groups measured values by their coordinates on the `drawn` axes, such as benchmark and kernel, in the order of
    the values.

    Raises ReportError, naming `subject` and the axes, if the values at one place differ on an axis that is neither
    drawn nor joined, or if several values have the same place on all axes.
    """
    groups: dict[tuple[str, ...], list[MeasuredValue]] = {}
    for value in values:
        groups.setdefault(tuple(value.coordinate_on_axis(axis) for axis in drawn), []).append(value)
    for place, members in groups.items():
        mixed = parameters_in_which_values_differ(members, {*drawn, *joined})
        if mixed:
            axes = "; ".join(f"{axis}: {', '.join(map(repr, places))}" for axis, places in mixed.items())
            raise ReportError(
                f"{subject} has several values at {', '.join(place)} ({axes}); draw these axes, select one value "
                "of each, or list them in `join`."
            )
        if len(members) > 1 and not parameters_in_which_values_differ(members):
            raise ReportError(
                f"{subject} has the same value {len(members)} times at {', '.join(place)}; this is "
                "an error in rtoslab, please report it."
            )
    return groups
