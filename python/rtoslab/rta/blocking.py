"""Bounds the time that a task waits for less urgent ones: for their critical sections, and while they cannot be
preempted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rtoslab.rta.charges import KernelCharges, bus_contention_prolongation
from rtoslab.rta.system import IntegerTaskSet, SystemTask


def longest_blocking_by_lower_tasks(
    task: SystemTask, peers: Sequence[SystemTask], system: IntegerTaskSet, charge: KernelCharges
) -> int:
    """Returns the longest time for which less urgent tasks can block a task (Sha, Rajkumar, Lehoczky 1990).

    `peers` are the tasks of its core, itself included. With inheritance each less urgent task blocks once, and each
    resource once. With either ceiling protocol one section blocks. A masked span blocks once, as the task is released.
    Under the immediate ceiling either the section or the masked span blocks, not both.
    """
    lower = [peer for peer in peers if peer.priority < task.priority]
    masked = max([charge.kernel_blocking, *longest_interrupt_masking_times(lower, charge)])
    by_task = [
        {
            name: length + bus_contention_prolongation(length, charge)
            for name, length in _longest_blocking_sections(item, task, peers).items()
        }
        for item in lower
    ]
    longest = [max(item.values()) + charge.inversion for item in by_task if item]
    if not longest:
        return masked
    if system.protocol == "immediate_ceiling":
        return max(masked, *longest)
    if system.protocol == "ceiling":
        return masked + max(longest)
    resources = {name for item in by_task for name in item}
    by_resource = [max(item.get(name, 0) for item in by_task) + charge.inversion for name in resources]
    return masked + min(sum(longest), sum(by_resource))


def longest_interrupt_masking_times(tasks: Iterable[SystemTask], charge: KernelCharges) -> list[int]:
    """Returns the longest time for which each task masks interrupts, with the calls that mask and unmask."""
    return [
        task.masked + bus_contention_prolongation(task.masked, charge) + 2 * charge.section
        for task in tasks
        if task.masked
    ]


def _longest_blocking_sections(lower: SystemTask, task: SystemTask, peers: Sequence[SystemTask]) -> dict[str, int]:
    """Returns the longest critical section of `lower` on each resource that can block `task`."""
    urgent = {name for peer in peers if peer.priority >= task.priority for name, _ in peer.sections}
    longest: dict[str, int] = {}
    for name, length in lower.sections:
        if name in urgent:
            longest[name] = max(longest.get(name, 0), length)
    return longest
