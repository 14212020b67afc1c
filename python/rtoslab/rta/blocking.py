"""How long a task may wait for less urgent ones: their critical sections, and where they are not preempted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rtoslab.rta.charges import Charges
from rtoslab.rta.system import System, Task


def blocking(task: Task, peers: Sequence[Task], system: System, charge: Charges) -> int:
    """The bound for a task among the tasks of its core, itself included (Sha, Rajkumar, Lehoczky 1990).

    With inheritance each less urgent task blocks once, and each resource once. With either ceiling protocol one section
    blocks. A stretch that cannot be preempted is met once, as the task is released. Under the immediate ceiling the
    section and the masked part are two ways to be in the way, and one of them happens."""
    lower = [peer for peer in peers if peer.priority < task.priority]
    masked = max([charge.block, *masks(lower, charge)])
    by_task = [_sections(item, task, peers) for item in lower]
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


def masks(tasks: Iterable[Task], charge: Charges) -> list[int]:
    """The longest stretch that each of those that mask does, with the calls that begin and end it."""
    return [task.masked + 2 * charge.section for task in tasks if task.masked]


def _sections(lower: Task, task: Task, peers: Sequence[Task]) -> dict[str, int]:
    """Resource -> longest section of `lower` that can block `task`: someone at least as urgent uses it too."""
    urgent = {name for peer in peers if peer.priority >= task.priority for name, _ in peer.sections}
    longest: dict[str, int] = {}
    for name, length in lower.sections:
        if name in urgent:
            longest[name] = max(longest.get(name, 0), length)
    return longest
