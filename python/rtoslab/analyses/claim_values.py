"""The values that a claim compares: picked by their axes, joined over axes that it names, divided where it says so."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import geometric_mean, median

from rtoslab.analyses.axis_values import MeasuredValue, Selector, select_values_by_coordinates
from rtoslab.analyses.value_groups import parameters_in_which_values_differ
from rtoslab.catalogue import AxisChoices, AxisPlaces, PaperClaim

ExplainAbsence = Callable[[AxisChoices], str]
"""Returns why there is no value at a place."""
FindFailure = Callable[[AxisChoices], str | None]
"""Returns why a measurement at a place failed. None if none failed."""


class NoSingleValueError(Exception):
    """Raised if a case of a paper's statement has no value, or several. The message gives the reason."""


class MeasuredValueIndexByMetric:
    """All values of a run, indexed by metric."""

    def __init__(self, values: Iterable[MeasuredValue]) -> None:
        self._by_metric: dict[str, list[MeasuredValue]] = {}
        for value in values:
            self._by_metric.setdefault(value.metric, []).append(value)

    def select_values_by_experiment_axes(self, where: Selector) -> list[MeasuredValue]:
        """Returns the values of the run with the coordinates that `where` names."""
        metric = where.get("metric")
        if metric is None:
            return select_values_by_coordinates(
                [value for values in self._by_metric.values() for value in values], where
            )
        names = metric if isinstance(metric, list | tuple) else (metric,)
        return select_values_by_coordinates(
            [item for name in names for item in self._by_metric.get(str(name), ())], where
        )


@dataclass(frozen=True, slots=True)
class PaperClaimOperandValues:
    """The values of one member of a paper's statement: several along a sequence or of several statistics, else one."""

    where: AxisPlaces
    values: Sequence[MeasuredValue]

    @property
    def first_value_of_claim_operand(self) -> MeasuredValue:
        """Returns the member's first value. Most rules compare one value for each member, and this is it."""
        return self.values[0]


@dataclass(frozen=True, slots=True)
class ClaimOperandInCodePlacements:
    """The values of one member of a paper's statement in all placements of the code, each with the value to divide it
    by."""

    where: AxisPlaces
    members: Sequence[tuple[MeasuredValue, MeasuredValue | None]]


def gather_measured_values_for_paper_claim(
    claim: PaperClaim,
    case: AxisPlaces,
    index: MeasuredValueIndexByMetric,
    absence: ExplainAbsence,
    failure: FindFailure = lambda _: None,
) -> list[ClaimOperandInCodePlacements]:
    """Returns the measured values of one case of a paper's statement, in the order of the statement's members.
    `absence` explains a missing value. `failure` finds a failed measurement, because several values without one that
    failed are not those that the statement is about. Raises NoSingleValueError."""
    gathered: list[ClaimOperandInCodePlacements] = []
    joined_places: list[set[tuple[str, ...]]] = []
    for where in claim.of or ({},):
        place: dict[str, str | int | tuple[str | int, ...]] = {**claim.where, **case, **where}
        values = index.select_values_by_experiment_axes(place)
        if not values:
            raise NoSingleValueError(absence(place))
        reason = failure(place) if claim.join or claim.along else None
        if reason is not None:
            raise NoSingleValueError(reason)
        joined_places.append({tuple(value.coordinate_on_axis(axis) for axis in claim.join) for value in values})
        if joined_places[-1] != joined_places[0]:
            raise NoSingleValueError(
                f"{_coordinates_text_of_compared_value(gathered[0].where)} and "
                f"{_coordinates_text_of_compared_value(where)} do not have "
                "the same operations"
            )
        bases = [_find_divisor_value(value, place, claim, index, absence) if claim.over else None for value in values]
        gathered.append(ClaimOperandInCodePlacements(where, list(zip(values, bases, strict=True))))
    return gathered


