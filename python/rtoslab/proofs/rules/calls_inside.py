"""Checks that every interval of the series contains the measured kernel call, as often as stated.

An interrupt may hit the function's first instruction, which is then seen twice: a sample may have one more for each. A
kernel that cannot be told not to slice time may switch at a tick where a call would have, or need another call to be
back: two fewer or more for each.
"""

from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.proofs.expected_counts import ExpectedEventCount, code_intervals_that_became_samples
from rtoslab.results import BenchmarkProofFinding


class CallsInSampleProofParameters(BenchmarkProofParameters):
    """The parameters of the proof `calls_inside` in benchmark.toml. The proof checks that every sample of a series
    contains the required number of calls of a kernel service."""

    series: str
    service: str
    """A service of the port contract. Kernel.toml says which function it ends in."""
    calls: int = 1
    per: str | None = None
    """A parameter: so many calls for each of its value."""
    slack: int = 0
    """More or less of them that are accepted in a sample."""


def find_watched_services(params: CallsInSampleProofParameters) -> tuple[str, ...]:
    """Returns the kernel services whose calls the virtual board must record for this proof rule."""
    return (params.service,)


def judge_evidence(params: CallsInSampleProofParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that every sample of a series contains the required number of calls of a kernel service, by the executions
    of its function."""
    required = ExpectedEventCount(params.calls, params.per, params.slack)
    count = required.describe_expected_event_count(evidence, f"call of {params.service}", f"calls of {params.service}")
    demands = f"{count} in every sample of {params.series}"
    if evidence.observed is None:
        return make_unjudged_proof_finding(params.rule, demands)
    sliced = 2 if evidence.kernel.time_slice_ticks else 0
    samples = code_intervals_that_became_samples(evidence, params.series)
    wrong = [
        interval.calls[params.service]
        for interval in samples
        if not required.is_event_count_as_expected(
            evidence,
            interval.calls[params.service],
            interval.interrupts + (1 + sliced) * interval.ticks,
            sliced * interval.ticks,
        )
    ]
    problems = [f"{len(wrong)} of {len(samples)} samples have another number, the first {wrong[0]}"] if wrong else []
    if not samples:
        problems = ["there are no samples"]
    return make_judged_proof_finding(params.rule, demands, problems, [f"in all {len(samples)}"])
