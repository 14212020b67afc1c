"""What rules about the inside of intervals share."""

from rtoslab.errors import UnknownNameError
from rtoslab.proofs.evidence import Evidence
from rtoslab.run.intervals import Interval


def sampled(evidence: Evidence, series: str) -> list[Interval]:
    """The intervals of a series that became samples. Raises UnknownNameError if the benchmark has no such series."""
    ids = evidence.benchmark.series_ids
    if series not in ids:
        raise UnknownNameError(f"series of {evidence.benchmark.id}", series, ids)
    observed = evidence.observed
    assert observed is not None
    assert observed.intervals is not None
    return observed.intervals.of(ids.index(series))[: evidence.samples]