def largest_placement_count(gathered: Iterable[ClaimOperandInCodePlacements]) -> int:
    """Returns the largest number of placements of the code in which any of the values was measured."""
    values = (value for group in gathered for pair in group.members for value in pair if value is not None)
    return max((len(group.placement_band.values) for group in values), default=1)


def paper_statement_values_in_code_placement(
    claim: PaperClaim, gathered: Iterable[ClaimOperandInCodePlacements], placement: int
) -> list[PaperClaimOperandValues]:
    """Returns the values of a paper's statement in one placement of the code, by its number. A value in fewer
    placements counts by its last one. Raises NoSingleValueError."""
    return [
        PaperClaimOperandValues(
            group.where,
            _combine_values_over_experiment_axes(
                claim, [_value_over_divisor(*pair, placement) for pair in group.members]
            ),
        )
        for group in gathered
    ]


def _coordinates_text_of_compared_value(where: AxisPlaces) -> str:
    """Returns the coordinates of a compared value as text."""
    return ", ".join(str(place) for place in where.values()) or "one value"


def _find_divisor_value(
    value: MeasuredValue,
    place: AxisChoices,
    claim: PaperClaim,
    index: MeasuredValueIndexByMetric,
    absence: ExplainAbsence,
) -> MeasuredValue:
    """Returns the value by which a paper's statement divides another value. Raises NoSingleValueError if there is not
    exactly one."""
    alike = {axis: value.coordinate_on_axis(axis) for axis in (*claim.join, claim.along) if axis}
    base_place: dict[str, str | int | tuple[str | int, ...]] = {**place, **alike, **claim.over}
    bases = index.select_values_by_experiment_axes(base_place)
    if not bases:
        raise NoSingleValueError(absence(base_place))
    if len(bases) > 1 or not bases[0].value:
        raise NoSingleValueError("there is not exactly one value to divide by")
    return bases[0]


def _value_over_divisor(value: MeasuredValue, base: MeasuredValue | None, placement: int) -> MeasuredValue:
    """Returns a value in one placement of the code, divided by its base value if it has one."""
    if base is None:
        return replace(value, value=_value_number_in_code_placement(value, placement), band=None)
    return replace(
        value,
        value=_value_number_in_code_placement(value, placement) / _value_number_in_code_placement(base, placement),
        unit="1",
        band=None,
    )


def _value_number_in_code_placement(value: MeasuredValue, placement: int) -> float:
    """Returns the number of a value in one placement of the code, or in its last one."""
    placed = value.placement_band.values
    return placed[min(placement, len(placed) - 1)]


def _combine_values_over_experiment_axes(claim: PaperClaim, values: Sequence[MeasuredValue]) -> list[MeasuredValue]:
    """Returns the values of a paper's statement, with those combined that differ only on the axes of `join`. Raises
    NoSingleValueError."""
    several = claim.kind in {"no_spread", "spread"}
    by_place: dict[tuple[str, str], list[MeasuredValue]] = {}
    for value in values:
        by_place.setdefault(
            (value.coordinate_on_axis(claim.along) if claim.along else "", value.stat if several else ""), []
        ).append(value)
    return [_mean_or_median_value(claim, members) for members in by_place.values()]


def _mean_or_median_value(claim: PaperClaim, members: Sequence[MeasuredValue]) -> MeasuredValue:
    """Returns the mean or median of values that differ only on the axes of `join`. Raises NoSingleValueError if they
    differ on others."""
    if len(members) == 1:
        return members[0]
    mixed = parameters_in_which_values_differ(members, claim.join)
    if mixed or not claim.join:
        axes = ", ".join(f"{axis} {' or '.join(places)}" for axis, places in mixed.items()) or "the same axes"
        raise NoSingleValueError(f"several values fit: {axes}")
    by = median if claim.join_by == "median" else geometric_mean
    if by is geometric_mean and any(member.value <= 0 for member in members):
        raise NoSingleValueError("a value is 0, so there is no geometric mean")
    return replace(members[0], value=by([member.value for member in members]))
