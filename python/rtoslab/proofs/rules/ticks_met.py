"""Checks that enough samples of a series contain a tick of the kernel.

Otherwise the longest sample may be a worst case that was observed only between ticks.
"""

from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.proofs.expected_counts import code_intervals_that_became_samples
from rtoslab.results import BenchmarkProofFinding


class TicksInSampleProofParameters(BenchmarkProofParameters):
    """The parameters of the proof `ticks_met` in benchmark.toml. The proof checks that enough samples of a series
    contain a kernel tick."""

    series: str
    at_least: str
    """The parameter with the fewest such samples."""


def judge_evidence(params: TicksInSampleProofParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that enough samples of a series contain a kernel tick, by the entries of the tick's exception between the
    marks."""
    required = int(evidence.decoded.params[params.at_least])
    demands = f"{required} samples of {params.series} or more hold a tick; with fewer, ask for more samples"
    if evidence.observed is None:
        return make_unjudged_proof_finding(params.rule, demands)
    samples = code_intervals_that_became_samples(evidence, params.series)
    met = sum(interval.ticks > 0 for interval in samples)
    text = f"{met} of {len(samples)} samples"
    return make_judged_proof_finding(params.rule, demands, [] if met >= required else [text], [text])
