"""Which points of two sides belong together.

Points with the same axes do. An axis that has one value throughout each side, but not the same one, is what the sides
are compared over (two kernels, two boards, -O2 against -O3): it does not keep their points apart.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from rtoslab.base import count_with_noun
from rtoslab.compare.sides import ComparedMeasurementSet, MeasuredPointValues
from rtoslab.results import PointId

_NAMED = ("benchmark", "kernel", "board", "cores")
"""Axes whose values speak for themselves."""
Axes = dict[str, str]


@dataclass(frozen=True, slots=True)
class MeasuredPointPair:
    """The same point on both sides of a comparison."""

    label: str
    """Its axes, without those compared over and those that all points share."""
    before: MeasuredPointValues
    after: MeasuredPointValues


@dataclass(frozen=True, slots=True)
class MatchedPointPairs:
    """The points of two sides of a comparison in pairs, and the points that only one side has."""

    over: dict[str, tuple[str, str]]
    """Axes compared over: name -> (first side's value, second side's)."""
    common: Sequence[str]
    """The axes that all points of both sides share, as texts."""
    pairs: Sequence[MeasuredPointPair]
    only_before: Sequence[str]
    only_after: Sequence[str]


def pair_matching_measurement_points(
    before: ComparedMeasurementSet, after: ComparedMeasurementSet, *, same_axes: bool = False
) -> MatchedPointPairs:
    """Pairs the measured points of two sides of a comparison, in the order of the first side. With `same_axes`, all
    settings must be equal."""
    left = [measurement_point_coordinates_by_name(figure.point) for figure in before.figures]
    right = [measurement_point_coordinates_by_name(figure.point) for figure in after.figures]
    over = {} if same_axes else _settings_that_differ_between_sides(left, right)
    others = {_point_pairing_key(axes, over): figures for axes, figures in zip(right, after.figures, strict=True)}
    mine = {_point_pairing_key(axes, over): figures for axes, figures in zip(left, before.figures, strict=True)}
    shared = _settings_common_to_all_points([*left, *right])
    labels = {
        _point_pairing_key(axes, over): _label_of_measured_point(axes, {*over, *shared}) for axes in (*right, *left)
    }
    pairs = [MeasuredPointPair(labels[key], figures, others[key]) for key, figures in mine.items() if key in others]
    return MatchedPointPairs(
        over,
        [value if name in _NAMED else f"{name} {value}" for name, value in shared.items()],
        pairs,
        [labels[key] for key in mine if key not in others],
        [labels[key] for key in others if key not in mine],
    )


def measurement_point_coordinates_by_name(point: PointId) -> Axes:
    """Returns a measured point's coordinates (kernel, board, cores and settings) as texts by name."""
    axes = {"benchmark": point.benchmark, "kernel": point.kernel, "board": point.board}
    return {**axes, "cores": count_with_noun(point.cores, "core"), "window": f"{point.window_ms} ms", **point.config}


def _settings_that_differ_between_sides(left: Sequence[Axes], right: Sequence[Axes]) -> dict[str, tuple[str, str]]:
    """Returns the settings that have one value on each side, but another one, with both values. The sides are compared
    over them."""
    pairs = {}
    for name in dict.fromkeys(key for axes in (*left, *right) for key in axes):
        ours = {axes.get(name, "as usual") for axes in left}
        theirs = {axes.get(name, "as usual") for axes in right}
        if len(ours) == len(theirs) == 1 and ours != theirs and name != "benchmark":
            pairs[name] = (ours.pop(), theirs.pop())
    return pairs


def _point_pairing_key(axes: Axes, over: dict[str, tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Returns the settings of a point by which it is paired, without those in `over`."""
    return tuple(sorted((name, value) for name, value in axes.items() if name not in over))


def _settings_common_to_all_points(points: Sequence[Axes]) -> Axes:
    """Returns the settings that have the same value in all points, without the benchmark."""
    return {
        name: value
        for name, value in points[0].items()
        if name != "benchmark" and all(axes.get(name) == value for axes in points)
    }


def _label_of_measured_point(axes: Axes, left_out: Collection[str]) -> str:
    """Returns a label for a point, made of its settings without those in `left_out`."""
    plain = [axes[name] for name in _NAMED if name not in left_out]
    config = [f"{name}={value}" for name, value in axes.items() if name not in (*_NAMED, *left_out)]
    return " ".join([*plain, *config])
