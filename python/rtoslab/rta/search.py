"""The search for a broken bound: random sets of every shape, then neighbours of those that come nearest to theirs.

A finding is a job above bound (c), a bound (b) below (c), or something that the overheads do not cover. Each is shrunk
to the smallest set that still shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import inf, lcm
from random import Random
from typing import Final

from rtoslab.errors import CheckError
from rtoslab.rta.analysis import analyse
from rtoslab.rta.charges import Model
from rtoslab.rta.check import rows_of
from rtoslab.rta.firmware import Firmware
from rtoslab.rta.ledger import enter
from rtoslab.rta.overheads import Overheads
from rtoslab.rta.prices import uncovered
from rtoslab.rta.randomsets import SHAPES, changed, shaped_system
from rtoslab.rta.system import System
from rtoslab.rta.trace import run
from rtoslab.rta.work import Work

LEAST_TICKS: Final = 60
MOST_TICKS: Final = 400
_NEIGHBOURS: Final = 6
"""Tried from each set that is searched further."""


@dataclass(frozen=True, slots=True)
class Tried:
    """One set, run: the offsets are its tasks' first ticks."""

    shape: str
    seed: int
    system: System
    offsets: tuple[int, ...]
    jobs: int
    nearest: float
    """Bound (c) over longest response, the least of its tasks; infinite if no task has both."""
    ratios: tuple[float, ...]
    findings: tuple[str, ...]
    """Sentences; empty if everything held."""


@dataclass(frozen=True)
class Bench:
    """What sets are run on."""

    firmware: Firmware
    work: Work
    overheads: Overheads

    def attempt(self, system: System, offsets: tuple[int, ...], shape: str = "", seed: int = 0) -> Tried:
        """Runs a set and holds it against its bounds. Raises CheckError where it cannot be run."""
        rows = [
            replace(row, offset_ticks=offset)
            for row, offset in zip(rows_of(system, self.firmware, self.work), offsets, strict=True)
        ]
        # The work that can be had may be shorter than the wcet; the bound is for what is run.
        tasks = tuple(
            replace(each, wcet=self.work.cycles(row.rounds, row.extra) * system.units_per_cycle)
            for each, row in zip(system.tasks, rows, strict=True)
        )
        system = replace(system, tasks=tasks)
        hyperperiod = lcm(*(each.period_ticks for each in rows))
        trace = run(self.firmware, rows, max(LEAST_TICKS, min(MOST_TICKS, hyperperiod)))
        found = {model: analyse(system, self.overheads, model) for model in (Model.WORST_TICK, Model.PARTITION)}
        findings = [
            f"{each.what} took {each.took} cycles and is charged with {each.charged}"
            for each in uncovered(enter([trace], self.work), self.overheads, len(rows))[:1]
        ]
        ratios = []
        for at, task in enumerate(system.tasks):
            bound, worse = (found[model].bound(task.name).response for model in (Model.PARTITION, Model.WORST_TICK))
            responses = [each.response for each in trace.jobs if each.task == at]
            open_ = [each.response for each in trace.unfinished if each.task == at]
            if worse is not None and (bound is None or bound > worse):
                findings.append(f"{task.name}: bound (b) is {worse}, below (c), {bound}")
            if bound is None:
                continue
            longest = max([*responses, *open_], default=0)
            if longest > bound:
                findings.append(f"{task.name} took {longest} cycles, its bound is {bound}")
            if responses:
                ratios.append(bound / max(responses))
        nearest = min(ratios, default=inf)
        return Tried(shape, seed, system, offsets, len(trace.jobs), nearest, tuple(ratios), tuple(findings))

    def fails(self, system: System, offsets: tuple[int, ...]) -> bool:
        """Whether anything is found; what cannot be run shows nothing."""
        try:
            return bool(self.attempt(system, offsets).findings)
        except CheckError:
            return False


def search(bench: Bench, sets: int, seed: int, shapes: tuple[str, ...] = tuple(SHAPES)) -> Iterator[Tried]:
    """Tries so many sets: random ones of the shapes by turns, and as many neighbours of those nearest their bound."""
    firmware = bench.firmware
    near: list[Tried] = []
    tried = number = 0
    while tried < sets:
        shape = shapes[number % len(shapes)]
        random = Random(f"{seed} {number}")  # noqa: S311 (seeded on purpose)
        number += 1
        system = shaped_system(random, SHAPES[shape], firmware.clock_hz, firmware.tick_cycles)
        offsets = tuple(
            random.randrange(each.period // firmware.tick_cycles) if random.random() < 0.2 else 0
            for each in system.tasks
        )
        for one in _tried(bench, system, offsets, shape, number - 1):
            tried += 1
            near = sorted([*near, one], key=lambda each: each.nearest)[:_NEIGHBOURS]
            yield one
        for _ in range(min(_NEIGHBOURS, sets - tried) if number % _NEIGHBOURS == 0 else 0):
            from_ = random.choice(near)
            neighbour, moved = changed(random, from_.system, from_.offsets, firmware.tick_cycles)
            for one in _tried(bench, neighbour, moved, f"near: {from_.shape}", from_.seed):
                tried += 1
                near = sorted([*near, one], key=lambda each: each.nearest)[: 2 * _NEIGHBOURS]
                yield one


def _tried(bench: Bench, system: System, offsets: tuple[int, ...], shape: str, seed: int) -> Iterator[Tried]:
    """None where it cannot be run on this board."""
    try:
        yield bench.attempt(system, offsets, shape.removeprefix("near: ") if shape.count("near") > 1 else shape, seed)
    except CheckError:
        return


def shrunk(bench: Bench, system: System, offsets: tuple[int, ...]) -> tuple[System, tuple[int, ...]]:
    """The smallest set that still shows a finding: fewer tasks, no offsets, shorter and rounder work."""
    shorter = True
    while shorter:
        shorter = False
        for candidate in _smaller(system, offsets):
            if bench.fails(*candidate):
                system, offsets = candidate
                shorter = True
                break
    return system, offsets


def _smaller(system: System, offsets: tuple[int, ...]) -> Iterator[tuple[System, tuple[int, ...]]]:
    tasks = system.tasks
    for at in range(len(tasks) if len(tasks) > 1 else 0):
        yield replace(system, tasks=tasks[:at] + tasks[at + 1 :]), offsets[:at] + offsets[at + 1 :]
    if any(offsets):
        yield system, (0,) * len(offsets)
    cuts: tuple[Callable[[int], int], ...] = (lambda wcet: wcet // 2, lambda wcet: wcet - wcet % 1000)
    for at, task in enumerate(tasks):
        for cut in cuts:
            wcet = cut(task.wcet)
            if 0 < wcet < task.wcet:
                yield replace(system, tasks=(*tasks[:at], replace(task, wcet=wcet), *tasks[at + 1 :])), offsets
