"""Checks that the windows of two kernels, each in a separate image on one core, were open at the same time.

A rate next to an idle core shows nothing about two busy cores. Both images stamp their windows by the same timer.
"""

from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.results import BenchmarkProofFinding

_LEAST_PERCENT = 98.0
"""The kernels open their windows on ticks of their own, which may be a tick apart."""


class MeasurementWindowOverlapProofParameters(BenchmarkProofParameters):
    """The proof `windows_overlap`, which has no parameters in benchmark.toml. It checks that the measurement windows
    of two kernels on two cores were open at the same time. It holds for every benchmark."""


def judge_evidence(
    params: MeasurementWindowOverlapProofParameters, evidence: BenchmarkProofEvidence
) -> BenchmarkProofFinding:
    """Checks that the measurement windows of two kernels on two cores were open at the same time, by the stamps of both
    images."""
    demands = f"the other core's window was open for {_LEAST_PERCENT:g} % of this one or longer"
    if evidence.beside is None:
        return make_unjudged_proof_finding(params.rule, demands, "no other kernel ran")
    mine, other = evidence.decoded.windows[0], evidence.beside.windows[0]
    both = min(mine.close_ticks, other.close_ticks) - max(mine.open_ticks, other.open_ticks)
    percent = 100 * max(both, 0) / (mine.close_ticks - mine.open_ticks)
    text = f"{percent:.2f} % of the window"
    return make_judged_proof_finding(params.rule, demands, [text] if percent < _LEAST_PERCENT else [], [text])
