"""The expected number of events inside an interval, for rules about intervals."""

from dataclasses import dataclass

from rtoslab.base import UnknownNameError
from rtoslab.proofs.evidence import BenchmarkProofEvidence
from rtoslab.targets import MeasuredCodeInterval


@dataclass(frozen=True, slots=True)
class ExpectedEventCount:
    """The number of events that must be inside an interval, from benchmark.toml."""

    count: int
    per: str | None
    """The name of a parameter. Its value multiplies the count."""
    slack: int

    def count_of_expected_events(self, evidence: BenchmarkProofEvidence) -> int:
        """Returns the expected number of events in an interval of this run, with the parameter's value filled in."""
        return self.count * (int(evidence.decoded.params[self.per]) if self.per is not None else 1)

    def is_event_count_as_expected(
        self, evidence: BenchmarkProofEvidence, count: int, extra: int = 0, spared: int = 0
    ) -> bool:
        """Whether an observed number of events is as expected. Up to `extra` events more and up to `spared` events
        fewer are accepted beside the usual slack."""
        return -self.slack - spared <= count - self.count_of_expected_events(evidence) <= self.slack + extra

    def describe_expected_event_count(self, evidence: BenchmarkProofEvidence, one: str, several: str) -> str:
        """Returns the expected number of events in words: `1 call`, `200 calls, give or take 2`."""
        number = self.count_of_expected_events(evidence)
        around = f", give or take {self.slack}" if self.slack else ""
        return f"{number or 'no'} {one if number == 1 else several}{around}"


def code_intervals_that_became_samples(evidence: BenchmarkProofEvidence, series: str) -> list[MeasuredCodeInterval]:
    """Returns the observed intervals of a measured series that became samples, without the surplus ones."""
    ids = evidence.benchmark.latency_series_ids
    if series not in ids:
        raise UnknownNameError(f"series of {evidence.benchmark.id}", series, ids)
    observed = evidence.observed
    assert observed is not None
    assert observed.intervals is not None
    return observed.intervals.intervals_of_series(ids.index(series))[: evidence.samples or None]
