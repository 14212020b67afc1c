"""The cost of the measurement itself: the empty loop, the timer read, and the cycles that an outside reading misses.

The first repeat of each ruler meets a cold flash cache. It is kept as the maximum, the minimum is the steady cost."""

from dataclasses import dataclass
from statistics import median

from rtoslab.results import MeasuredPoint

LOOP_ROUNDS = 100


@dataclass(frozen=True, slots=True)
class EmptyMeasurementCost:
    """The cost of one empty measurement (such as two timer reads) on one core: statistics of its repeats."""

    name: str
    core: int
    unit: str
    count: int
    minimum: int
    median: float
    maximum: int
    maximum_at: int
    """The index of the longest repeat, from 0."""


def empty_measurement_overheads(point: MeasuredPoint) -> list[EmptyMeasurementCost]:
    """Returns the cost of every empty measurement that a point's image made: what the measuring itself takes."""
    return [
        EmptyMeasurementCost(
            ruler.name,
            ruler.core,
            ruler.unit,
            len(ruler.repeats),
            min(ruler.repeats),
            median(ruler.repeats),
            max(ruler.repeats),
            ruler.repeats.index(max(ruler.repeats)),
        )
        for ruler in point.rulers
    ]


@dataclass(frozen=True, slots=True)
class MeasurementWindowLengths:
    """The length of a measurement window by two instruments: the firmware's timer and the virtual board's cycle
    count."""

    timer_us: float
    observed_us: float
    loop_cycles_per_count: float | None
    """Cost of counting and testing the run flag, from the empty-loop ruler. Inside every count."""

    @property
    def difference_us(self) -> float:
        """Returns the window's length by the firmware's timer minus that by the virtual board, in microseconds. It is
        no more exact than the timer."""
        return self.timer_us - self.observed_us


def measurement_window_lengths(point: MeasuredPoint) -> MeasurementWindowLengths | None:
    """Returns the length of a point's measurement window by two instruments: the firmware's timer and the virtual
    board. None on a real board."""
    if point.virtual is None:
        return None
    costs = {
        cost.name: cost.minimum
        for cost in empty_measurement_overheads(point)
        if cost.core == 0 and cost.unit == "cycles"
    }
    loop = (costs["loop_100"] - costs.get("empty", 0)) / LOOP_ROUNDS if "loop_100" in costs else None
    return MeasurementWindowLengths(point.window_s * 1e6, point.virtual.cores[0].cycles / point.clock_hz * 1e6, loop)
