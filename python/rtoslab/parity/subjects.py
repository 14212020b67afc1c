"""Stored points as subjects of the lint: each named by what tells it from the others."""

from collections.abc import Mapping, Sequence

from rtoslab.analyses import PLACEMENT, place_dependent_results, series_names
from rtoslab.catalogue import Catalogue
from rtoslab.parity.costs import costs_from_runs, read_costs
from rtoslab.parity.unfairness import Subject, Unfairness, alike, lint
from rtoslab.results import MeasuredPoint, PointId
from rtoslab.store import StoredPoint

_ASIDE = ("instrument", "samples", PLACEMENT)
"""Options that say how something was measured, not what."""


def subjects_of(points: Sequence[StoredPoint], run: str = "") -> list[Subject]:
    """Measured points, each standing for its kernel, its configuration or its run. The first of several placements
    counts."""
    unique = _once(points)
    names = series_names([point for point, _ in unique], with_cores=False)
    return [
        Subject(", ".join(part for part in (run, name) if part) or point.kernel, point, stored.manifest, _state(stored))
        for (point, stored), name in zip(unique, names, strict=True)
    ]


def _state(stored: StoredPoint) -> Mapping[str, str | int]:
    return stored.result.state if isinstance(stored.result, MeasuredPoint) else {}


def _once(points: Sequence[StoredPoint]) -> list[tuple[PointId, StoredPoint]]:
    """Measured points by what they are, without the options of _ASIDE. Those alike in all else but one of a time."""
    by_key: dict[tuple[str, str], tuple[PointId, StoredPoint]] = {}
    for stored_point in points:
        if isinstance(stored_point.result, MeasuredPoint):
            point = stored_point.result.point
            config = {key: text for key, text in point.config.items() if key not in _ASIDE}
            instrument = point.config.get("instrument", "")
            plain = point.model_copy(update={"config": config})
            by_key.setdefault((plain.model_dump_json(), instrument), (plain, stored_point))
    return list(by_key.values())


def lint_points(catalogue: Catalogue, points: Sequence[StoredPoint]) -> list[Unfairness]:
    """Returns what is unequal among a report's points. Costs are those they show themselves and those the checkout
    keeps."""
    own = costs_from_runs(
        [point.result for point in points if isinstance(point.result, MeasuredPoint)], place_dependent_results(points)
    )
    return lint(catalogue, alike(subjects_of(points)), [*own, *read_costs(catalogue.root)])


def comparable(points: Sequence[StoredPoint]) -> bool:
    """Whether any two measured points share a benchmark, a board and a number of cores."""
    places = [(point.benchmark, point.board, point.cores) for point, _ in _once(points)]
    return len(set(places)) < len(places)
