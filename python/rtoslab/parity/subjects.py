"""Stored points as subjects of the lint: each named by what tells it from the others."""

from collections.abc import Sequence

from rtoslab.analyses import series_names
from rtoslab.catalogue import Catalogue
from rtoslab.parity.costs import measured_costs, read_costs
from rtoslab.parity.unfairness import Subject, Unfairness, alike, lint
from rtoslab.results import Measured
from rtoslab.store import StoredPoint

_INSTRUMENTS = ("instrument", "samples")


def subjects_of(points: Sequence[StoredPoint], run: str = "") -> list[Subject]:
    """Measured points, each standing for its kernel, its configuration or its run."""
    found = [each for each in points if isinstance(each.result, Measured)]
    plain = [
        each.result.point.model_copy(
            update={"config": {key: text for key, text in each.result.point.config.items() if key not in _INSTRUMENTS}}
        )
        for each in found
    ]
    names = series_names(plain, with_cores=False)
    return [
        Subject(", ".join(part for part in (run, name) if part) or point.kernel, point, each.manifest)
        for each, point, name in zip(found, plain, names, strict=True)
    ]


def lint_points(catalogue: Catalogue, points: Sequence[StoredPoint]) -> list[Unfairness]:
    """What is unequal among a report's points; costs are those they show themselves and those the checkout keeps."""
    own = measured_costs([each.result for each in points if isinstance(each.result, Measured)])
    return lint(catalogue, alike(subjects_of(points)), [*own, *read_costs(catalogue.root)])


def comparable(points: Sequence[StoredPoint]) -> bool:
    """Whether any two measured points share a benchmark, a board and a number of cores."""
    places = [
        (each.result.point.benchmark, each.result.point.board, each.result.point.cores)
        for each in points
        if isinstance(each.result, Measured)
    ]
    return len(set(places)) < len(places)
