"""Checks that the interrupt for which a series is named was taken inside every one of its intervals, as often as
stated."""

from rtoslab.base import count_with_noun
from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.proofs.expected_counts import code_intervals_that_became_samples
from rtoslab.results import BenchmarkProofFinding


class InterruptsInsideParameters(BenchmarkProofParameters):
    """The parameters of the proof `interrupts_inside` in benchmark.toml. The proof checks that every sample of the
    series contains the required number of interrupts, ticks not counted."""

    series: tuple[str, ...]
    interrupts: int = 1


def judge_evidence(params: InterruptsInsideParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that every sample of the series contains the required number of interrupts, ticks not counted."""
    demands = f"{count_with_noun(params.interrupts, 'interrupt')} in every sample"
    if evidence.observed is None:
        return make_unjudged_proof_finding(params.rule, demands)
    problems: list[str] = []
    seen: list[str] = []
    for name in params.series:
        interrupts = [interval.interrupts for interval in code_intervals_that_became_samples(evidence, name)]
        wrong = [count for count in interrupts if count != params.interrupts]
        first = f", the first {wrong[0]}" if wrong else ""
        text = f"{name}: {len(interrupts) - len(wrong)} of {len(interrupts)}{first}"
        (seen if interrupts and not wrong else problems).append(text)
    return make_judged_proof_finding(params.rule, demands, problems, seen)
