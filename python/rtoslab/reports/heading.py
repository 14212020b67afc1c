"""The heading of a report: a title that names its contents, and a line of versions."""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from rtoslab.analyses import short_test_name
from rtoslab.base import count_with_noun
from rtoslab.catalogue import Catalogue, Suite
from rtoslab.results import MeasuredPoint, PointId
from rtoslab.store import StoredPoint

MOST_NAMED = 3
"""Up to this many tests are named in a title. Of more it gives their number."""


def document_title(catalogue: Catalogue, points: Sequence[StoredPoint], suite: Suite | None) -> str:
    """Returns a report's title: the suite's if the points are those of the suite, else one made of tests, kernels and
    boards."""
    points_ = [point.result.point for point in points]
    if suite is not None and all(
        set(held) == set(axis)
        for held, axis in (
            ([point_id.kernel for point_id in points_], suite.kernels),
            ([point_id.board for point_id in points_], suite.boards),
            ([point_id.cores for point_id in points_], suite.cores),
        )
    ):
        return suite.title
    shown = [point.result.point for point in points if isinstance(point.result, MeasuredPoint)] or points_
    kernels = {name: item.facts.title for name, item in catalogue.kernels.items()}
    boards = {name: item.facts.title for name, item in catalogue.boards.items()}
    with_what = _join_names(
        [kernels.get(name, name) for name in _distinct_names(point_id.kernel for point_id in shown)]
    )
    where = _join_names([boards.get(name, name) for name in _distinct_names(point_id.board for point_id in shown)])
    cores = sorted({point_id.cores for point_id in shown})
    several = f", {_join_names([count_with_noun(core, 'core') for core in cores])}" if cores != [1] else ""
    return f"{_test_names_text(shown)}: {with_what} on the {where}{several}"


def document_subtitle(catalogue: Catalogue, points: Sequence[StoredPoint], suite: Suite | None) -> str:
    """Returns a report's subtitle: versions, clock frequencies, the kind of board, and the paper that a suite
    follows."""
    kernels, boards, targets = set(), set(), set()
    for point in points:
        build = point.manifest.get("build")
        target = point.manifest.get("target")
        board = point.manifest.get("board")
        if isinstance(build, dict) and isinstance(target, dict) and isinstance(board, dict):
            name = str(build.get("kernel"))
            known = catalogue.kernels.get(name)
            kernels.add(f"{known.facts.title if known else name} {build.get('kernel_version')}")
            boards.add(f"{board.get('title')} at {int(build.get('clock_hz', 0)) / 1e6:g} MHz")
            targets.add("virtual board" if target.get("kind") == "virtual" else "real board")
    parts = [", ".join(sorted(kernels)), ", ".join(sorted(boards)), ", ".join(sorted(targets))]
    if suite:
        parts.append(f"after {suite.paper}")
    return " · ".join(part for part in parts if part)


def _test_names_text(points: Sequence[PointId]) -> str:
    """Returns the tests of a report as text for its title: up to three titles, or short names as in `T1 to T8`, or only
    their number."""
    titles = _distinct_names(point.title for point in points)
    if len(titles) <= MOST_NAMED:
        return _join_names(titles)
    short = _distinct_names(short_test_name(point) for point in points)
    numbers = [re.fullmatch(r"([A-Z]+)([0-9]+)", name) for name in short]
    row = [(number[1], int(number[2])) for number in numbers if number is not None]
    if len(row) == len(short) and all(a == c and b + 1 == d for (a, b), (c, d) in pairwise(row)):
        return f"{short[0]} to {short[-1]}"
    return count_with_noun(len(titles), "benchmark")


def _distinct_names(names: Iterable[str]) -> list[str]:
    """Returns the names, each once."""
    return list(dict.fromkeys(names))


def _join_names(names: Sequence[str]) -> str:
    """Returns names as `a, b and c`, with semicolons where a name has a comma itself."""
    comma = "; " if any("," in name for name in names) else ", "
    return names[0] if len(names) == 1 else f"{comma.join(names[:-1])} and {names[-1]}"
