"""Counts per second of the window: per core, in all, and between the tasks of a core."""

from collections.abc import Iterable
from dataclasses import dataclass

from rtoslab.analyses.series import UNPINNED
from rtoslab.results import MeasuredPoint


@dataclass(frozen=True, slots=True)
class Throughput:
    """The counts per second of one measured point, in all and per core."""

    point: MeasuredPoint
    per_core_hz: dict[int, float]
    total_hz: float
    cycles_per_count: float
    """System clock cycles of one core per count of that core, mean over the cores."""
    fairness: float
    """Jain's index over the cores' rates: 1 if all are alike, 1/cores if one does everything."""
    task_spread: int
    """Largest difference between counters of tasks on one core, in counts."""

    @property
    def benchmark_counter_share_by_core(self) -> dict[int, float]:
        """Returns each core's share of all counts, from 0 to 1."""
        return {core: rate / self.total_hz if self.total_hz else 0.0 for core, rate in self.per_core_hz.items()}

    @property
    def slowest_to_fastest_core_rate_ratio(self) -> float:
        """Returns the slowest core's rate divided by the quickest one's: 1 if all are equal, 0 if one core counts
        nothing."""
        most = max(self.per_core_hz.values())
        return min(self.per_core_hz.values()) / most if most else 0.0


def counts_per_second_of_point(point: MeasuredPoint) -> Throughput:
    """Returns the counts per second of a measured point."""
    tasks = set(point.metric_tasks)
    counts: dict[int, int] = {}
    spread = 0
    for core in point.metric_cores:
        values = [counter.count for counter in point.counters if counter.core == core and counter.index in tasks]
        counts[core] = sum(values)
        spread = max(spread, max(values) - min(values))
    rates = {core: count / point.window_s for core, count in counts.items()}
    total = sum(rates.values())
    return Throughput(
        point=point,
        per_core_hz=rates,
        total_hz=total,
        cycles_per_count=point.clock_hz * len(rates) / total,
        fairness=total**2 / (len(rates) * sum(rate**2 for rate in rates.values())),
        task_spread=spread,
    )


@dataclass(frozen=True, slots=True)
class MulticoreGain:
    """A benchmark on several cores compared with the same on one core. A gain of 2 on two cores is perfect."""

    benchmark: str
    title: str
    kernel: str
    board: str
    cores: int
    one_core: Throughput
    many_cores: Throughput

    @property
    def speedup_over_single_core(self) -> float:
        """Returns the total rate with all cores divided by that with one core."""
        return self.many_cores.total_hz / self.one_core.total_hz

    @property
    def parallel_efficiency_per_core(self) -> float:
        """Returns the rate per core divided by that of one core alone (Vieira's normalised throughput)."""
        return self.speedup_over_single_core / self.cores


def multicore_throughput_gains(points: Iterable[MeasuredPoint]) -> list[MulticoreGain]:
    """Returns each measured point on several cores paired with the same benchmark and kernel on one core. The setting
    `pinned` is ignored, because it has no effect on one core."""
    measured = list(points)
    result = []
    for many in measured:
        if many.point.cores == 1:
            continue
        config = {key: value for key, value in many.point.config.items() if key != UNPINNED}
        single_core = many.point.model_copy(update={"cores": 1, "config": config})
        one = next((result for result in measured if result.point == single_core), None)
        if one is not None:
            identity = many.point
            result.append(
                MulticoreGain(
                    identity.benchmark,
                    identity.title,
                    identity.kernel,
                    identity.board,
                    identity.cores,
                    counts_per_second_of_point(one),
                    counts_per_second_of_point(many),
                )
            )
    return result
