"""Checks that a task computes before its calls of a service for as long as is drawn from the seed. So the calls come at
every phase of the activity that follows them."""

import numpy as np

from rtoslab.proofs.draws import LEAST_AGREEMENT, best_correlation_with_random_draws, first_random_numbers
from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.proofs.observed_steps import observed_benchmark_steps_to_judge
from rtoslab.proofs.step_match import KernelService
from rtoslab.results import BenchmarkProofFinding
from rtoslab.targets import CALL
from rtoslab.targets import steps as seen


class DrawnWaitsParameters(BenchmarkProofParameters):
    """The parameters of the proof `drawn_waits` in benchmark.toml. The proof checks that the benchmark's own code
    before each call of a service takes as long as was drawn."""

    seed: str
    """The parameter from which the waits are drawn."""
    service: str
    below: int
    """A wait is the drawn number modulo this one, in passes of a loop."""


def judge_evidence(params: DrawnWaitsParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that the benchmark's own code between an interval's end and the next call of a service takes as long as
    was drawn, by its cycles."""
    demands = f"the task computes before each {params.service} for as long as is drawn"
    if evidence.observed is None:
        return make_unjudged_proof_finding(params.rule, demands)
    service = KernelService(evidence.kernel.kernel_facts_for_architecture(evidence.board.cpu), params.service)
    tasks = {task.handle for task in evidence.decoded.tasks} - evidence.control_blocks_of_runner_tasks()
    waits: list[int] = []
    own: int | None = None
    for step in observed_benchmark_steps_to_judge(evidence):
        if step.kind == seen.STOP:
            own = 0
        elif own is not None and step.who in tasks:
            own += step.own_cycles or 0
            if step.kind == CALL and service.is_call_of_kernel_service(step):
                waits.append(own)
                own = None
    drawn = first_random_numbers(int(evidence.decoded.params[params.seed]), len(waits)) % params.below
    agreement = best_correlation_with_random_draws(waits, drawn.astype(np.float64))
    if agreement is None:
        return make_unjudged_proof_finding(params.rule, demands, f"{len(waits)} waits were seen")
    text = f"{len(waits)} waits that agree with the draws by {agreement:.2f}"
    return make_judged_proof_finding(params.rule, demands, [] if agreement >= LEAST_AGREEMENT else [text], [text])
