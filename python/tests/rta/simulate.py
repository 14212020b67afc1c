"""A plain simulation of fixed priorities, unit by unit: equals in the order of arrival, no overhead."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import lcm
from random import Random
from typing import Any

from rtoslab.rta.system import IntegerTimeTask, IntegerTimeTaskSet


def longest_responses(system: IntegerTimeTaskSet) -> dict[str, int]:
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


def longest_chain_responses(system: IntegerTimeTaskSet, late: Callable[[int], int], periods: int) -> dict[str, int]:
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


@dataclass
class _Job:
    """A job in the simulation of shared resources. `left` has its segments: a resource or "", and the work left."""

    task: int
    arrival: int
    left: list[list[Any]]
    priority: int
    order: int
    held: str = ""
    awaited: str = ""


def longest_responses_with_resources(system: IntegerTimeTaskSet, random: Random, periods: int) -> dict[str, int]:
    """Task -> longest response, with resources that tasks of several cores share, as FreeRTOS has them.

    A task that finds a resource taken is suspended, and the holder inherits its priority. The end of a section wakes
    the most urgent waiter, which must take the resource itself: another task may be first. Which core acts first in a
    unit of time is random, and so is the first arrival of each task.
    """
    tasks = system.tasks
    arrivals: list[tuple[int, int, int]] = []
    for at, task in enumerate(tasks):
        first = random.randrange(task.period) if random.random() < 0.7 else 0
        times = range(first, first + periods * task.period, task.period)
        arrivals += [(arrival + random.randint(0, task.jitter), at, arrival) for arrival in times]
    arrivals.sort(reverse=True)
    waiting: list[list[_Job]] = [[] for _ in tasks]  # the jobs of each task, one after the other
    holders: dict[str, _Job] = {}
    longest = dict.fromkeys((task.name for task in tasks), 0)
    now = order = 0
    while arrivals or any(waiting):
        while arrivals and arrivals[-1][0] <= now:
            _, at, arrival = arrivals.pop()
            order += 1
            waiting[at].append(_Job(at, arrival, _segments(tasks[at], random), tasks[at].priority, order))
        for core in random.sample(system.used_core_numbers, len(system.used_core_numbers)):
            pending = [jobs[0] for jobs in waiting if jobs]
            job = _running_job([job for job in pending if tasks[job.task].core == core], holders)
            if job is None:
                continue
            job.left[0][1] -= 1
            if job.left[0][1] == 0:
                _end_segment(job, pending, holders, tasks[job.task].priority)
            if not job.left:
                waiting[job.task].pop(0)
                task = tasks[job.task]
                longest[task.name] = max(longest[task.name], now + 1 - job.arrival)
        now += 1
    return longest


def _running_job(jobs: list[_Job], holders: dict[str, _Job]) -> _Job | None:
    """The job that a core executes. Before, jobs that find their resource taken begin to wait for it."""
    while ready := [job for job in jobs if not job.awaited]:
        job = max(ready, key=lambda item: (item.priority, -item.order))
        name = job.left[0][0]
        if not name or job.held:
            return job
        if name not in holders:
            holders[name], job.held = job, name
            return job
        job.awaited = name
        holders[name].priority = max(holders[name].priority, job.priority)
    return None


def _segments(task: IntegerTimeTask, random: Random) -> list[list[Any]]:
    """The job's sections in their order, with its other work before, between and after them."""
    plain = task.wcet - sum(length for _, length in task.sections)
    cuts = sorted(random.randint(0, plain) for _ in task.sections)
    segments: list[list[Any]] = []
    for before, cut, section in zip([0, *cuts], cuts, task.sections, strict=False):
        segments += [["", cut - before], [*section]]
    segments.append(["", plain - (cuts[-1] if cuts else 0)])
    return [segment for segment in segments if segment[1]]


def _end_segment(job: _Job, jobs: list[_Job], holders: dict[str, _Job], base: int) -> None:
    """Ends the first segment of a job, and the section with it."""
    name, _ = job.left.pop(0)
    if name:
        del holders[name]
        job.held, job.priority = "", base
        waiters = [other for other in jobs if other.awaited == name]
        if waiters:
            max(waiters, key=lambda other: (other.priority, -other.order)).awaited = ""
