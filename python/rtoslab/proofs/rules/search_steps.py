"""Checks a kernel that searches for the most urgent ready task: it goes down one priority a step, from that of the last
task to that of the next one.

Going up takes no step, because a task that becomes ready raises the priority at which the search begins.
"""

from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.results import IDLE_TASK, BenchmarkProofFinding, context_switches_by_task_pair, task_names
from rtoslab.targets import UNKNOWN

BELOW_ALL = -1
"""The priority of the idle task, below the abstract priorities, which begin at 0."""


class SchedulerSearchProofParameters(BenchmarkProofParameters):
    """The parameters of the proof `search_steps` in benchmark.toml. The proof checks how many priorities the kernel's
    search for the next task went down at each switch."""


def judge_evidence(params: SchedulerSearchProofParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks how many priorities the kernel's search for the next task went down at each switch, by its word with the
    most urgent ready priority."""
    demands = "the search takes a step for each priority that the next task is below the last one, and none upwards"
    if evidence.observed is None or evidence.observed.handled is None or evidence.kernel.probes is None:
        return make_unjudged_proof_finding(params.rule, demands)
    handled = evidence.observed.handled
    names = task_names(evidence.decoded, evidence.benchmark)
    priority = {names[task.handle]: task.priority for task in evidence.decoded.tasks if task.handle in names}
    priority[IDLE_TASK] = BELOW_ALL
    problems: list[str] = []
    steps: dict[str, int] = {}
    for (one, two), places in sorted(
        context_switches_by_task_pair(handled, evidence.decoded, evidence.benchmark).items()
    ):
        seen = {handled.steps[place] for place in places}
        if seen == {UNKNOWN}:
            return make_unjudged_proof_finding(
                params.rule, demands, "the kernel does not search: it keeps its ready priorities as bits"
            )
        required = max(0, priority[one] - priority[two])
        steps[f"{one}_{two}"] = required
        if seen != {required}:
            problems.append(f"{one} to {two} took {', '.join(map(str, sorted(seen)))} steps, {required} expected")
    text = ", ".join(f"{pair} {count}" for pair, count in steps.items() if count)
    if not steps:
        problems.append("no switch between the tasks under test was seen")
    return make_judged_proof_finding(params.rule, demands, problems, [f"steps: {text}"])
