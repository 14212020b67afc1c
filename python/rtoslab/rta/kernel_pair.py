"""Task sets on two kernels, where each core runs a separate image: the combined image, and the merged traces.

Each kernel has the tasks and interrupts of its core, with a tick of its own. A trace of both has the trace of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from rtoslab.base import TaskSetCheckError
from rtoslab.intake import ElfFile
from rtoslab.rta.record import IDLE, HandlerRun, TaskJob, TaskSetTrace
from rtoslab.rta.rows import InterruptLine, TaskRow

KERNELS: Final = 2


def image_table_rows_of_core(
    rows: Sequence[TaskRow], lines: Sequence[InterruptLine], core: int
) -> tuple[list[TaskRow], list[InterruptLine]]:
    """Returns the tasks and interrupts of one core, as the tables of its own image have them.
    Raises TaskSetCheckError for a task that releases one of the other kernel.
    """
    tasks = task_indices_of_core(rows, core)
    numbers = [number for number, line in enumerate(lines, 1) if line.core == core]
    if any(receiver - 1 not in tasks for at in tasks for receiver in rows[at].numbers_of_released_tasks):
        raise TaskSetCheckError(
            "A task of one kernel cannot release a task of the other one in the image; let both run on one core, or "
            "check the set with one kernel for both cores."
        )
    return [
        replace(
            rows[at],
            core=0,
            line=1 + numbers.index(rows[at].line) if rows[at].line else 0,
            receiver=1 + tasks.index(rows[at].receiver - 1) if rows[at].receiver else 0,
            further_receivers=tuple(1 + tasks.index(receiver - 1) for receiver in rows[at].further_receivers),
        )
        for at in tasks
    ], [replace(lines[number - 1], core=0) for number in numbers]


def task_indices_of_core(rows: Sequence[TaskRow], core: int) -> list[int]:
    """Returns the indices of the tasks of one core."""
    return [at for at, row in enumerate(rows) if row.core == core]


def image_with_embedded_image(image: bytes, embedded: bytes) -> bytes:
    """Returns core 0's ELF file with another version of core 1's image, which it contains.
    Raises TaskSetCheckError if it contains no image of this size at its place.
    """
    try:
        outer, inner = ElfFile(image), ElfFile(embedded)
        parts = [segment for segment in inner.segments if segment.file_bytes]
    except ValueError as cause:
        raise TaskSetCheckError(
            f"The image cannot be read as an ELF image ({cause}); delete its folder and build it again."
        ) from None
    start = min(segment.load_address for segment in parts)
    place = next((segment for segment in outer.segments if segment.load_address == start), None)
    if place is None or any(segment.load_address + segment.file_bytes > start + place.file_bytes for segment in parts):
        raise TaskSetCheckError(
            "Core 0's image does not contain that of core 1; build both from this checkout's firmware."
        )
    result = bytearray(image)
    for segment in parts:
        at = place.offset + segment.load_address - start
        result[at : at + segment.file_bytes] = embedded[segment.offset : segment.offset + segment.file_bytes]
    return bytes(result)


def merge_core_traces(
    rows: Sequence[TaskRow], lines: Sequence[InterruptLine], traces: Sequence[TaskSetTrace]
) -> TaskSetTrace:
    """Returns the traces of all cores as one, with the indices of the whole task set."""
    first = traces[0]
    merged = TaskSetTrace(rows, lines, first.tick_cycles, first.origin, end=first.end, kernels=tuple(traces))
    for core, trace in enumerate(traces):
        tasks = task_indices_of_core(rows, core)
        numbers = [0, *(number for number, line in enumerate(lines, 1) if line.core == core)]
        merged.jobs += [_job_with_system_task_index(job, tasks) for job in trace.jobs]
        merged.unfinished += [_job_with_system_task_index(job, tasks) for job in trace.unfinished]
        merged.sent += [(cycle, tasks[task]) for cycle, task in trace.sent]
        merged.ticks += trace.ticks
        merged.handlers += [
            _renumber_handler_tasks_to_task_set(handler, tasks, numbers, core) for handler in trace.handlers
        ]
    for part in (merged.jobs, merged.handlers):
        part.sort(key=lambda item: item.end)
    return merged


def _job_with_system_task_index(job: TaskJob, tasks: Sequence[int]) -> TaskJob:
    """Returns a job of one core with the index of its task in the whole set."""
    return replace(job, task=tasks[job.task])


def _renumber_handler_tasks_to_task_set(
    handler: HandlerRun, tasks: Sequence[int], numbers: Sequence[int], core: int
) -> HandlerRun:
    """Returns a handler of one core with the indices of the whole set."""
    before, after = (IDLE if at == IDLE else tasks[at] for at in (handler.task_before, handler.task_after))
    return replace(handler, task_before=before, task_after=after, line=numbers[handler.line], core=core)
