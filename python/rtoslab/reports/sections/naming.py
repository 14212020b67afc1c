"""How a section calls its points."""

from collections.abc import Sequence

from rtoslab.analyses.series import series_names, short_test
from rtoslab.results import Measured


def named(points: Sequence[Measured]) -> list[tuple[str, str, Measured]]:
    """(test, series, point)"""
    names = series_names([each.point for each in points])
    return [(short_test(each.point), name, each) for name, each in zip(names, points, strict=True)]
