"""Stress against what is left of the target: one row per level, its share of the undisturbed rate, its collisions."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from rtoslab.analyses.counts_per_second import throughput
from rtoslab.analyses.cycles import lock_wait_part, shares
from rtoslab.analyses.losses_by_cause import BusiestLock, busiest_lock
from rtoslab.results import MeasuredPoint
from rtoslab.targets import APPLICATION

FAMILY = "stress."
"""How the metric id of such a benchmark begins."""
LEVEL = "stress_percent"
"""The parameter that asks for the stress."""
SEED = "seed"
"""The parameter that only changes the order of the draws."""


@dataclass(frozen=True, slots=True)
class Level:
    """One run at one level of stress."""

    point: MeasuredPoint
    percent: int
    rate_hz: float
    """The rate of the target."""
    normalised: float | None
    """Over the same run without stress. None if that was not measured."""
    stress_iterations: int
    accesses: int
    """The accesses of the stress tasks, in the window."""
    stress_busy: float | None
    """Share of the stress cores' cycles spent in accesses: in the kernel or waiting, not in the task's own code."""
    failed: dict[int, int]
    """Core -> attempts that did not find the semaphore free. Empty where it is not seen."""
    collided: dict[int, int]
    """Core -> calls that did not find it free."""
    wait_part: float | None
    """Share of the target core's cycles spent waiting for locks, awake or asleep."""
    lock: BusiestLock | None


def levels(points: Iterable[MeasuredPoint]) -> list[Level]:
    """Every run of a contention benchmark, by kernel, board, configuration and level."""
    result = []
    measured = [item for item in points if item.metric.startswith(FAMILY)]
    for point in measured:
        still = next((item for item in measured if _percent(item) == 0 and _alike(item, point)), None)
        rate = throughput(point).total_hz
        stress = [counter for counter in point.counters if counter.core not in point.metric_cores]
        target = [share for share in shares(point) if share.core in point.metric_cores]
        waits = point.virtual.waits if point.virtual else ()
        result.append(
            Level(
                point=point,
                percent=_percent(point),
                rate_hz=rate,
                normalised=rate / throughput(still).total_hz if still else None,
                stress_iterations=sum(item.count for item in stress),
                accesses=sum(point.checks.get("accesses", {}).values()),
                stress_busy=_outside_task(point),
                failed={wait.core: wait.failed for wait in waits},
                collided={wait.core: wait.collided for wait in waits},
                wait_part=lock_wait_part(target) if target else None,
                lock=busiest_lock(point),
            )
        )
    return result


@dataclass(frozen=True, slots=True)
class Step:
    """All runs at one level that differ in nothing but the seed of the draws."""

    series: MeasuredPoint
    """One of them, to name the rest of the configuration."""
    percent: int
    runs: tuple[Level, ...]

    @property
    def normalised_range(self) -> tuple[float, float, float] | None:
        """Minimum, median and maximum over the runs. None without the undisturbed one."""
        normalised = [run.normalised for run in self.runs if run.normalised is not None]
        return (min(normalised), median(normalised), max(normalised)) if normalised else None


def steps(levels_: Iterable[Level]) -> list[Step]:
    """The levels by configuration and percent, each with the runs of all its seeds."""
    groups: dict[tuple[str, int], list[Level]] = {}
    for level in levels_:
        groups.setdefault((_key(level.point, SEED), level.percent), []).append(level)
    return [Step(runs[0].point, percent, tuple(runs)) for (_, percent), runs in groups.items()]


def _percent(point: MeasuredPoint) -> int:
    return int(point.params[LEVEL])


def _alike(one: MeasuredPoint, other: MeasuredPoint) -> bool:
    return _key(one) == _key(other)


def _key(point: MeasuredPoint, *but: str) -> str:
    """All that makes a run, without its level and the named parameters."""
    identity = point.point
    left_out = {f"param.{name}" for name in (LEVEL, *but)}
    config = {key: value for key, value in identity.config.items() if key not in left_out}
    return identity.model_copy(update={"config": config}).model_dump_json()


def _outside_task(point: MeasuredPoint) -> float | None:
    if point.virtual is None:
        return None
    whole = sum(core.cycles for core in point.virtual.cores if core.core not in point.metric_cores)
    own = sum(
        function.cycles
        for function in point.virtual.functions
        if function.core not in point.metric_cores and function.kind == APPLICATION
    )
    return 1 - own / whole if whole else None
