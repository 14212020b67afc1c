"""Checks that a task calls one of two services, as the lowest bit of each number drawn from the seed says."""

from typing import Annotated, Final

import numpy as np
from pydantic import Field

from rtoslab.proofs.draws import best_correlation_with_random_draws, first_random_numbers
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

_MOST: Final = 1000
"""Calls that are compared."""
_SAME: Final = 0.999


class RandomCallOrderProofParameters(BenchmarkProofParameters):
    """The parameters of the proof `drawn_order` in benchmark.toml. The proof checks that a task calls two services in
    the order that is drawn."""

    seed: str
    """The parameter from which the task draws."""
    task: int
    services: Annotated[tuple[str, ...], Field(min_length=2, max_length=2)]
    """The service that is called when the lowest bit is 0, and the one when it is 1."""


def judge_evidence(params: RandomCallOrderProofParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that a task calls two services in the order that is drawn, by the arguments of the kernel's functions."""
    demands = f"task {params.task} calls {' or '.join(params.services)} as is drawn"
    if evidence.observed is None:
        return make_unjudged_proof_finding(params.rule, demands)
    kernel = evidence.kernel.kernel_facts_for_architecture(evidence.board.cpu)
    services = [KernelService(kernel, name) for name in params.services]
    handle = evidence.task_handle(0, params.task)
    calls = [
        next((bit for bit, service in enumerate(services) if service.is_call_of_kernel_service(step)), None)
        for step in observed_benchmark_steps_to_judge(evidence)
        if step.kind == CALL and step.who == handle
    ]
    bits = [bit for bit in calls if bit is not None][:_MOST]
    drawn = first_random_numbers(int(evidence.decoded.params[params.seed]), len(bits)) & 1
    agreement = best_correlation_with_random_draws(bits, drawn.astype(np.float64))
    if agreement is None:
        return make_unjudged_proof_finding(params.rule, demands, f"{len(bits)} calls were seen")
    text = f"{len(bits)} calls, {sum(bits)} of {params.services[1]}, that agree with the draws by {agreement:.2f}"
    return make_judged_proof_finding(params.rule, demands, [] if agreement >= _SAME else [text], [text])
