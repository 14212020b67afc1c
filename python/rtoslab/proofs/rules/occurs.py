"""Checks that each of these steps happens, because a round that allows one of several steps does not require any of
them."""

from collections import Counter

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


class OccursParameters(BenchmarkProofParameters):
    """The parameters of the proof `occurs` in benchmark.toml. The proof checks that tasks call the services that a
    round only permits."""

    calls: tuple[str, ...]
    """The index of a task and a service each, such as `1 sleep_ticks`."""
    at_least: int = 2


def judge_evidence(params: OccursParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that tasks call each of these services, by the calls of the kernel's functions."""
    demands = f"each of {', '.join(params.calls)} happens {params.at_least} times or more"
    if evidence.observed is None:
        return make_unjudged_proof_finding(params.rule, demands)
    kernel = evidence.kernel.kernel_facts_for_architecture(evidence.board.cpu)
    expected = {call: (int(call.split()[0]), KernelService(kernel, call.split()[1])) for call in params.calls}
    counts = Counter[str]()
    for step in observed_benchmark_steps_to_judge(evidence):
        if step.kind == CALL:
            for call, (task, service) in expected.items():
                counts[call] += step.who == evidence.task_handle(step.core, task) and service.is_call_of_kernel_service(
                    step
                )
    texts = [f"{call}: {counts[call]} times" for call in params.calls]
    rare = [text for call, text in zip(params.calls, texts, strict=True) if counts[call] < params.at_least]
    return make_judged_proof_finding(params.rule, demands, rare, texts)
