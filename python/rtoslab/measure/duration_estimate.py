"""Estimates a plan before it begins: points, images to build, and roughly how long.

The time is an upper estimate. A cached point is recognised only once its image is there, so a plan that was measured
before ends much sooner than announced."""

import os
from dataclasses import dataclass
from typing import Final

from rtoslab.base import contents_cache
from rtoslab.catalogue import Catalogue
from rtoslab.conformance import suite_point
from rtoslab.images import inputs_digest, is_built, require_tools
from rtoslab.plan import Plan, Point

BUILD_S: Final = 6.0
"""To build one image on one core of a laptop."""
CONFORMANCE_S: Final = 3.0
"""To run the conformance suite of an image that was not built yet."""
POINT_S: Final = 1.0
"""To start a board, decode, prove and store."""
BUSY_NS: Final = 8.0
"""A cycle of each core, where tasks always run: seen were 3 to 13, of all boards."""
WAITING_NS: Final = 3.0
"""The same of tasks that wait for their periods: the simulator passes waits over. Seen were 2 to 4."""
SAMPLED_MS: Final = 1000
"""The board's time of a point that takes samples, or as many ms as samples. Its window is only the limit."""
ROUND_MS: Final = 0.1
"""The board's time for a round of an interval that lasts several: eren2024's take 0.07 and 0.15."""
WARM_UP_MS: Final = 100


@dataclass(frozen=True, slots=True)
class DurationEstimate:
    """A plan in figures."""

    points: int
    absent: int
    """Points that cannot be measured."""
    images: int
    """To build: those of the points and of the conformance suite."""
    seconds: float


def estimate_duration(catalogue: Catalogue, plan: Plan, jobs: int) -> DurationEstimate:
    """Returns what the plan takes with so many points at the same time. Raises errors of the environment."""
    require_tools()
    able = [point for point in plan.points if point.not_applicable is None]
    with contents_cache():
        required = {inputs_digest(catalogue, item): item for item in able}
        suites = {inputs_digest(catalogue, item): item for item in map(suite_point, able)}
    missing = [item for digest, item in required.items() if not is_built(catalogue.root, item, digest)]
    unproved = [item for digest, item in suites.items() if not is_built(catalogue.root, item, digest)]
    images = len(missing) + len(unproved)
    work_s = images * BUILD_S + len(unproved) * CONFORMANCE_S + sum(run_s(catalogue, item) for item in able)
    at_once = max(1, min(jobs, len(able), os.cpu_count() or 1))
    return DurationEstimate(len(plan.points), len(plan.points) - len(able), images, work_s / at_once)


def run_s(catalogue: Catalogue, point: Point) -> float:
    """Seconds of one core that a built point takes, from start to store."""
    facts = catalogue.benchmark(point.benchmark).facts
    window_ms = float(point.window_ms)
    if point.samples is not None:
        named = (str(series_facts.rounds) for series_facts in facts.series)
        rounds = max(int(point.params.get(name, facts.params.get(name, 1))) for name in named)
        window_ms = min(window_ms, max(SAMPLED_MS, point.samples, point.samples * rounds * ROUND_MS))
    board_ms = window_ms + (WARM_UP_MS if point.warmup_ms is None else point.warmup_ms)
    clock_hz = point.clock_hz or catalogue.board(point.board).facts.clock.sys_hz
    waits = facts.handlers is not None
    cycles = point.cores * clock_hz * board_ms / 1000
    return POINT_S + cycles * (WAITING_NS if waits else BUSY_NS) / 1e9
