"""How points are named in tables and charts: a row per test, a series per everything else that differs."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from rtoslab.base import count_with_noun
from rtoslab.results import PointId

UNPINNED: Final = "param.pinned"
"""0: no core binds a benchmark's tasks."""


def short_test_name(point: PointId) -> str:
    """Returns a short name of a point's benchmark: `T1`, `P2-3` or `P5c` if its title begins so, else the benchmark's
    id."""
    first = point.title.split()[0] if point.title else ""
    return first if re.fullmatch(r"[A-Z]+[0-9]+(-[0-9]+)?[a-z]?", first) else point.benchmark


def pinning_text(point: PointId) -> str:
    """Returns whether tasks are bound to cores: `pinned`, `not pinned`, or an empty text on one core."""
    if point.cores == 1:
        return ""
    return "not pinned" if point.config.get(UNPINNED) == "0" else "pinned"


def cores_and_pinning_text(point: PointId) -> str:
    """Returns a point's cores and whether tasks are bound to them, as text: `1 core`, `2 cores (pinned)`."""
    return (
        f"{count_with_noun(point.cores, 'core')} ({pinning_text(point)})"
        if pinning_text(point)
        else count_with_noun(point.cores, "core")
    )


def task_pinning_sentence(points: Iterable[PointId]) -> str:
    """Returns a sentence on whether tasks are bound to cores. Empty if no point has several cores."""
    pinnings = {pinning_text(point) for point in points} - {""}
    if pinnings == {"pinned"}:
        return "With several cores each task is pinned to its core."
    if pinnings == {"not pinned"}:
        return "Tasks are not pinned: the kernel runs each on whichever core is free for it."
    return (
        "With several cores each task is pinned to its core, except where the configuration says pinned=0."
        if pinnings
        else ""
    )


def distinct_point_names(points: Sequence[PointId], *, with_cores: bool = True) -> list[str]:
    """Returns a name for each measured point, made of the settings that differ among the points. A benchmark's
    parameter differs if it does among the points of that benchmark."""
    several_kernels = len({point.kernel for point in points}) > 1
    several_boards = len({point.board for point in points}) > 1
    several_windows = len({point.window_ms for point in points}) > 1
    keys = sorted({key for point in points for key in point.config})

    def do_measurements_differ_in_setting(key: str, point: PointId) -> bool:
        """Whether points differ in the configuration key. Parameters are compared within one benchmark only."""
        own = key.startswith("param.")
        among = (point_id for point_id in points if not own or point_id.benchmark == point.benchmark)
        return len({point_id.config.get(key) for point_id in among}) > 1

    names = []
    for point in points:
        parts = (
            [point.kernel] * several_kernels
            + [point.board] * several_boards
            + [cores_and_pinning_text(point)] * with_cores
        )
        parts += [f"{point.window_ms} ms"] * several_windows
        parts += [
            f"{key.removeprefix('param.')}={point.config[key]}"
            for key in keys
            if key in point.config
            and do_measurements_differ_in_setting(key, point)
            and not (with_cores and key == UNPINNED and point.cores > 1)
        ]
        names.append(", ".join(parts))
    return names
