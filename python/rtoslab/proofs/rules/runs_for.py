"""Checks that each task works for the stated time: it runs for the parameter's value from one of its calls to the next.

The times come from the parameters `work_N_us`. The kernel's work for the task, and ticks during its work, come on
top."""

from statistics import median
from typing import Final

from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.results import BenchmarkProofFinding
from rtoslab.targets import steps as seen_steps

_PERIODS: Final = 3
"""A window of so many periods must show the task at work."""


class TaskWorkTimeProofParameters(BenchmarkProofParameters):
    """The parameters of the proof `runs_for` in benchmark.toml. The proof checks that each task works for its stated
    time (`work_N_us`) per job."""

    service: str
    """The service whose call ends a job."""
    percent: float = 15
    """The accepted deviation of the median of all jobs."""
    beside_us: float = 40
    """The kernel's own work on top, in microseconds."""


def judge_evidence(params: TaskWorkTimeProofParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that each task works for its stated time (`work_N_us`) per job, by the switches on core 0 and the task's
    calls."""
    stated = evidence.decoded.params
    work_us = [int(stated[f"work_{index}_us"]) for index in range(26) if f"work_{index}_us" in stated]
    lengths = ", ".join(map(str, work_us))
    demands = f"tasks 0 to {len(work_us) - 1} work for {lengths} us from call to call of {params.service}"
    if evidence.observed is None:
        return make_unjudged_proof_finding(params.rule, demands)
    jobs = _job_cycles_by_task(params, evidence)
    per_us = evidence.decoded.begin.clock_hz / 1e6
    problems: list[str] = []
    seen: list[str] = []
    for index, required_us in enumerate(work_us):
        mine = jobs.get(evidence.task_handle(0, index) or 0, [])
        measured_us = median(mine) / per_us if mine else 0.0
        slack_us = required_us * params.percent / 100
        window_ms = evidence.decoded.begin.window_us / 1000
        too_short = not mine and window_ms < _PERIODS * int(stated[f"period_{index}_ms"])
        good = too_short or -slack_us <= measured_us - required_us <= slack_us + params.beside_us
        (seen if good else problems).append(f"task {index}: {measured_us:.0f} us, {len(mine)} jobs")
    return make_judged_proof_finding(params.rule, demands, problems, seen)


def _job_cycles_by_task(params: TaskWorkTimeProofParameters, evidence: BenchmarkProofEvidence) -> dict[int, list[int]]:
    """Returns the cycles that each task ran between two of its calls, by control block.
    The first job is left out, because it began before the window.
    """
    assert evidence.observed is not None
    functions = evidence.kernel.kernel_facts_for_architecture(evidence.board.cpu).symbols.get(params.service, ())
    ran: dict[int, int] = {}
    jobs: dict[int, list[int]] = {}
    since: tuple[int, int] | None = None
    for step in evidence.observed.steps:
        if step.core != 0:
            continue
        if step.kind == seen_steps.SWITCH:
            if since is not None and step.who in ran:
                ran[step.who] += step.cycle - since[1]
            since = step.first, step.cycle
        elif step.kind == seen_steps.CALL and step.name in functions:
            if step.who in ran and since is not None and since[0] == step.who:
                jobs.setdefault(step.who, []).append(ran[step.who] + step.cycle - since[1])
            ran[step.who] = 0
            since = step.who, step.cycle
    return jobs
