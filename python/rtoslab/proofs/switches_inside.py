"""The operation of a series is what its name says: so many context switches lie inside every one of its intervals."""

from rtoslab.proofs.evidence import Evidence, Finding, RuleParams, finding, unseen
from rtoslab.proofs.inside import sampled


class Params(RuleParams):
    """Keys of `rule = "switches_inside"`."""

    series: tuple[str, ...]
    switches: int
    tolerance: int = 0
    """Samples of a series that may have another number."""


def judge(params: Params, evidence: Evidence) -> Finding:
    """From the writes to the kernel's pointer to the running task, seen between the marks."""
    demands = f"{params.switches or 'no'} context switch{'' if params.switches == 1 else 'es'} in every sample"
    if evidence.observed is None:
        return unseen(params.rule, demands)
    if evidence.kernel.probes is None:
        return unseen(params.rule, demands, "there are no tasks to switch between")
    problems: list[str] = []
    seen: list[str] = []
    for name in params.series:
        found = [each.switches for each in sampled(evidence, name)]
        wrong = [index for index, count in enumerate(found) if count != params.switches]
        if wrong:
            text = f"{name}: {len(wrong)} of {len(found)} samples have another number, the first {found[wrong[0]]}"
        else:
            text = f"{name}: all {len(found)}"
        (seen if found and len(wrong) <= params.tolerance else problems).append(text)
    return finding(params.rule, demands, problems, seen)
