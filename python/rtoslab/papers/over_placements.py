"""A paper set against a run whose points stand in several placements: the comparison in each of them, joined into one.

The trap it prevents: a figure close to the paper's because of where the linker happened to put the code. A figure
counts by its median, with the band.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import median

from rtoslab.analyses import Band, Value, unplaced
from rtoslab.papers.compare import Compared
from rtoslab.results import NotApplicable
from rtoslab.store import StoredPoint

_ONE = (
    "Each figure is of one placement of the code. Where two kernels are near each other, or one cache serves two "
    "cores, another may turn their order: with --placements 8 each counts by its median, and a statement "
    "that placements disagree about says placement."
)


def one_placement(values: Sequence[Value]) -> str:
    """What a reader of verdicts must know where no figure stands in several placements; else nothing."""
    return "" if not values or any(each.band is not None for each in values) else _ONE


def in_each_placement(points: Iterable[StoredPoint]) -> list[list[StoredPoint]]:
    """The run as it would be in one placement each, axes without it; a point that stands in fewer is in all.

    A point that is n/a in a placement, as of a kernel that is linked by its own script, counts by the others.
    """
    groups: dict[str, list[StoredPoint]] = {}
    for each in points:
        point = unplaced(each.result.point)
        plain = replace(each, result=each.result.model_copy(update={"point": point}))
        groups.setdefault(point.model_dump_json(), []).append(plain)
    told = [
        [each for each in group if not isinstance(each.result, NotApplicable)] or group for group in groups.values()
    ]
    return [[group[min(place, len(group) - 1)] for group in told] for place in range(max(map(len, told), default=1))]


def joined_figures(places: Sequence[dict[int, Compared]]) -> dict[int, Compared]:
    """Each published figure with the median of ours; what gave no value in one placement has none."""
    return {ident: _figure([each[ident] for each in places]) for ident in places[0]}


def joined_values(places: Sequence[Sequence[Value]]) -> tuple[Value, ...]:
    """Each value's median over the placements that it stands in."""
    found: dict[tuple[object, ...], dict[str, Value]] = {}
    for values in places:
        times: Counter[tuple[object, ...]] = Counter()
        for each in values:
            key = (each.point.model_dump_json(), each.counted, each.metric, each.stat, each.unit)
            found.setdefault((*key, times[key]), {})[each.run_id] = each
            times[key] += 1
    return tuple(_middle(list(each.values())) for each in found.values())


def _middle(values: Sequence[Value]) -> Value:
    if len(values) == 1:
        return values[0]
    band = Band([each.value for each in values])
    return replace(values[0], value=band.median, band=band)


def _figure(places: Sequence[Compared]) -> Compared:
    lacking = next((each for each in places if each.here is None), None)
    if lacking is not None:
        return lacking
    found = {each.value.run_id: each for each in places if each.value is not None}
    values = [each.here for each in found.values() if each.here is not None]
    if len(values) < 2:
        return places[0]
    return replace(places[0], here=median(values), band=Band(values))
