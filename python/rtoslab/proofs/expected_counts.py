"""The common parts of rules about the inside of intervals."""

from dataclasses import dataclass

from rtoslab.base import UnknownNameError
from rtoslab.proofs.evidence import Evidence
from rtoslab.targets import Interval


@dataclass(frozen=True, slots=True)
class ExpectedCount:
    """How often something must be inside an interval."""

    count: int
    per: str | None
    """A parameter's name: so often for each of its value."""
    slack: int

    def number(self, evidence: Evidence) -> int:
        """The whole number."""
        return self.count * (int(evidence.decoded.params[self.per]) if self.per is not None else 1)

    def fits(self, evidence: Evidence, count: int, extra: int = 0, spared: int = 0) -> bool:
        """Whether `count` is right. Up to `extra` more may have another cause, up to `spared` fewer have one."""
        return -self.slack - spared <= count - self.number(evidence) <= self.slack + extra

    def words(self, evidence: Evidence, one: str, several: str) -> str:
        """`1 call`, `200 calls, give or take 2`."""
        number = self.number(evidence)
        around = f", give or take {self.slack}" if self.slack else ""
        return f"{number or 'no'} {one if number == 1 else several}{around}"


def sample_intervals(evidence: Evidence, series: str) -> list[Interval]:
    """The intervals of a series that became samples. Raises UnknownNameError if the benchmark has no such series."""
    ids = evidence.benchmark.series_ids
    if series not in ids:
        raise UnknownNameError(f"series of {evidence.benchmark.id}", series, ids)
    observed = evidence.observed
    assert observed is not None
    assert observed.intervals is not None
    return observed.intervals.of_series(ids.index(series))[: evidence.samples]
