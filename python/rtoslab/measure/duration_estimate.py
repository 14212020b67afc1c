"""Estimates a plan before it begins: points, images to build, and roughly how long.

The time is an upper estimate. Only a built image shows whether its point is cached, so a plan that was measured
before ends
much sooner than announced."""

import os
from dataclasses import dataclass
from typing import Final

from rtoslab.base import file_contents_cache
from rtoslab.catalogue import Catalogue
from rtoslab.conformance import conformance_suite_points
from rtoslab.images import image_inputs_digest, is_image_built, require_build_programs
from rtoslab.plan import MeasurementPlan, PlannedPoint

BUILD_S: Final = 6.0
"""To build one image on one core of a laptop."""
CONFORMANCE_S: Final = 3.0
"""To run the conformance suite of an image that was not built yet."""
POINT_S: Final = 1.0
"""To start a board, decode, prove and store."""
BUSY_NS: Final = 8.0
"""Nanoseconds for a cycle of each core, where tasks always run. 3 to 13 were measured over all boards."""
WAITING_NS: Final = 3.0
"""The same where tasks wait for their periods: the simulator skips waits. 2 to 4 were measured."""
SAMPLED_MS: Final = 1000
"""The board's time of a point that takes samples, or as many ms as samples. Its window is only the limit."""
ROUND_MS: Final = 0.1
"""The board's time for a round of an interval that lasts several: eren2024's take 0.07 and 0.15."""
WARM_UP_MS: Final = 100


@dataclass(frozen=True, slots=True)
class DurationEstimate:
    """The size of a plan (points, images) and the time that it will take."""

    points: int
    not_applicable: int
    """Points that cannot be measured."""
    images: int
    """Images to build, of the points and of the conformance suite."""
    seconds: float


def estimate_duration(catalogue: Catalogue, plan: MeasurementPlan, jobs: int) -> DurationEstimate:
    """Estimates the number of images and the duration of a plan with `jobs` processes. Raises an error if a needed tool
    is missing."""
    require_build_programs()
    measurable = [point for point in plan.points if point.not_applicable is None]
    with file_contents_cache():
        required = {image_inputs_digest(catalogue, item): item for item in measurable}
        suite_points = [suite for item in measurable for suite in conformance_suite_points(catalogue, item)]
        suites = {image_inputs_digest(catalogue, item): item for item in suite_points}
    missing = [item for digest, item in required.items() if not is_image_built(catalogue.root, item, digest)]
    unproved = [item for digest, item in suites.items() if not is_image_built(catalogue.root, item, digest)]
    images = len(missing) + len(unproved)
    work_s = (
        images * BUILD_S
        + len(unproved) * CONFORMANCE_S
        + sum(estimate_point_seconds(catalogue, item) for item in measurable)
    )
    at_once = max(1, min(jobs, len(measurable), os.cpu_count() or 1))
    return DurationEstimate(len(plan.points), len(plan.points) - len(measurable), images, work_s / at_once)


def estimate_point_seconds(catalogue: Catalogue, point: PlannedPoint) -> float:
    """Estimates how many seconds the measurement of a point takes on one core of this machine once its image is
    built."""
    facts = catalogue.find_benchmark(point.benchmark).facts
    window_ms = float(point.window_ms)
    if point.samples is not None:
        named = (str(series_facts.rounds) for series_facts in facts.series)
        rounds = max(int(point.params.get(name, facts.params.get(name, 1))) for name in named)
        window_ms = min(window_ms, max(SAMPLED_MS, point.samples, point.samples * rounds * ROUND_MS))
    board_ms = window_ms + (WARM_UP_MS if point.warmup_ms is None else point.warmup_ms)
    clock_hz = point.clock_hz or catalogue.find_board(point.board).facts.clock.sys_hz
    waits = facts.handlers is not None
    cycles = point.cores * clock_hz * board_ms / 1000
    return POINT_S + cycles * (WAITING_NS if waits else BUSY_NS) / 1e9
