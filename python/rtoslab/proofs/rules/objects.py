"""Checks that the kernel objects are as the benchmark says when the window opens, for instance the length of a queue,
the size of its items and the count of a semaphore.

If several cores run, a task of another core may be at work already at that time. The level of an object then proves
nothing."""

from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.proofs.observed_steps import are_recorded_steps_incomplete, observed_benchmark_steps_to_judge
from rtoslab.proofs.step_match import KernelService
from rtoslab.results import BenchmarkProofFinding
from rtoslab.targets import CALL

_STATE = ("used", "bits")
_NONZERO = "nonzero "
"""The begin of the name of a fact that is 1 if the object is of the kind that the service is for."""


class KernelObjectProofParameters(BenchmarkProofParameters):
    """The parameters of the proof `objects` in benchmark.toml. The proof checks that the kernel objects (such as a
    queue's length and item size) are as benchmark.toml says."""

    service: str
    """The service whose object it is. The first word of its name is the kind of object in kernel.toml."""
    are: dict[str, str | int]
    """The expected value, or `{parameter}`, of each fact. A fact that the kernel's objects do not store is skipped."""


def judge_evidence(params: KernelObjectProofParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that the kernel objects (such as a queue's length and item size) are as benchmark.toml says, by their
    memory as the window opened."""
    stated = evidence.decoded.params
    required = {fact: int(str(value).format(**stated)) for fact, value in params.are.items()}
    if len(evidence.cores) > 1:
        required = {fact: value for fact, value in required.items() if fact not in _STATE}
    listed = ", ".join(f"{fact} {value}" for fact, value in required.items())
    kind = params.service.split("_", maxsplit=1)[0]
    demands = f"each {kind} that {params.service} is called with has {listed}"
    if evidence.observed is None:
        return make_unjudged_proof_finding(params.rule, demands)
    if kind not in evidence.kernel.objects:
        return make_unjudged_proof_finding(params.rule, demands, "kernel.toml does not say what the object holds")
    others = evidence.control_blocks_of_runner_tasks()
    calls = [
        step for step in observed_benchmark_steps_to_judge(evidence) if step.kind == CALL and step.who not in others
    ]
    kernel = evidence.kernel.kernel_facts_for_architecture(evidence.board.cpu)
    service = KernelService(kernel, params.service)
    called = {step.first for step in calls if service.is_call_of_kernel_service(step)}
    if not called and are_recorded_steps_incomplete(evidence):
        return make_unjudged_proof_finding(
            params.rule, demands, f"steps are kept up to before the first call of {params.service}"
        )
    problems: list[str] = [] if called else [f"{params.service} was not called"]
    seen: list[str] = []
    for address in sorted(called):
        facts = evidence.observed.objects_at_open.get((kind, address))
        if facts is None:
            problems.append(f"{address:#x} was not used before the window")
            continue
        problems += [
            f"{address:#x} is of another kind: its {fact.removeprefix(_NONZERO)} is 0"
            for fact, value in facts.items()
            if fact.startswith(_NONZERO) and not value
        ]
        wrong = {fact: facts[fact] for fact, value in required.items() if fact in facts and facts[fact] != value}
        problems += [f"{address:#x} has {fact} {value}" for fact, value in wrong.items()]
        seen.append(f"{address:#x} has {', '.join(f'{fact} {value}' for fact, value in facts.items())}")
    return make_judged_proof_finding(params.rule, demands, problems, seen)
