"""The values that a claim compares: picked by their axes, joined over axes that it names, divided where it says so."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import geometric_mean, median

from rtoslab.analyses.axis_values import Selector, Value, select
from rtoslab.analyses.value_groups import differing_axes
from rtoslab.catalogue import Claim, Place, WidePlace

Absence = Callable[[WidePlace], str]
"""Says why there is no value at a place."""


class NotComputedError(Exception):
    """A case has no value, or several. The message says which and why."""


class ValueIndex:
    """Values by their metric, so that a claim looks at those of its own alone."""

    def __init__(self, values: Iterable[Value]) -> None:
        self._by_metric: dict[str, list[Value]] = {}
        for value in values:
            self._by_metric.setdefault(value.metric, []).append(value)

    def select(self, where: Selector) -> list[Value]:
        """Returns those that lie where `where` says, as `axis_values.select` does."""
        metric = where.get("metric")
        if metric is None:
            return select([value for values in self._by_metric.values() for value in values], where)
        names = metric if isinstance(metric, list | tuple) else (metric,)
        return select([item for name in names for item in self._by_metric.get(str(name), ())], where)


@dataclass(frozen=True, slots=True)
class SelectedValues:
    """The values at one place of a claim's `of`: several along a sequence or of several statistics, else one."""

    where: Place
    values: Sequence[Value]

    @property
    def value(self) -> Value:
        """The only one."""
        return self.values[0]


@dataclass(frozen=True, slots=True)
class GatheredValues:
    """The same in all placements of the code, before axes are joined: each value with the one that it is a share of."""

    where: Place
    members: Sequence[tuple[Value, Value | None]]


def gather(claim: Claim, case: Place, index: ValueIndex, absence: Absence) -> list[GatheredValues]:
    """Returns the values of one case, in the order of `of`. Raises NotComputedError."""
    gathered: list[GatheredValues] = []
    joined_places: list[set[tuple[str, ...]]] = []
    for where in claim.of or ({},):
        place: dict[str, str | int | tuple[str | int, ...]] = {**claim.where, **case, **where}
        values = index.select(place)
        if not values:
            raise NotComputedError(absence(place))
        joined_places.append({tuple(value.axis(axis) for axis in claim.join) for value in values})
        if joined_places[-1] != joined_places[0]:
            raise NotComputedError(f"{_words(gathered[0].where)} and {_words(where)} do not have the same operations")
        bases = [_base(value, place, claim, index, absence) if claim.over else None for value in values]
        gathered.append(GatheredValues(where, list(zip(values, bases, strict=True))))
    return gathered


def builds_of(gathered: Iterable[GatheredValues]) -> int:
    """Returns in how many placements the values stand, at most."""
    values = (value for group in gathered for pair in group.members for value in pair if value is not None)
    return max((len(group.placement_band.values) for group in values), default=1)


def in_build(claim: Claim, gathered: Iterable[GatheredValues], build: int) -> list[SelectedValues]:
    """Returns the values as they are in one placement. One that has fewer placements counts in all by its last.

    Raises NotComputedError.
    """
    return [
        SelectedValues(group.where, _join(claim, [_share(*pair, build) for pair in group.members]))
        for group in gathered
    ]


def _words(where: Place) -> str:
    return ", ".join(str(place) for place in where.values()) or "one value"


def _base(value: Value, place: WidePlace, claim: Claim, index: ValueIndex, absence: Absence) -> Value:
    """The value at `over` that is like the given one on the axes that the claim joins or follows."""
    alike = {axis: value.axis(axis) for axis in (*claim.join, claim.along) if axis}
    base_place: dict[str, str | int | tuple[str | int, ...]] = {**place, **alike, **claim.over}
    bases = index.select(base_place)
    if not bases:
        raise NotComputedError(absence(base_place))
    if len(bases) > 1 or not bases[0].value:
        raise NotComputedError("there is no single value that the share would be of")
    return bases[0]


def _share(value: Value, base: Value | None, build: int) -> Value:
    if base is None:
        return replace(value, value=_at(value, build), band=None)
    return replace(value, value=_at(value, build) / _at(base, build), unit="1", band=None)


def _at(value: Value, build: int) -> float:
    placed = value.placement_band.values
    return placed[min(build, len(placed) - 1)]


def _join(claim: Claim, values: Sequence[Value]) -> list[Value]:
    """One value at each place of `along` and each statistic, the axes of `join` joined. Raises NotComputedError."""
    several = claim.kind in {"no_spread", "spread"}
    by_place: dict[tuple[str, str], list[Value]] = {}
    for value in values:
        by_place.setdefault((value.axis(claim.along) if claim.along else "", value.stat if several else ""), []).append(
            value
        )
    return [_one(claim, members) for members in by_place.values()]


def _one(claim: Claim, members: Sequence[Value]) -> Value:
    if len(members) == 1:
        return members[0]
    mixed = differing_axes(members, claim.join)
    if mixed or not claim.join:
        axes = ", ".join(f"{axis} {' or '.join(places)}" for axis, places in mixed.items()) or "the same axes"
        raise NotComputedError(f"several values fit: {axes}")
    by = median if claim.join_by == "median" else geometric_mean
    return replace(members[0], value=by([member.value for member in members]))
