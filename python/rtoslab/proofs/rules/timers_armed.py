"""Checks that as many further timers as a parameter says are armed from before the window to its end.

It reveals a figure that claims to be measured with eight armed timers, although none or only one was started."""

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

_SERVICES = ("timer_start", "timer_stop")


class TimersArmedParameters(BenchmarkProofParameters):
    """The parameters of the proof `timers_armed` in benchmark.toml. The proof checks how many timers were started
    before the window and are left alone in it."""

    timers: str
    """The parameter with the number of timers."""


def judge_evidence(params: TimersArmedParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks how many timers were started before the window, and neither stopped nor started again, by the arguments of
    the kernel's functions."""
    required = int(evidence.decoded.params[params.timers])
    demands = f"{required} further timers are armed in the whole window"
    if evidence.observed is None:
        return make_unjudged_proof_finding(params.rule, demands)
    kernel = evidence.kernel.kernel_facts_for_architecture(evidence.board.cpu)
    used = {
        (step.first, step.second)[kernel.index_of_service_call_argument(service, "object")]
        for service in _SERVICES
        for step in observed_benchmark_steps_to_judge(evidence)
        if step.kind == CALL and KernelService(kernel, service).is_call_of_kernel_service(step)
    }
    armed = evidence.observed.timers_started - used
    text = f"{len(armed)} timers were started before the window, and neither stopped nor started again"
    return make_judged_proof_finding(params.rule, demands, [] if len(armed) == required else [text], [text])
