"""Nothing but the measured task runs: no context switch in the window, save the control task's at its edges."""

from rtoslab.proofs.evidence import (
    BenchmarkProofParameters,
    ProofEvidence,
    make_benchmark_proof_finding,
    unjudged_benchmark_proof_finding,
)
from rtoslab.results import BenchmarkProofFinding


class NoSwitchesParameters(BenchmarkProofParameters):
    """The parameters of the proof `no_switches` in benchmark.toml. The proof checks that no context switch happened in
    the window, beside those of control tasks, while the counters advanced."""

    tolerance: int = 0


def judge_evidence(params: NoSwitchesParameters, evidence: ProofEvidence) -> BenchmarkProofFinding:
    """Checks that no context switch happened in the window, beside those of control tasks, while the counters
    advanced."""
    demands = "no context switch inside the window"
    if evidence.observed is None:
        return unjudged_benchmark_proof_finding(params.rule, demands)
    if evidence.kernel.probes is None:
        return unjudged_benchmark_proof_finding(params.rule, demands, "there are no tasks to switch between")
    problems: list[str] = []
    seen: list[str] = []
    for core in evidence.metric_cores:
        total, counted = evidence.task_switches(core).total(), evidence.metric_count(core)
        text = f"core {core}: {total} switches during {counted} counts"
        (seen if total <= params.tolerance and counted > 0 else problems).append(text)
    return make_benchmark_proof_finding(params.rule, demands, problems, seen)
