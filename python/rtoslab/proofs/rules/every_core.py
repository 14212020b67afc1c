"""Checks that the kernel moves tasks that are bound to no core: some of them run on every core."""

from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.results import BenchmarkProofFinding


class TasksOnEveryCoreProofParameters(BenchmarkProofParameters):
    """The parameters of the proof `every_core` in benchmark.toml. The proof checks that enough of the named tasks ran
    on every core."""

    tasks: tuple[int, ...]
    at_least: int = 1
    """So many of them, of all cores' tasks together, run on every core."""


def judge_evidence(params: TasksOnEveryCoreProofParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that enough of the named tasks ran on every core, by the observed switches into each task."""
    demands = f"{params.at_least} or more of tasks {', '.join(map(str, params.tasks))} of all cores run on every core"
    if evidence.observed is None:
        return make_unjudged_proof_finding(params.rule, demands)
    into = evidence.switch_counts_by_task_and_core()
    handles = [evidence.task_handle(home, index) for home in evidence.metric_cores for index in params.tasks]
    everywhere = sum(all(into[handle][core] for core in evidence.cores) for handle in handles)
    text = f"{everywhere} of {len(handles)} ran on every core"
    good = None not in handles and everywhere >= params.at_least
    return make_judged_proof_finding(params.rule, demands, [] if good else [text], [text])
