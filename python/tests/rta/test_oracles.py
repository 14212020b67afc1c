"""Hundreds of random task sets against published tools: `response-time-analysis` (bounds) and SimSo (a simulation)."""

from __future__ import annotations

import warnings
from dataclasses import replace
from math import lcm
from random import Random

import pytest
from response_time_analysis import fp
from response_time_analysis import model as theirs

from rtoslab.rta.analysis import compute_response_time_bounds
from rtoslab.rta.system import IntegerTimeTask, IntegerTimeTaskSet
from tests.rta.simulate import longest_responses
from tests.rta.systems import random_system

with warnings.catch_warnings():  # it loads its modules in a way that Python is about to drop
    warnings.simplefilter("ignore", DeprecationWarning)
    from simso.configuration import Configuration
    from simso.core import Model as Simulation

SETS = 300


def _reference_task(task: IntegerTimeTask, number: int) -> theirs.Task:
    """A stretch of n units without preemption blocks for n - 1 there: the blocked task comes once it has begun. Tasks
    that are alike are one to it; the deadline, which bounds do not depend on, tells them apart."""
    arrivals = theirs.PeriodicWithJitter(task.period, task.jitter) if task.jitter else theirs.Periodic(task.period)
    wcet = theirs.WCET(task.wcet)
    model = theirs.FloatingNonPreemptive(wcet, task.masked + 1) if task.masked else theirs.FullyPreemptive(wcet)
    return theirs.Task(arrivals, model, theirs.Deadline(task.deadline + number), theirs.Priority(task.priority))


@pytest.mark.parametrize("kind", ["plain", "jitter", "masked", "equals"])
def test_bounds_equal_those_of_response_time_analysis(kind: str) -> None:
    random = Random(20261121)
    compared = differ = 0
    for _ in range(SETS):
        plain = random_system(random)
        varied = replace(plain, tasks=tuple(_varied_task(task, kind, random) for task in plain.tasks))
        before, whole = compute_response_time_bounds(plain), compute_response_time_bounds(varied)
        for at, item in enumerate(varied.tasks):
            # Its response is told from the release, so the task under analysis has no jitter.
            own = replace(item, jitter=0)
            system = replace(varied, tasks=(*varied.tasks[:at], own, *varied.tasks[at + 1 :]))
            mine = (
                (whole if system == varied else compute_response_time_bounds(system))
                .find_response_bound(item.name)
                .response
            )
            tasks = theirs.taskset(_reference_task(one, number) for number, one in enumerate(system.tasks))
            solution = fp.rta(tasks, tasks.tasks[at], theirs.IdealProcessor(), horizon=20_000)
            if mine is None:
                assert not solution.bound_found()
                continue
            assert solution.response_time_bound == mine, (system, item)
            compared += 1
            differ += mine != before.find_response_bound(item.name).response
    assert compared > SETS
    if kind == "plain":
        assert differ == 0, "nothing was varied"
    else:
        assert differ >= SETS // 10, "what was varied hardly matters, so that little was compared"


def _varied_task(task: IntegerTimeTask, kind: str, random: Random) -> IntegerTimeTask:
    if kind == "jitter":
        return replace(task, jitter=random.randint(0, task.period))
    if kind == "masked":
        return replace(task, masked=random.randint(0, task.wcet - 1))
    return replace(task, priority=task.priority // 2) if kind == "equals" else task


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_bounds_are_what_simso_observes() -> None:
    """From the critical instant over the hyperperiod, where deadlines are met: the bound is reached, not only kept."""
    random = Random(7)
    compared = 0
    while compared < SETS:
        system = random_system(random, most=4, periods=(4, 5, 6, 8, 10, 12, 15, 20, 24, 30))
        result = compute_response_time_bounds(system)
        if not result.is_schedulable:
            continue
        compared += 1
        observed = _simso_responses(system)
        assert observed == {task.name: task.response for task in result.tasks}, system


def _simso_responses(system: IntegerTimeTaskSet) -> dict[str, int]:
    """Simulated with one cycle a millisecond, the unit."""
    configuration = Configuration()
    configuration.cycles_per_ms = 1
    configuration.duration = lcm(*(task.period for task in system.tasks))
    for number, item in enumerate(system.tasks, 1):
        configuration.add_task(
            name=item.name, identifier=number, period=item.period, activation_date=0, wcet=item.wcet,
            deadline=item.deadline, data={"priority": item.priority}, list_activation_dates=[],
        )  # fmt: skip
    configuration.add_processor(name="core", identifier=1)
    configuration.scheduler_info.clas = "simso.schedulers.FP"
    configuration.check_all()
    simulation = Simulation(configuration)
    simulation.run_model()
    results = simulation.results.tasks.items()
    return {one.name: round(max(job.response_time for job in item.jobs if job.response_time)) for one, item in results}


@pytest.mark.parametrize("kind", ["synchronous", "offsets", "fifo", "late"])
def test_bounds_are_not_exceeded_in_simulation(kind: str) -> None:
    """By this project's own simulation, for what no tool covers; `tight` counts how often the bound is reached."""
    random = Random(99)
    bounds = tight = 0
    for _ in range(SETS):
        system = random_system(random, most=5, load=1.0, periods=(4, 5, 6, 8, 10, 12, 15, 20))
        tasks = system.tasks
        if kind == "offsets":
            tasks = tuple(replace(task, offset=random.randrange(task.period)) for task in tasks)
        if kind == "late":
            tasks = tuple(replace(task, deadline=3 * task.period, priority=random.randint(0, 9)) for task in tasks)
        if kind in {"fifo", "late"}:
            tasks = tuple(replace(task, priority=task.priority // 2) for task in tasks)
        system = replace(system, tasks=tasks, equals="fifo")
        result = compute_response_time_bounds(system)
        observed = longest_responses(system)
        for task in result.tasks:
            if task.response is None:
                continue
            assert observed[task.name] <= task.response, (system, task)
            bounds += 1
            tight += observed[task.name] == task.response
    assert bounds > SETS
    assert tight > {"synchronous": 1.0, "offsets": 0.5, "fifo": 0.5, "late": 0.4}[kind] * bounds - 1


def test_known_offsets_never_raise_a_bound() -> None:
    random = Random(5)
    lower = 0
    for _ in range(SETS):
        system = random_system(random, most=5, periods=(4, 6, 8, 12, 24))
        offset = replace(
            system, tasks=tuple(replace(task, offset=random.randrange(task.period)) for task in system.tasks)
        )
        for without, known in zip(
            compute_response_time_bounds(system).tasks, compute_response_time_bounds(offset).tasks, strict=True
        ):
            if without.response is None:
                assert known.response is None
                continue
            assert known.response is not None
            assert known.response <= without.response
            lower += known.response < without.response
    assert lower > SETS // 2
