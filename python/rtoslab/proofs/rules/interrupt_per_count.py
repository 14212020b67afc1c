"""Checks that each count had its interrupt: the core entered the handler as often as it counted."""

from typing import Literal

from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    compare_event_count_with_required,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.results import BenchmarkProofFinding
from rtoslab.targets import FIRST_EXTERNAL


class InterruptCountProofParameters(BenchmarkProofParameters):
    """The parameters of the proof `interrupt_per_count` in benchmark.toml. The proof checks that each core entered the
    interrupt's handler as often as the benchmark's counts require."""

    irq: Literal["soft"] | int
    """A line of the interrupt controller, or `soft`: the board's line that only software pends."""
    ratio: float = 1.0
    tolerance: int = 0


def judge_evidence(params: InterruptCountProofParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that each core entered the interrupt's handler as often as the benchmark's counts require."""
    line = evidence.board.irq.soft if params.irq == "soft" else params.irq
    demands = f"{params.ratio:g} entries of interrupt line {line} per count"
    if evidence.observed is None:
        return make_unjudged_proof_finding(params.rule, demands)
    problems: list[str] = []
    seen: list[str] = []
    for where, cores in evidence.core_groups_for_count_comparison:
        taken = (evidence.observed.exceptions.get(core, {}).get(FIRST_EXTERNAL + line, 0) for core in cores)
        required = sum(map(evidence.metric_count, cores)) * params.ratio
        tolerance = evidence.event_tolerance(params.tolerance, cores, params.ratio)
        text, agrees = compare_event_count_with_required(where, "interrupts taken", sum(taken), required, tolerance)
        (seen if agrees else problems).append(text)
    return make_judged_proof_finding(params.rule, demands, problems, seen)
