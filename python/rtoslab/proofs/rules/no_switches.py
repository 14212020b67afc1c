"""Nothing but the measured task runs: no context switch in the window, save the control task's at its edges."""

from rtoslab.proofs.evidence import Evidence, RuleParams, finding, unseen
from rtoslab.results import Finding


class Params(RuleParams):
    """Keys of `rule = "no_switches"`."""

    tolerance: int = 0


def judge(params: Params, evidence: Evidence) -> Finding:
    """Judges from the observed switches. The counters must show that something ran at all."""
    demands = "no context switch inside the window"
    if evidence.observed is None:
        return unseen(params.rule, demands)
    if evidence.kernel.probes is None:
        return unseen(params.rule, demands, "there are no tasks to switch between")
    problems: list[str] = []
    seen: list[str] = []
    for core in evidence.metric_cores:
        total, counted = evidence.switches(core).total(), evidence.count(core)
        text = f"core {core}: {total} switches during {counted} counts"
        (seen if total <= params.tolerance and counted > 0 else problems).append(text)
    return finding(params.rule, demands, problems, seen)
