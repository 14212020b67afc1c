"""Checks that a message's stamp and the virtual board agree on the time from the sender to the receiver.

The board sees both cores: the mark right before the sender reads the counter, and the one right after the receiver has.
So no stamp is longer than between the marks, and it is shorter by the two readings and the instructions beside them
alone. Code that is fetched first, or an interrupt, may come between a mark and its reading: one sample in `rare` may be
shorter than that.
"""

from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.proofs.expected_counts import code_intervals_that_became_samples
from rtoslab.results import BenchmarkProofFinding, interval_readings_of_instrument


class SenderTimestampProofParameters(BenchmarkProofParameters):
    """The parameters of the proof `senders_stamp` in benchmark.toml. The proof checks that the time from a sender's
    stamp to the receiver agrees with the time that the virtual board saw between the marks on both cores."""

    series: tuple[str, ...]
    slack_cycles: int = 256
    rare: int = 10


def judge_evidence(params: SenderTimestampProofParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that the time from a sender's stamp to the receiver agrees with the time that the virtual board saw
    between the marks on both cores."""
    demands = "each stamp is the time between the marks of sender and receiver, less the readings of the counter"
    observed = evidence.observed
    if observed is None or observed.intervals is None:
        return make_unjudged_proof_finding(params.rule, demands)
    problems: list[str] = []
    seen: list[str] = []
    for name in params.series:
        stamps = interval_readings_of_instrument(evidence.decoded, observed, 0, name, evidence.samples)
        intervals = code_intervals_that_became_samples(evidence, name)
        shorter = [item.cycles - stamp for stamp, item in zip(stamps, intervals, strict=False)]
        if not shorter:
            problems.append(f"{name}: no samples")
            continue
        text = f"{name}: {min(shorter)} to {max(shorter)} cycles shorter"
        apart = sum(item > params.slack_cycles for item in shorter)
        good = min(shorter) >= 0 and apart * params.rare <= len(shorter)
        (seen if good else problems).append(text)
    return make_judged_proof_finding(params.rule, demands, problems, seen)
