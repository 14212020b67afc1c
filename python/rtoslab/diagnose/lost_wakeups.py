"""Lost wake-ups: a task is resumed while it is not suspended, and then suspends itself for ever.

A resume is not remembered. A task that looks whether there is work, and suspends itself if not, can be interrupted
between the two by the one that makes the work.
"""

from collections.abc import Iterator

from rtoslab.diagnose.diagnosis_findings import DiagnosisFinding
from rtoslab.diagnose.drawings import timeline_tracks_of_tasks
from rtoslab.diagnose.kernel_services import RESUMES
from rtoslab.diagnose.named_places import RunNameFinder
from rtoslab.diagnose.task_history import KernelCall, Task, TaskExecutionHistory


def find_lost_wakeups(history: TaskExecutionHistory, names: RunNameFinder) -> Iterator[DiagnosisFinding]:
    """Yields a finding for each task that is suspended at the end of the run, and was last resumed just before it
    suspended itself."""
    suspends: dict[Task, list[KernelCall]] = {}
    resumes: dict[Task, list[KernelCall]] = {}
    for call in history.calls:
        if (
            call.service.does_serve_any_kernel_service("suspend_self")
            and call.task is not None
            and call.object in {0, call.task}
        ):
            suspends.setdefault(call.task, []).append(call)
        elif call.service.does_serve_any_kernel_service(*RESUMES):
            resumes.setdefault(call.object, []).append(call)
    for task, calls in suspends.items():
        last = calls[-1]
        before = [call for call in resumes.get(task, []) if call.start < last.start]
        after = [call for call in resumes.get(task, []) if call.start >= last.start]
        ended = calls[-2].end if len(calls) > 1 else history.start
        if _is_suspended_to_the_end(history, task, last) and before and not after and before[-1].start > ended:
            yield _make_lost_wakeup_finding(history, names, task, before[-1], last)


def _is_suspended_to_the_end(history: TaskExecutionHistory, task: Task, suspend: KernelCall) -> bool:
    """Whether the task never ran again after this call that suspended it."""
    last = history.runs[task][-1] if history.runs.get(task) else None
    return not suspend.ended or (last is not None and last.ended and last.start <= suspend.start)


def _make_lost_wakeup_finding(
    history: TaskExecutionHistory, names: RunNameFinder, task: Task, resume: KernelCall, suspend: KernelCall
) -> DiagnosisFinding:
    """Returns the finding about a task that was resumed too early, and then suspended itself for ever."""
    name = names.task_name(task)
    waker = names.task_name(resume.task) if resume.task is not None else names.handler_name(resume.core, resume.handler)
    others = [resume.task] if resume.task is not None else []
    return DiagnosisFinding(
        kind="lost wake-up",
        level="warning",
        title=f"{name} suspended itself and is never resumed: {waker} resumed it {suspend.start - resume.start:,} "
        "cycles earlier, while it was still running.",
        cycle=suspend.start,
        cycles=history.end - suspend.start,
        who=(name, waker),
        where=(
            f"{waker} resumes it at {names.application_call_site_text(resume)}",
            f"{name} suspends itself at {names.application_call_site_text(suspend)}",
        ),
        tracks=timeline_tracks_of_tasks(
            history, names, [task, *others], resume.start, suspend.start + suspend.start - resume.start
        ),
    )
