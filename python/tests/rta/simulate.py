"""A plain simulation of fixed priorities, unit by unit: equals in the order of arrival, no overhead."""

from __future__ import annotations

from collections.abc import Callable
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


def longest_chain_responses(system: IntegerTaskSet, late: Callable[[int], int], periods: int) -> dict[str, int]:
    """Task -> longest response from the arrival of its chain's first job, over so many periods of each first task.

    The first releases are together. `late(jitter)`: how much after its arrival each later job is released. Equals run
    in the order of their releases. Each core runs its own tasks.
    """
    tasks = system.tasks
    number = {task.name: at for at, task in enumerate(tasks)}
    releases: dict[int, list[tuple[int, int]]] = {}  # time: (task, arrival)
    for at, task in enumerate(tasks):
        for job in range(0 if task.sender else periods):
            arrival = job * task.period - task.jitter
            release = arrival + (late(task.jitter) if job else task.jitter)
            releases.setdefault(release, []).append((at, arrival))
    ready: list[tuple[int, int, int, int, list[int]]] = []  # most urgent first
    longest = dict.fromkeys(number, 0)
    now = order = 0
    while ready or releases:
        for at, arrival in releases.pop(now, ()):
            order += 1
            ready.append((-tasks[at].priority, order, at, arrival, [tasks[at].wcet]))
        ready.sort()
        now += 1
        running = {tasks[entry[2]].core: entry for entry in reversed(ready)}
        for entry in running.values():
            _, _, at, arrival, left = entry
            left[0] -= 1
            if left[0] == 0:
                ready.remove(entry)
                task = tasks[at]
                longest[task.name] = max(longest[task.name], now - arrival)
                releases.setdefault(now, []).extend((number[name], arrival) for name in task.gives)
    return longest
