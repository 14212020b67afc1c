"""Checks that the operation of a series is the one in its name: every one of its intervals contains the stated number
of context switches."""

from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.proofs.expected_counts import ExpectedEventCount, code_intervals_that_became_samples
from rtoslab.results import BenchmarkProofFinding


class SwitchesInSampleProofParameters(BenchmarkProofParameters):
    """The parameters of the proof `switches_inside` in benchmark.toml. The proof checks that every sample of a series
    contains the required number of context switches."""

    series: tuple[str, ...]
    switches: int
    per: str | None = None
    """The name of a parameter. Its value multiplies the switches."""
    slack: int = 0
    """The accepted difference in a sample."""
    tolerance: int = 0
    """The number of samples of a series that may differ."""


def judge_evidence(params: SwitchesInSampleProofParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that every sample of a series contains the required number of context switches, by the writes to the
    kernel's current-task pointer.

    A kernel that cannot be told not to slice time among equals may switch there and back once more for each tick.
    """
    required = ExpectedEventCount(params.switches, params.per, params.slack)
    demands = (
        f"{required.describe_expected_event_count(evidence, 'context switch', 'context switches')} in every sample"
    )
    if evidence.observed is None:
        return make_unjudged_proof_finding(params.rule, demands)
    if evidence.kernel.probes is None:
        return make_unjudged_proof_finding(params.rule, demands, "there are no tasks to switch between")
    extra = 2 if evidence.kernel.time_slice_ticks else 0
    problems: list[str] = []
    seen: list[str] = []
    for name in params.series:
        samples = code_intervals_that_became_samples(evidence, name)
        wrong = [
            interval.switches
            for interval in samples
            if not required.is_event_count_as_expected(evidence, interval.switches, extra * interval.ticks)
        ]
        if wrong:
            text = f"{name}: {len(wrong)} of {len(samples)} samples have another number, the first {wrong[0]}"
        else:
            text = f"{name}: all {len(samples)}"
        (seen if samples and len(wrong) <= params.tolerance else problems).append(text)
    return make_judged_proof_finding(params.rule, demands, problems, seen)
