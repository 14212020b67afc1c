"""The tick's handler as a model: so much for the tick itself, so much for each task it releases.

Two ways to the same two numbers. By least squares over all samples, with what is left over by number of tasks. And as
miranda2021 (section 7.1) partitions the tick into pseudo-tasks: the most frequent tick without a release, and the rest
of the longest tick shared among the tasks it released, so that the sum is the longest tick.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rtoslab.results import MeasuredPoint, SeriesSamples

_RELEASED = "tick.released_"
_SELECT = "select."


@dataclass(frozen=True, slots=True)
class TickModelResidual:
    """The differences between the measured ticks that released `count` tasks and the cost model, in cycles."""

    count: int
    n: int
    predicted: float
    least: float
    mean: float
    most: float


@dataclass(frozen=True, slots=True)
class TickCostModel:
    """A cost model of the kernel's tick handler: cycles for the tick itself, and for each task that it releases."""

    n: int
    base: float
    per_task: float
    rms: float
    """Root mean square of the residuals over all samples."""
    residuals: tuple[TickModelResidual, ...]
    mode: int
    """The most frequent tick that releases nobody."""
    worst: int
    """The longest tick, and how many tasks it released."""
    worst_count: int

    @property
    def cycles_per_released_task(self) -> float | None:
        """Returns the cycles per released task in the longest tick, above the most frequent tick without a release.
        None if the longest tick released none."""
        return (self.worst - self.mode) / self.worst_count if self.worst_count else None

    @property
    def longest_tick_cycles_above_fitted_model(self) -> float:
        """Returns the cycles of the longest tick that the fitted model does not explain."""
        return self.worst - self.mode - self.per_task * self.worst_count


def cycles_by_released_tasks(point: MeasuredPoint) -> dict[int, Sequence[int]]:
    """Returns the cycles of each run of the tick handler, grouped by the number of tasks that the tick released. Empty
    if the benchmark does not measure this."""
    mine = [samples for samples in point.series if samples.id.startswith(_RELEASED)]
    return {int(samples.id.removeprefix(_RELEASED)): samples.cycles for samples in mine}


def fit_tick_cost_model(samples: Mapping[int, Sequence[int]]) -> TickCostModel | None:
    """Fits the cost model of the tick handler to cycles by number of released tasks. None unless ticks with and without
    a release were observed."""
    if 0 not in samples or len(samples) < 2:
        return None
    counts = np.concatenate([np.full(len(cycles), count) for count, cycles in samples.items()])
    cycles = np.concatenate([np.asarray(sample) for sample in samples.values()])
    per_task, base = np.polyfit(counts, cycles, 1)
    left = cycles - (base + per_task * counts)
    worst = int(cycles.max())
    residuals = tuple(
        TickModelResidual(
            count=int(count),
            n=int((counts == count).sum()),
            predicted=float(base + per_task * count),
            least=float(left[counts == count].min()),
            mean=float(left[counts == count].mean()),
            most=float(left[counts == count].max()),
        )
        for count in sorted(samples)
    )
    return TickCostModel(
        n=len(cycles),
        base=float(base),
        per_task=float(per_task),
        rms=float(np.sqrt(np.mean(left**2))),
        residuals=residuals,
        mode=Counter(samples[0]).most_common(1)[0][0],
        worst=worst,
        worst_count=int(counts[cycles.argmax()]),
    )


def scheduler_search_duration_samples(point: MeasuredPoint) -> dict[int, list[SeriesSamples]]:
    """Returns the durations of the kernel's search for the next task, by the number of the search's loops. A search
    without a step counts as one loop."""
    by_loops_: dict[int, list[SeriesSamples]] = {}
    for samples in point.series:
        if samples.id.startswith(_SELECT) and samples.steps is not None:
            by_loops_.setdefault(max(1, samples.steps), []).append(samples)
    return dict(sorted(by_loops_.items()))
