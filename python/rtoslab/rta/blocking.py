"""Bounds the time that a task waits for less urgent ones: for their critical sections, and while they cannot be
preempted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rtoslab.rta.charges import KernelOverheadTimes, bus_contention_prolongation
from rtoslab.rta.system import IntegerTimeTask, IntegerTimeTaskSet


@dataclass(frozen=True, slots=True)
class CriticalSectionBlocking:
    """The critical sections of less urgent tasks that can block a task. Times include the switches to them and back."""

    once: int = 0
    """The longest time if each less urgent task blocks once, and each resource once."""
    longest: Mapping[str, int] = field(default_factory=dict)
    """By less urgent task, its longest section."""
    total: Mapping[str, int] = field(default_factory=dict)
    """By less urgent task, all sections of one job."""


def longest_blocking_by_lower_tasks(
    task: IntegerTimeTask, peers: Sequence[IntegerTimeTask], system: IntegerTimeTaskSet, charge: KernelOverheadTimes
) -> int:
    """Returns the longest time for which less urgent tasks can block a task (Sha, Rajkumar, Lehoczky 1990).

    `peers` are the tasks of its core, itself included. With inheritance each less urgent task blocks once, and each
    resource once. With either ceiling protocol one section blocks. A masked span blocks once, as the task is released.
    Under the immediate ceiling either the section or the masked span blocks, not both.
    """
    lower = [peer for peer in peers if peer.priority < task.priority]
    masked = max([charge.kernel_blocking, *longest_interrupt_masking_times(lower, charge)])
    sections = critical_sections_of_less_urgent_tasks(task, peers, system, charge)
    if not sections.longest:
        return masked
    longest = max(sections.longest.values())
    if system.protocol == "immediate_ceiling":
        return max(masked, longest)
    if system.protocol == "ceiling":
        return masked + longest
    return masked + sections.once


def critical_sections_of_less_urgent_tasks(
    task: IntegerTimeTask, peers: Sequence[IntegerTimeTask], system: IntegerTimeTaskSet, charge: KernelOverheadTimes
) -> CriticalSectionBlocking:
    """Returns the sections of less urgent tasks that can block a task. `peers` are the tasks of its core.
    The holder of a resource can also inherit the priority of a task of another core.
    """
    urgent = {name for other in system.tasks if other.priority >= task.priority for name, _ in other.sections}
    by_task: dict[str, list[tuple[str, int]]] = {}
    for lower in peers:
        blocking = [
            (name, length + bus_contention_prolongation(length, charge) + charge.inversion)
            for name, length in lower.sections
            if name in urgent
        ]
        if lower.priority < task.priority and blocking:
            by_task[lower.name] = blocking
    longest = {name: max(length for _, length in sections) for name, sections in by_task.items()}
    by_resource: dict[str, int] = {}
    for name, length in (section for sections in by_task.values() for section in sections):
        by_resource[name] = max(by_resource.get(name, 0), length)
    return CriticalSectionBlocking(
        min(sum(longest.values()), sum(by_resource.values())),
        longest,
        {name: sum(length for _, length in sections) for name, sections in by_task.items()},
    )


def longest_interrupt_masking_times(tasks: Iterable[IntegerTimeTask], charge: KernelOverheadTimes) -> list[int]:
    """Returns the longest time for which each task masks interrupts, with the calls that mask and unmask."""
    return [
        task.masked + bus_contention_prolongation(task.masked, charge) + 2 * charge.section
        for task in tasks
        if task.masked
    ]
