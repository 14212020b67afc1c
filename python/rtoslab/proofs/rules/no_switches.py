"""Nothing but the measured task runs: no context switch in the window, save the control task's at its edges."""

from rtoslab.proofs.evidence import ProofEvidence, ProofParameters, make_proof_finding, unseen_proof_finding
from rtoslab.results import ProofFinding


class NoSwitchesParameters(ProofParameters):
    """The parameters of the proof `no_switches` in benchmark.toml. The proof checks that no context switch happened in
    the window, beside those of control tasks, while the counters advanced."""

    tolerance: int = 0


def judge_evidence(params: NoSwitchesParameters, evidence: ProofEvidence) -> ProofFinding:
    """Checks that no context switch happened in the window, beside those of control tasks, while the counters
    advanced."""
    demands = "no context switch inside the window"
    if evidence.observed is None:
        return unseen_proof_finding(params.rule, demands)
    if evidence.kernel.probes is None:
        return unseen_proof_finding(params.rule, demands, "there are no tasks to switch between")
    problems: list[str] = []
    seen: list[str] = []
    for core in evidence.metric_cores:
        total, counted = evidence.task_switches(core).total(), evidence.metric_count(core)
        text = f"core {core}: {total} switches during {counted} counts"
        (seen if total <= params.tolerance and counted > 0 else problems).append(text)
    return make_proof_finding(params.rule, demands, problems, seen)
