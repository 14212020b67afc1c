"""So many samples of a series hold a tick of the kernel: there are enough of them for their longest to mean something.

The trap it prevents: a worst case observed between two ticks.
"""

from rtoslab.proofs.evidence import (
    BenchmarkProofParameters,
    ProofEvidence,
    make_benchmark_proof_finding,
    unjudged_benchmark_proof_finding,
)
from rtoslab.proofs.expected_counts import intervals_kept_as_samples
from rtoslab.results import BenchmarkProofFinding


class TicksMetParameters(BenchmarkProofParameters):
    """The parameters of the proof `ticks_met` in benchmark.toml. The proof checks that enough samples of a series
    contain a kernel tick."""

    series: str
    at_least: str
    """The parameter with the fewest such samples."""


def judge_evidence(params: TicksMetParameters, evidence: ProofEvidence) -> BenchmarkProofFinding:
    """Checks that enough samples of a series contain a kernel tick, by the entries of the tick's exception between the
    marks."""
    required = int(evidence.decoded.params[params.at_least])
    demands = f"{required} samples of {params.series} or more hold a tick; with fewer, ask for more samples"
    if evidence.observed is None:
        return unjudged_benchmark_proof_finding(params.rule, demands)
    samples = intervals_kept_as_samples(evidence, params.series)
    met = sum(interval.ticks > 0 for interval in samples)
    text = f"{met} of {len(samples)} samples"
    return make_benchmark_proof_finding(params.rule, demands, [] if met >= required else [text], [text])
