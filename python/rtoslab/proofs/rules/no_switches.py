"""Checks that only the measured task runs: there is no context switch in the window, except those of the control task
at its edges."""

from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.results import BenchmarkProofFinding


class NoSwitchesParameters(BenchmarkProofParameters):
    """The parameters of the proof `no_switches` in benchmark.toml. The proof checks that no context switch happened in
    the window, beside those of control tasks, while the counters advanced."""

    tolerance: int = 0


def judge_evidence(params: NoSwitchesParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that no context switch happened in the window, beside those of control tasks, while the counters
    advanced."""
    demands = "no context switch inside the window"
    if evidence.observed is None:
        return make_unjudged_proof_finding(params.rule, demands)
    if evidence.kernel.probes is None:
        return make_unjudged_proof_finding(params.rule, demands, "there are no tasks to switch between")
    problems: list[str] = []
    seen: list[str] = []
    for core in evidence.metric_cores:
        total, counted = evidence.task_switch_counts_on_core(core).total(), evidence.metric_count(core)
        text = f"core {core}: {total} switches during {counted} counts"
        (seen if total <= params.tolerance and counted > 0 else problems).append(text)
    return make_judged_proof_finding(params.rule, demands, problems, seen)
