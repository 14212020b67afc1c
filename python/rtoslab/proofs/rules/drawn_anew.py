"""Checks that each time before the asynchronous interrupt is drawn at random. Hardly two times are alike, none is out
of range, and their order is that of the draws from the seed."""

from itertools import pairwise
from typing import Final

import numpy as np

from rtoslab.proofs.draws import LEAST_AGREEMENT, best_correlation_with_random_draws, first_random_numbers
from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.proofs.observed_steps import observed_benchmark_steps_to_judge
from rtoslab.results import BenchmarkProofFinding
from rtoslab.targets import FIRST_EXTERNAL, INTERRUPT

_FEW: Final = 8
"""With so few distances the spread proves nothing."""
_LATE_CYCLES: Final = 1024
"""Cycles by which an interrupt may be late."""


class DrawnAnewParameters(BenchmarkProofParameters):
    """The parameters of the proof `drawn_anew` in benchmark.toml. The proof checks that the times between asynchronous
    interrupts differ and are within the range of the random draw."""

    from_cycles: int
    to_cycles: int
    seed: str | None = None
    """The parameter from which the times are drawn. None: the draws are not computed again."""
    different_percent: int = 80
    """At least this many of the distances must differ."""
    spread_percent: int = 50
    """The least difference of the shortest and the longest distance, in percent of the range."""


def judge_evidence(params: DrawnAnewParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that the times between asynchronous interrupts differ and are within the range of the random draw, by the
    entries of the handler."""
    demands = (
        f"interrupts come {params.from_cycles} to {params.to_cycles} cycles after each other, hardly two times alike"
    )
    if evidence.observed is None:
        return make_unjudged_proof_finding(params.rule, demands)
    number = FIRST_EXTERNAL + evidence.board.irq.asynchronous
    times = [
        step.cycle
        for step in observed_benchmark_steps_to_judge(evidence)
        if step.kind == INTERRUPT and step.first == number
    ]
    distances = [later - earlier for earlier, later in pairwise(times)]
    if not distances:
        return make_judged_proof_finding(params.rule, demands, [f"{len(times)} interrupts were seen"], [])
    shortest, longest = min(distances), max(distances)
    different = len(set(distances)) * 100 >= params.different_percent * len(distances)
    spread = len(distances) < _FEW or (longest - shortest) * 100 >= params.spread_percent * (
        params.to_cycles - params.from_cycles
    )
    inside = params.from_cycles - _LATE_CYCLES <= shortest and longest <= params.to_cycles + _LATE_CYCLES
    text = f"{len(set(distances))} different of {len(distances)}, from {shortest} to {longest} cycles"
    agreement = None
    if params.seed is not None:
        draws = first_random_numbers(int(evidence.decoded.params[params.seed]), len(distances))
        drawn = draws % (params.to_cycles - params.from_cycles)
        agreement = best_correlation_with_random_draws(distances, drawn.astype(np.float64))
    follows = agreement is None or agreement >= LEAST_AGREEMENT
    text += "" if agreement is None else f", which agree with the draws by {agreement:.2f}"
    good = different and spread and inside and follows
    return make_judged_proof_finding(params.rule, demands, [] if good else [text], [text])
