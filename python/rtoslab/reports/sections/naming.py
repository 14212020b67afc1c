"""The names of points in sections."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from rtoslab.analyses import SEED_PARAMETER, distinct_point_names, short_test_name
from rtoslab.reference import REFERENCE_MARK
from rtoslab.reports.table import ReportSection
from rtoslab.results import MeasuredPoint, PointId

MIDDLE_NOTE: Final = "Of a point in several placements, the placement with the median is shown."
"""The note of a chart or section whose parts belong together, as medians of each part would not."""


def add_median_placement_note(section: ReportSection) -> ReportSection:
    """Returns the section with a note that, of a point in several placements of the code, it shows the one with the
    median."""
    return replace(section, prose=(*section.prose, MIDDLE_NOTE))


def label_points_with_benchmark_and_series(points: Sequence[MeasuredPoint]) -> list[tuple[str, str, MeasuredPoint]]:
    """Returns for each point the short name of its test, the name of its series (kernel, board, configuration), and the
    point."""
    names = distinct_point_names([point.point for point in points])
    return [(short_test_title(pair.point), name, pair) for name, pair in zip(names, points, strict=True)]


def points_by_board(points: Sequence[MeasuredPoint]) -> dict[str, list[MeasuredPoint]]:
    """Groups points by board, in their order."""
    groups: dict[str, list[MeasuredPoint]] = {}
    for point in points:
        groups.setdefault(point.point.board, []).append(point)
    return groups


def board_groups_with_table_titles(
    title: str, groups: Mapping[str, Sequence[MeasuredPoint]]
) -> list[tuple[str, Sequence[MeasuredPoint]]]:
    """Returns each board's points with a table title, which names the board if there are several."""
    return [(f"{title}, {board}" if len(groups) > 1 else title, points) for board, points in groups.items()]


def short_test_title(point: PointId) -> str:
    """Returns a test's short name for tables: `T2`, or its title if it has no such name."""
    short = short_test_name(point)
    return point.title if short == point.benchmark else short


def kernel_and_board_chart_entries(point: PointId) -> dict[str, str]:
    """Returns the entries `kernel` and `board` of a chart's row."""
    return {"kernel": point.kernel, "board": point.board}


def record_fields_identifying_point(point: PointId) -> dict[str, str | int]:
    """Returns the entries of a record that identify the point it belongs to."""
    config = " ".join(f"{key}={value}" for key, value in point.config.items())
    return {
        "benchmark": point.benchmark,
        "board": point.board,
        "cores": point.cores,
        "config": config,
        "kernel": point.kernel.removesuffix(f" {REFERENCE_MARK}"),
        "flags": "reference" if point.kernel.endswith(f" {REFERENCE_MARK}") else "",
    }


def remove_points_with_repeated_seeds(points: Sequence[MeasuredPoint]) -> list[MeasuredPoint]:
    """Returns the points without those that differ from an earlier one only in the random seed.
    Charts show no others.
    """
    first: dict[str, MeasuredPoint] = {}
    for point in points:
        config = {key: value for key, value in point.point.config.items() if key != f"param.{SEED_PARAMETER}"}
        first.setdefault(point.point.model_copy(update={"config": config}).model_dump_json(), point)
    return list(first.values())
