"""Missed periods: a periodic task calls to sleep until its next period, and that has begun already.

Periodic is a task that sleeps until given ticks. Its period is missed where such a call returns at once. Calls before
the first one that lasts do not count: a task may have to catch up with the time before it began.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rtoslab.base import count_with_noun
from rtoslab.diagnose.diagnosis_findings import DiagnosisFinding
from rtoslab.diagnose.drawings import timeline_tracks_of_tasks
from rtoslab.diagnose.kernel_services import SLEEP_UNTIL
from rtoslab.diagnose.named_places import RunNameFinder
from rtoslab.diagnose.task_history import KernelCall, Task, TaskExecutionHistory, TaskRunInterval

_NAMED = 3
_LEAST_JOBS = 4


@dataclass(frozen=True, slots=True)
class _PeriodicJob:
    """The work of a periodic task from one sleep to the next."""

    release: int
    """When it should have begun: each sleep ends one period after the one before."""
    call: KernelCall
    """The sleep that ends it."""
    slept: bool
    period: int

    @property
    def job_duration_cycles(self) -> int:
        """Returns the cycles from the job's release to its end."""
        return self.call.start - self.release


def find_missed_periods(history: TaskExecutionHistory, names: RunNameFinder) -> Iterator[DiagnosisFinding]:
    """Yields a finding for each periodic task that was still working when its next period began."""
    sleeps: dict[Task, list[KernelCall]] = {}
    for call in history.calls:
        if call.task is not None and call.service.does_serve_any_kernel_service(SLEEP_UNTIL) and call.ended:
            sleeps.setdefault(call.task, []).append(call)
    for task, calls in sleeps.items():
        jobs = _periodic_jobs(history.runs.get(task, []), calls)
        missed = [job for job in jobs if not job.slept]
        if missed:
            yield _make_missed_period_finding(history, names, task, jobs, missed)


def _periodic_jobs(runs: Sequence[TaskRunInterval], calls: Sequence[KernelCall]) -> list[_PeriodicJob]:
    """Returns the jobs of a periodic task, from its first sleep on. `calls` are its calls that sleep until a tick."""
    slept_in = {id(run.blocked_in) for run in runs if run.blocked_in is not None}
    first = next((number for number, call in enumerate(calls) if id(call) in slept_in), len(calls))
    begins = np.array([call.end for call in calls[first:-1]], dtype=np.int64)
    if len(begins) < _LEAST_JOBS:
        return []
    numbers, half = np.arange(len(begins)), len(begins) // 2
    period = float(np.median((begins[half:][:half] - begins[:half]) / half))
    grid = float((begins - numbers * period).min())
    return [
        _PeriodicJob(min(int(grid + number * period), begin), call, id(call) in slept_in, round(period))
        for number, (begin, call) in enumerate(zip(begins.tolist(), calls[first + 1 :], strict=True))
    ]


def _make_missed_period_finding(
    history: TaskExecutionHistory,
    names: RunNameFinder,
    task: Task,
    jobs: Sequence[_PeriodicJob],
    missed: Sequence[_PeriodicJob],
) -> DiagnosisFinding:
    """Returns the finding about a task that missed periods."""
    worst = max(missed, key=lambda job: job.job_duration_cycles)
    end, name = worst.call.start, names.task_name(task)
    running = history.running_cycles_by_task(worst.release, end)
    own = running.pop(task, 0)
    others = {other: cycles for other, cycles in running.items() if not names.is_idle_task(other)}
    shares = [f"{names.task_name(other)} for {cycles:,}" for other, cycles in list(others.items())[:_NAMED]]
    return DiagnosisFinding(
        kind="missed period",
        level="error",
        title=f"{name} missed {len(missed)} of {count_with_noun(len(jobs), 'period')}: a job ended "
        f"{worst.job_duration_cycles:,} cycles after its release, later than its period of {worst.period:,} cycles.",
        cycle=worst.release,
        cycles=worst.job_duration_cycles,
        count=len(missed),
        who=(name, *(names.task_name(other) for other in list(others)[:_NAMED])),
        where=(
            f"{name} calls {worst.call.service.name} too late, at {names.application_call_site_text(worst.call)}",
            f"from the release until then, {name} ran for {own:,} cycles"
            + (f", {', '.join(shares)}" if shares else ""),
        ),
        tracks=timeline_tracks_of_tasks(history, names, [task, *list(others)[:_NAMED]], worst.release, end),
        facts={"period_cycles": worst.period, "job_cycles": worst.job_duration_cycles, "own_cycles": own},
    )
