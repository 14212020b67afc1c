"""Checks that the kernel switches to each of these tasks for every count, on whichever core: the task waits or yields
in between.

The rule is for tasks that are bound to no core, where the order of switches on one core proves nothing. If one core
gives while another is still on its way to a wait, a wait now and then finds its object and continues:
`least_percent`."""

from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.results import BenchmarkProofFinding


class TaskSwitchProofParameters(BenchmarkProofParameters):
    """The parameters of the proof `switched_to` in benchmark.toml. The proof checks that each of the named tasks was
    switched to once per count."""

    tasks: tuple[int, ...]
    or_more: bool = False
    """Whether further switches may come between: a task that is preempted is switched to again."""
    least_percent: int = 100
    """The least share of the counts that come by a switch."""
    tolerance: int = 2
    """Switches too many or too few for each task: where the window cuts a round."""


def judge_evidence(params: TaskSwitchProofParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that each of the named tasks was switched to once per count, by the switches of all cores and the task's
    counter."""
    least = " or more" if params.or_more else ""
    often = "each count" if params.least_percent == 100 else f"{params.least_percent} % of its counts or more"
    demands = f"each of tasks {', '.join(map(str, params.tasks))} is switched to once{least} for {often}"
    if evidence.observed is None:
        return make_unjudged_proof_finding(params.rule, demands)
    problems: list[str] = []
    seen: list[str] = []
    into = evidence.switch_counts_by_task_and_core()
    for home in evidence.metric_cores:
        counts = evidence.task_counters_of_benchmark_result(home)
        for index in params.tasks:
            count, switched = counts.get(index, 0), sum(into[evidence.task_handle(home, index)].values())
            text = f"task {index} of core {home}: {switched} for {count}"
            too_few = switched < count * params.least_percent / 100 - params.tolerance
            too_many = not params.or_more and switched > count + params.tolerance
            (problems if too_few or too_many or count == 0 else seen).append(text)
    return make_judged_proof_finding(params.rule, demands, problems, seen)
