"""A plain simulation of fixed priorities, unit by unit: equals in the order of arrival, no overhead."""

from __future__ import annotations

from math import lcm

from rtoslab.rta.system import IntegerTaskSet


def longest_responses(system: IntegerTaskSet) -> dict[str, int]:
    """Task -> longest response of the jobs that ended within the offsets and two hyperperiods."""
    periods = lcm(*(task.period for task in system.tasks))
    end = max(task.offset or 0 for task in system.tasks) + 2 * periods
    ready: list[list[int]] = []  # most urgent first: -priority, arrival, task, remaining
    longest = {task.name: 0 for task in system.tasks}
    for now in range(end):
        for index, item in enumerate(system.tasks):
            since = now - (item.offset or 0)
            if since >= 0 and since % item.period == 0:
                ready.append([-item.priority, now, index, item.wcet])
        ready.sort()
        if ready:
            ready[0][3] -= 1
            if ready[0][3] == 0:
                _, arrival, index, _ = ready.pop(0)
                name = system.tasks[index].name
                longest[name] = max(longest[name], now + 1 - arrival)
    return longest
