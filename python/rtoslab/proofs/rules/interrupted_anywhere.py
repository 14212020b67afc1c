"""Checks that the interrupt does not depend on what the core does: it came at many different instructions."""

from typing import Literal

from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.results import BenchmarkProofFinding
from rtoslab.targets import FIRST_EXTERNAL, task_switching_exceptions


class InterruptSpreadProofParameters(BenchmarkProofParameters):
    """The parameters of the proof `interrupted_anywhere` in benchmark.toml. The proof checks that the interrupt hit
    the code at many different addresses."""

    line: Literal["asynchronous"]
    """The line of board.toml."""
    places: int
    """The fewest different addresses. With few samples, a quarter as many as a series has."""
    by_switch: bool = False
    """Whether the handler asks for a switch, so that the core resumes there after another switch back."""


def judge_evidence(params: InterruptSpreadProofParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that the interrupt hit the code at many different addresses, by those at which the core continued after
    the handler."""
    places = min(params.places, max(2, evidence.samples // 4))
    demands = f"the core went on at {places} different addresses or more after the interrupt"
    observed = evidence.observed
    if observed is None or observed.intervals is None:
        return make_unjudged_proof_finding(params.rule, demands)
    line = FIRST_EXTERNAL + evidence.board.irq.asynchronous
    numbers = task_switching_exceptions(evidence.kernel) if params.by_switch else {line}
    result = len({place for number in numbers for place in observed.intervals.resumed.get(number, ())})
    text = f"{result} addresses"
    return make_judged_proof_finding(params.rule, demands, [] if result >= places else [text], [text])
