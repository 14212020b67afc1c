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
    core: int | None = None
    """The core that the tasks belong to, which need not be one of the metric. The metric's count is then what counts.
    None: the tasks belong to each core of the metric, and each task has a count."""
    ratio: float = 1.0
    """Switches for each count."""
    or_more: bool = False
    """Whether further switches may come between: a task that is preempted is switched to again."""
    least_percent: int = 100
    """The least share of the counts that come by a switch."""
    tolerance: int = 2
    """Switches too many or too few for each task: where the window cuts a round."""


def judge_evidence(params: TaskSwitchProofParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that each of the named tasks was switched to as often as the counts require, by the switches of all cores
    and the counters."""
    least = " or more" if params.or_more else ""
    often = "each count" if params.least_percent == 100 else f"{params.least_percent} % of its counts or more"
    times = "once" if params.ratio == 1 else f"{params.ratio:g} times"
    whose = "" if params.core is None else f" of core {params.core}"
    demands = f"each of tasks {', '.join(map(str, params.tasks))}{whose} is switched to {times}{least} for {often}"
    if evidence.observed is None:
        return make_unjudged_proof_finding(params.rule, demands)
    problems: list[str] = []
    seen: list[str] = []
    into = evidence.switch_counts_by_task_and_core()
    metric = sum(map(evidence.metric_count, evidence.metric_cores))
    for home in evidence.metric_cores if params.core is None else (params.core,):
        counts = evidence.task_counters_of_benchmark_result(home)
        for index in params.tasks:
            count = metric if params.core is not None else counts.get(index, 0)
            switched = sum(into[evidence.task_handle(home, index)].values())
            text = f"task {index} of core {home}: {switched} for {count}"
            required = count * params.ratio
            too_few = switched < required * params.least_percent / 100 - params.tolerance
            too_many = not params.or_more and switched > required + params.tolerance
            (problems if too_few or too_many or count == 0 else seen).append(text)
    return make_judged_proof_finding(params.rule, demands, problems, seen)
