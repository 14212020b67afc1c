"""How points are named in tables and charts: a row per test, a series per everything else that differs."""

import re
from collections.abc import Sequence

from rtoslab.results import PointId


def short_test(point: PointId) -> str:
    """`T1`, `P2-3`, `P5c` where the title begins so, else the benchmark's id."""
    first = point.title.split()[0] if point.title else ""
    return first if re.fullmatch(r"[A-Z]+[0-9]+(-[0-9]+)?[a-z]?", first) else point.benchmark


def core_words(cores: int) -> str:
    """`1 core`, `2 cores`."""
    return f"{cores} core{'s' if cores > 1 else ''}"


def series_names(points: Sequence[PointId], *, with_cores: bool = True) -> list[str]:
    """One name per point, of only those axes that differ among `points`; the cores are always said, or never.

    A benchmark's own parameter differs if it does among that benchmark's points: the others do not have it.
    """
    several_kernels = len({point.kernel for point in points}) > 1
    several_boards = len({point.board for point in points}) > 1
    several_windows = len({point.window_ms for point in points}) > 1
    keys = sorted({key for point in points for key in point.config})

    def differs(key: str, point: PointId) -> bool:
        own = key.startswith("param.")
        among = (each for each in points if not own or each.benchmark == point.benchmark)
        return len({each.config.get(key) for each in among}) > 1

    names = []
    for point in points:
        parts = (
            [point.kernel] * several_kernels + [point.board] * several_boards + [core_words(point.cores)] * with_cores
        )
        parts += [f"{point.window_ms} ms"] * several_windows
        parts += [
            f"{key.removeprefix('param.')}={point.config[key]}"
            for key in keys
            if key in point.config and differs(key, point)
        ]
        names.append(", ".join(parts))
    return names
