"""Checks that the intervals which only the virtual board observes came in order, that none is inside another one, and
that there are enough of them."""

from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.proofs.expected_counts import code_intervals_that_became_samples
from rtoslab.results import BenchmarkProofFinding


class IntervalOrderProofParameters(BenchmarkProofParameters):
    """The parameters of the proof `intervals_in_order` in benchmark.toml. The proof checks that the intervals of the
    series do not overlap and are numerous enough."""

    series: tuple[str, ...]
    at_least: int = 1
    """The fewest intervals of each series in a window."""


def judge_evidence(params: IntervalOrderProofParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that the intervals of the series do not overlap and are numerous enough, by the marks at their ends."""
    demands = f"intervals do not overlap, and each series has {params.at_least} or more"
    if evidence.observed is None or evidence.observed.intervals is None:
        return make_unjudged_proof_finding(params.rule, demands)
    problems = list(evidence.observed.intervals.disorder[:3])
    seen: list[str] = []
    for name in params.series:
        count = len(code_intervals_that_became_samples(evidence, name))
        (seen if count >= params.at_least else problems).append(f"{name}: {count}")
    return make_judged_proof_finding(params.rule, demands, problems, seen)
