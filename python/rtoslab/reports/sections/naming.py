"""How a section calls its points."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from rtoslab.analyses import SEED, series_names, short_test
from rtoslab.reference import WORD
from rtoslab.reports.table import Section
from rtoslab.results import MeasuredPoint, PointId

MIDDLE: Final = "A point in several placements is shown in one of them, the one in the middle."
"""What a chart or a section says whose parts belong together, so that medians of each would not."""


def one_placement(section: Section) -> Section:
    """The section, saying that of a point in several placements it shows one."""
    return replace(section, prose=(*section.prose, MIDDLE))


def named(points: Sequence[MeasuredPoint]) -> list[tuple[str, str, MeasuredPoint]]:
    """(test, series, point)"""
    names = series_names([point.point for point in points])
    return [(brief_test(pair.point), name, pair) for name, pair in zip(names, points, strict=True)]


def by_board(points: Sequence[MeasuredPoint]) -> dict[str, list[MeasuredPoint]]:
    """The points of each board, in the order in which boards come: figures of two boards are seldom compared."""
    groups: dict[str, list[MeasuredPoint]] = {}
    for point in points:
        groups.setdefault(point.point.board, []).append(point)
    return groups


def with_titles(title: str, groups: Mapping[str, Sequence[MeasuredPoint]]) -> list[tuple[str, Sequence[MeasuredPoint]]]:
    """Each board's points with the title of their table, which names the board where there are several."""
    return [(f"{title}, {board}" if len(groups) > 1 else title, points) for board, points in groups.items()]


def brief_test(point: PointId) -> str:
    """Returns what tables call a test: `T2`; its title where it has no such name."""
    short = short_test(point)
    return point.title if short == point.benchmark else short


def axes(point: PointId) -> dict[str, str]:
    """Returns what the rows of a chart say of their point beside their names: its kernel, and its board."""
    return {"kernel": point.kernel, "board": point.board}


def record_axes(point: PointId) -> dict[str, str | int]:
    """Returns the axes of a point's records, its kernel, and the flag of a reference result."""
    config = " ".join(f"{key}={value}" for key, value in point.config.items())
    return {
        "benchmark": point.benchmark,
        "board": point.board,
        "cores": point.cores,
        "config": config,
        "kernel": point.kernel.removesuffix(f" {WORD}"),
        "flags": "reference" if point.kernel.endswith(f" {WORD}") else "",
    }


def first_of_each_seed(points: Sequence[MeasuredPoint]) -> list[MeasuredPoint]:
    """The points without those that repeat an earlier one with other draws: for charts, which they would crowd."""
    first: dict[str, MeasuredPoint] = {}
    for point in points:
        config = {key: value for key, value in point.point.config.items() if key != f"param.{SEED}"}
        first.setdefault(point.point.model_copy(update={"config": config}).model_dump_json(), point)
    return list(first.values())
