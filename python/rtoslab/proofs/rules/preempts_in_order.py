"""Checks a chain of preemptions: each wake-up switches at once, out of the waking call, to the next task of the list.

Falling back down the chain happens by blocking, so a switch upwards that was not caused by the waking service, or a
missing one, shows that the test did not preempt.
"""

from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.results import BenchmarkProofFinding


class WakeUpSwitchOrderProofParameters(BenchmarkProofParameters):
    """The parameters of the proof `preempts_in_order` in benchmark.toml. The proof checks that each wake-up switched
    at once to the next more urgent task."""

    tasks: tuple[int, ...]
    """The tasks from the least to the most urgent."""
    service: str = "notify_give"
    blocks: str = "notify_take"
    """The service by which a task lets the next less urgent one continue."""
    tolerance: int = 2


def find_watched_services(params: WakeUpSwitchOrderProofParameters) -> tuple[str, ...]:
    """Returns the kernel services whose calls the virtual board must record for this proof rule."""
    return (params.service, params.blocks)


def judge_evidence(params: WakeUpSwitchOrderProofParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that each wake-up switched at once to the next more urgent task, by the observed switches, their causes,
    and each task's counter."""
    demands = (
        f"each {params.service} preempts its caller in favour of the next of tasks {', '.join(map(str, params.tasks))}"
    )
    if evidence.observed is None:
        return make_unjudged_proof_finding(params.rule, demands)
    problems: list[str] = []
    seen: list[str] = []
    for core in evidence.cores:
        counts = evidence.task_counters_of_benchmark_result(core)
        switches = evidence.task_switch_counts_on_core(core)
        steps = []
        for below, above in zip(params.tasks, params.tasks[1:], strict=False):
            ends = (evidence.task_handle(core, below), evidence.task_handle(core, above))
            preempted = sum(
                count
                for switch, count in switches.items()
                if (switch.before, switch.after) == ends and switch.cause == params.service
            )
            other = sum(
                count
                for switch, count in switches.items()
                if (switch.before, switch.after) == ends and switch.cause != params.service
            )
            required = counts.get(above, 0)
            steps.append(preempted)
            if (
                None in ends
                or required == 0
                or abs(preempted - required) > params.tolerance
                or other > params.tolerance
            ):
                problems.append(
                    f"core {core}, task {below} to {above}: {preempted} preemptions by {params.service}, "
                    f"{other} other switches, {required} counts"
                )
        seen.append(f"core {core}: {' + '.join(map(str, steps))} preemptions upwards, one per count")
    return make_judged_proof_finding(params.rule, demands, problems, seen)
