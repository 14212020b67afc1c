"""Objects are what the benchmark says: so long a queue, items of so many bytes, so many to take, as the window opens.

If several cores run, a task of another one may be at work already as the window opens: the level of an object then
proves nothing."""

from rtoslab.proofs.evidence import Evidence, RuleParams, finding, unseen
from rtoslab.proofs.observed_steps import are_cut, steps_of
from rtoslab.proofs.step_match import Service
from rtoslab.results import Finding
from rtoslab.targets import CALL

_STATE = ("used", "bits")


class Params(RuleParams):
    """Keys of `rule = "objects"`."""

    service: str
    """Whose object it is. Its name's first word is the kind of object in kernel.toml."""
    are: dict[str, str | int]
    """Fact -> value, or `{parameter}`. A fact that the kernel's objects do not hold is not asked for."""


def judge(params: Params, evidence: Evidence) -> Finding:
    """Judges from the objects' memory as the window opened. Those called in the window must be among them."""
    stated = evidence.decoded.params
    required = {fact: int(str(value).format(**stated)) for fact, value in params.are.items()}
    if len(evidence.cores) > 1:
        required = {fact: value for fact, value in required.items() if fact not in _STATE}
    listed = ", ".join(f"{fact} {value}" for fact, value in required.items())
    kind = params.service.split("_", maxsplit=1)[0]
    demands = f"each {kind} that {params.service} is called with has {listed}"
    if evidence.observed is None:
        return unseen(params.rule, demands)
    if kind not in evidence.kernel.objects:
        return unseen(params.rule, demands, "kernel.toml does not say what the object holds")
    others = evidence.controls()
    calls = [step for step in steps_of(evidence) if step.kind == CALL and step.who not in others]
    kernel = evidence.kernel.for_cpu(evidence.board.cpu)
    service = Service(kernel, params.service)
    called = {step.first for step in calls if service.is_called(step)}
    if not called and are_cut(evidence):
        return unseen(params.rule, demands, f"steps are kept up to before the first call of {params.service}")
    problems: list[str] = [] if called else [f"{params.service} was not called"]
    seen: list[str] = []
    for address in sorted(called):
        facts = evidence.observed.objects_at_open.get((kind, address))
        if facts is None:
            problems.append(f"{address:#x} was not used before the window")
            continue
        wrong = {fact: facts[fact] for fact, value in required.items() if fact in facts and facts[fact] != value}
        problems += [f"{address:#x} has {fact} {value}" for fact, value in wrong.items()]
        seen.append(f"{address:#x} has {', '.join(f'{fact} {value}' for fact, value in facts.items())}")
    return finding(params.rule, demands, problems, seen)
