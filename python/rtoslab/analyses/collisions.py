"""Stress against what is left of the target: one row per level, its share of the undisturbed rate, its collisions."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from rtoslab.analyses.counts_per_second import counts_per_second_of_point
from rtoslab.analyses.cycles import cycle_use_of_cores, lock_wait_share
from rtoslab.analyses.losses_by_cause import LongestHeldSpinlock, longest_held_spinlock
from rtoslab.results import MeasuredPoint
from rtoslab.targets import APPLICATION

FAMILY = "stress."
"""The beginning of a stress benchmark's metric id."""
STRESS_PARAMETER = "stress_percent"
"""The parameter with the level of stress in percent."""
SEED_PARAMETER = "seed"
"""The parameter that only changes the order of the draws."""


@dataclass(frozen=True, slots=True)
class StressRun:
    """One run of a stress benchmark at one level of stress."""

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
    failed_attempts: dict[int, int]
    """Core -> attempts that did not find the semaphore free. Empty where it is not seen."""
    collided_calls: dict[int, int]
    """Core -> calls that did not find it free."""
    wait_part: float | None
    """Share of the target core's cycles spent waiting for locks, awake or asleep."""
    busiest_lock: LongestHeldSpinlock | None


def compare_stress_runs(points: Iterable[MeasuredPoint]) -> list[StressRun]:
    """Returns the runs of benchmarks with a stressed semaphore, each compared with the same run without stress."""
    result = []
    measured = [item for item in points if item.metric.startswith(FAMILY)]
    for point in measured:
        unstressed = next(
            (
                item
                for item in measured
                if _stress_level_percent(item) == 0 and _is_stress_level_only_difference(item, point)
            ),
            None,
        )
        rate = counts_per_second_of_point(point).total_hz
        stress = [counter for counter in point.counters if counter.core not in point.metric_cores]
        target = [share for share in cycle_use_of_cores(point) if share.core in point.metric_cores]
        waits = point.virtual.waits if point.virtual else ()
        result.append(
            StressRun(
                point=point,
                percent=_stress_level_percent(point),
                rate_hz=rate,
                normalised=rate / counts_per_second_of_point(unstressed).total_hz if unstressed else None,
                stress_iterations=sum(item.count for item in stress),
                accesses=sum(point.checks.get("accesses", {}).values()),
                stress_busy=_stress_cycle_share_outside_tasks(point),
                failed_attempts={wait.core: wait.failed for wait in waits},
                collided_calls={wait.core: wait.collided for wait in waits},
                wait_part=lock_wait_share(target) if target else None,
                busiest_lock=longest_held_spinlock(point),
            )
        )
    return result


@dataclass(frozen=True, slots=True)
class StressLevelRunGroup:
    """All runs at one level of stress that differ only in the seed of the random draws."""

    series: MeasuredPoint
    """One of them, to name the rest of the configuration."""
    percent: int
    runs: tuple[StressRun, ...]

    @property
    def rate_range_relative_to_unstressed_run(self) -> tuple[float, float, float] | None:
        """Returns minimum, median and maximum of the target's rate, as parts of its rate without stress. None if that
        was not measured."""
        normalised = [run.normalised for run in self.runs if run.normalised is not None]
        return (min(normalised), median(normalised), max(normalised)) if normalised else None


def group_runs_by_stress_level(levels_: Iterable[StressRun]) -> list[StressLevelRunGroup]:
    """Groups the runs of stress benchmarks by configuration and level of stress. Runs with other seeds are together."""
    groups: dict[tuple[str, int], list[StressRun]] = {}
    for level in levels_:
        groups.setdefault((_stress_run_key(level.point, SEED_PARAMETER), level.percent), []).append(level)
    return [StressLevelRunGroup(runs[0].point, percent, tuple(runs)) for (_, percent), runs in groups.items()]


def _stress_level_percent(point: MeasuredPoint) -> int:
    """Returns the level of stress of a measured point in percent."""
    return int(point.params[STRESS_PARAMETER])


def _is_stress_level_only_difference(one: MeasuredPoint, other: MeasuredPoint) -> bool:
    """Whether two stress runs differ in nothing but their level of stress."""
    return _stress_run_key(one) == _stress_run_key(other)


def _stress_run_key(point: MeasuredPoint, *but: str) -> str:
    """Returns the identity of a stress run as text, without its level of stress and the parameters in `but`."""
    identity = point.point
    left_out = {f"param.{name}" for name in (STRESS_PARAMETER, *but)}
    config = {key: value for key, value in identity.config.items() if key not in left_out}
    return identity.model_copy(update={"config": config}).model_dump_json()


def _stress_cycle_share_outside_tasks(point: MeasuredPoint) -> float | None:
    """Returns the share of the stress cores' cycles that was not spent in the stress tasks' own code. None on a real
    board."""
    if point.virtual is None:
        return None
    whole = sum(core.cycles for core in point.virtual.cores if core.core not in point.metric_cores)
    own = sum(
        function.cycles
        for function in point.virtual.functions
        if function.core not in point.metric_cores and function.kind == APPLICATION
    )
    return 1 - own / whole if whole else None
