"""Checks that every series has the requested number of samples, and that the image's intervals came in order, with one
sample each.

The samples that the image sends are those that its runner was told after each interval: none is dropped, none added,
none changed, none in another's place.
"""

from collections.abc import Sequence

from rtoslab.catalogue import EMPTY_SERIES
from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.results import (
    BenchmarkProofFinding,
    interval_readings_of_instrument,
    measuring_instrument_of_image,
    series_facts,
)
from rtoslab.targets import LatencyBenchmarkIntervals


class CompleteSamplesProofParameters(BenchmarkProofParameters):
    """The parameters of the proof `samples_complete` in benchmark.toml. The proof checks that every series has the
    requested number of samples, and that each sample belongs to one observed interval. The rule holds for every
    latency benchmark."""

    held: str = ""
    """The parameter with the most blocks that are held. The release of each at the end may give a sample."""


def judge_evidence(params: CompleteSamplesProofParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that every series has the requested number of samples, and that each sample belongs to one observed
    interval."""
    demands = f"each series has {evidence.samples} samples, from intervals that do not overlap"
    observed = evidence.observed
    intervals = observed.intervals if observed else None
    if intervals is None and evidence.decoded.params.get("instrument") != "counter":
        return make_unjudged_proof_finding(params.rule, demands)
    problems: list[str] = list(intervals.disorder[:3]) if intervals else []
    numbered = list(enumerate(series_facts(evidence.benchmark)))
    if intervals and evidence.decoded.params.get("instrument") == "pin":
        missing = len(intervals.intervals) - len(intervals.pulses)
        if not 0 <= missing <= 1:  # the window may close between the last interval's end and its edge
            problems.append(f"{len(intervals.pulses)} pulses of the pin for {len(intervals.intervals)} intervals")
    for number, facts in numbered:
        readings_count = len(
            interval_readings_of_instrument(evidence.decoded, observed, number, facts.id, evidence.samples)
        )
        marked = min(len(intervals.intervals_of_series(number)), evidence.samples) if intervals else readings_count
        if not readings_count == marked == evidence.samples:
            problems.append(f"{facts.id}: {readings_count} samples, {marked} intervals between marks")
    problems += _find_interval_and_sample_mismatches(params, evidence, intervals) if intervals else []
    return make_judged_proof_finding(
        params.rule, demands, problems, [f"{len(numbered)} series of {evidence.samples} samples"]
    )


def _find_interval_and_sample_mismatches(
    params: CompleteSamplesProofParameters, evidence: BenchmarkProofEvidence, intervals: LatencyBenchmarkIntervals
) -> list[str]:
    """Returns a sentence for each series whose observed intervals, samples reported to the runner, and sent samples do
    not match."""
    if intervals.kept is None:
        return []
    problems = _find_samples_dropped_by_image(params, evidence, intervals.kept)
    for number, facts in enumerate(series_facts(evidence.benchmark)):
        raw_values = [raw for series, raw in intervals.kept if series == number]
        seen = len(intervals.intervals_of_series(number))
        if not raw_values and facts.id == EMPTY_SERIES:
            continue  # compiled into the function that measures it
        if not 0 <= seen - len(raw_values) <= 1:  # the window may close between the last interval's end and the call
            problems.append(f"{facts.id}: the runner was told {len(raw_values)} samples of {seen} intervals")
        sent = [value for sample in evidence.decoded.samples if sample.metric == facts.id for value in sample.values]
        if measuring_instrument_of_image(evidence.decoded) == "counter" and sent != raw_values[: len(sent)]:
            at = next(
                (at for at, pair in enumerate(zip(sent, raw_values, strict=False)) if pair[0] != pair[1]),
                len(raw_values),
            )
            problems.append(f"{facts.id}: sample {at} is {sent[at]}, but the runner was told {[*raw_values, None][at]}")
    return problems


def _find_samples_dropped_by_image(
    params: CompleteSamplesProofParameters, evidence: BenchmarkProofEvidence, intervals: Sequence[tuple[int, int]]
) -> list[str]:
    """Returns a sentence if the image dropped samples: it went on for more than a round after each series had enough.
    `intervals` are the series and value of each sample that was reported to the runner."""
    left = dict.fromkeys(range(1, len(evidence.benchmark.latency_series_ids)), evidence.samples)
    for at, (series, _) in enumerate(intervals):
        if series in left:
            left[series] -= 1
            if not left[series]:
                del left[series]
        if not left:
            more = len(intervals) - at - 1
            edge = len(evidence.benchmark.latency_series_ids) + int(evidence.decoded.params.get(params.held, 0))
            return [f"the runner was told {more} samples when each series had its own"] if more > edge else []
    return []
