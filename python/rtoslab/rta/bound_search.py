"""The search for a broken bound: random sets of every shape, then neighbours of those that come nearest to theirs.

A finding is a job above its bound, a bound by the worst tick below that by the split tick, or something that the
overheads do not cover. Each is shrunk to the smallest set that still shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import inf, lcm
from random import Random
from typing import Final

from rtoslab.base import CheckError
from rtoslab.catalogue import Catalogue
from rtoslab.rta.analysis import analyse
from rtoslab.rta.arrange import lines_of, rows_of
from rtoslab.rta.charges import Model
from rtoslab.rta.firmware import Firmware
from rtoslab.rta.images import Images
from rtoslab.rta.ledger import enter
from rtoslab.rta.overheads import Overheads
from rtoslab.rta.prices import uncovered_entries
from rtoslab.rta.randomsets import SHAPES, change_one_task, cores_system, event_system, system_of_shape
from rtoslab.rta.responses import responses
from rtoslab.rta.system import System, Task
from rtoslab.rta.trace import run
from rtoslab.rta.work import Work

LEAST_TICKS: Final = 60
MOST_TICKS: Final = 400
_NEIGHBOURS: Final = 6
"""Tried from each set that is searched further."""


@dataclass(frozen=True, slots=True)
class SearchedSet:
    """One set, run. `starts`: the first ticks of its tasks, then the first raisings of its interrupts in cycles."""

    shape: str
    seed: int
    system: System
    starts: tuple[int, ...]
    jobs: int
    nearest: float
    """The bound over the longest response, the least of its tasks. Infinite if no task has both."""
    ratios: Mapping[str, float]
    """The ratios of each task and interrupt that has both."""
    findings: tuple[str, ...]
    """Sentences. Empty if everything held."""


@dataclass(frozen=True)
class Bench:
    """The bench that runs the sets."""

    firmware: Firmware
    work: Work
    overheads: Overheads

    @classmethod
    def build(
        cls,
        catalogue: Catalogue,
        kernel: str,
        board: str,
        config: Mapping[str, str],
        *,
        events: bool = False,
        cores: int = 1,
        progress: Callable[[str], object] = lambda _: None,
    ) -> Bench:
        """Built, calibrated and measured. Raises BuildError, ConformanceError, CheckError."""
        progress(f"building and calibrating {kernel} on {board}")
        images = Images.build(catalogue, kernel, board, config, events=events, cores=cores)
        progress("measuring the kernel's overheads")
        return cls(images.firmware, images.work, images.overheads(catalogue))

    def attempt(self, system: System, starts: tuple[int, ...], shape: str = "", seed: int = 0) -> SearchedSet:
        """Runs a set and holds it against its bounds. Raises CheckError where it cannot be run."""
        count = len(system.tasks)
        rows = [
            row if row.line else replace(row, offset_ticks=offset)
            for row, offset in zip(rows_of(system, self.firmware, self.work), starts[:count], strict=True)
        ]
        # The work that can be had may be shorter than the wcet. The bound is for what is run.
        tasks = tuple(
            replace(item, wcet=self.work.of(row) * system.units_per_cycle)
            for item, row in zip(system.tasks, rows, strict=True)
        )
        system = replace(system, tasks=tasks)
        hyperperiod = lcm(*(item.period_ticks for item in rows if not item.line))
        ticks = max(LEAST_TICKS, min(MOST_TICKS, hyperperiod))
        # Every other one is as late each time as it happens to be.
        late = Random(sum(starts)) if sum(starts) % 2 else None  # noqa: S311 (seeded on purpose)
        lines = lines_of(system, self.firmware, self.work, ticks, starts[count:], late)
        trace = run(self.firmware, rows, ticks, lines)
        ledger = enter([trace], self.work)
        findings = [
            f"{excess.what} took {excess.took} cycles and is charged with {excess.charged}"
            for excess in uncovered_entries(ledger, self.overheads, len(rows))[:1]
        ]
        ratios = {}
        analyses = {model: analyse(system, self.overheads, model) for model in (Model.WORST_TICK, Model.PARTITION)}
        for seen in responses(system, trace):
            bound, worse = (
                analyses[model].find_bound(seen.name).response for model in (Model.PARTITION, Model.WORST_TICK)
            )
            if worse is not None and (bound is None or bound > worse):
                findings.append(f"{seen.name}: bound by the worst tick {worse}, below that by the split tick, {bound}")
            if seen.exceeds(bound):
                findings.append(f"{seen.name} took {seen.longest} cycles, its bound is {bound}")
            if bound is not None and seen.ended:
                ratios[seen.name] = bound / max(seen.ended)
        nearest = min(ratios.values(), default=inf)
        return SearchedSet(shape, seed, system, starts, len(trace.jobs), nearest, ratios, tuple(findings))

    def fails(self, system: System, starts: tuple[int, ...]) -> bool:
        """Whether anything is found. A set that cannot be run shows nothing."""
        try:
            return bool(self.attempt(system, starts).findings)
        except CheckError:
            return False


def search(bench: Bench, sets: int, seed: int, shapes: tuple[str, ...] = tuple(SHAPES)) -> Iterator[SearchedSet]:
    """Tries so many sets: random ones of the shapes by turns, and as many neighbours of those nearest their bound."""
    tick = bench.firmware.tick_cycles
    near: list[SearchedSet] = []
    tried = number = 0
    while tried < sets:
        random = Random(f"{seed} {number}")  # noqa: S311 (seeded on purpose)
        shape, system = _draw(bench, random, shapes[number % len(shapes)])
        number += 1
        starts = tuple(
            random.randrange(task.period // tick + 1) if random.random() < 0.2 else 0 for task in system.tasks
        )
        phases = tuple(random.randrange(3 * tick) if random.random() < 0.7 else 0 for _ in system.interrupts)
        finding = _try(bench, system, (*starts, *phases), shape, number - 1)
        for _ in range(min(_NEIGHBOURS, sets - tried - 1) if number % _NEIGHBOURS == 0 and near else 0):
            from_ = random.choice(near)
            neighbour, moved = change_one_task(random, from_.system, from_.starts, tick)
            finding += _try(bench, neighbour, moved, f"near: {from_.shape.removeprefix('near: ')}", from_.seed)
        tried += len(finding)
        near = sorted([*near, *finding], key=lambda attempt: attempt.nearest)[: 2 * _NEIGHBOURS]
        yield from finding


def _draw(bench: Bench, random: Random, shape: str) -> tuple[str, System]:
    """A set of the shape. With the image that has events every set has some."""
    firmware = bench.firmware
    if firmware.cores > 1:
        bus = bench.overheads.smp.contention_permille
        return shape, cores_system(random, SHAPES[shape], firmware, bus)
    if firmware.events:
        return "events", event_system(random, firmware)
    return shape, system_of_shape(random, SHAPES[shape], firmware.clock_hz, firmware.tick_cycles)


def _try(bench: Bench, system: System, starts: tuple[int, ...], shape: str, seed: int) -> list[SearchedSet]:
    """Empty where it cannot be run on this board."""
    try:
        return [bench.attempt(system, starts, shape, seed)]
    except CheckError:
        return []


def shrunk(bench: Bench, system: System, starts: tuple[int, ...]) -> tuple[System, tuple[int, ...]]:
    """The smallest set that still shows a finding: fewer tasks, all at once, shorter and rounder work."""
    shorter = True
    while shorter:
        shorter = False
        for candidate in _smaller(system, starts):
            if bench.fails(*candidate):
                system, starts = candidate
                shorter = True
                break
    return system, starts


def _smaller(system: System, starts: tuple[int, ...]) -> Iterator[tuple[System, tuple[int, ...]]]:
    tasks, interrupts, count = system.tasks, system.interrupts, len(system.tasks)
    for at, task in enumerate(tasks if count > 1 else ()):
        numbers = [number for number, item in enumerate(interrupts) if item.gives != task.name]
        yield (
            replace(system, tasks=tasks[:at] + tasks[at + 1 :], interrupts=tuple(interrupts[item] for item in numbers)),
            (*starts[:at], *starts[at + 1 : count], *(starts[count + item] for item in numbers)),
        )
    for at, item in enumerate(interrupts):
        if not item.gives:
            rest = interrupts[:at] + interrupts[at + 1 :]
            yield replace(system, interrupts=rest), starts[: count + at] + starts[count + at + 1 :]
    if any(starts):
        yield system, (0,) * len(starts)
    cuts: tuple[Callable[[int], int], ...] = (lambda wcet: wcet // 2, lambda wcet: wcet - wcet % 1000)
    for at, task in enumerate(tasks):
        if task.calls:
            yield _instead(system, at, replace(task, sections=task.sections[1:], masked=0)), starts
            continue
        for cut in cuts:
            wcet = cut(task.wcet)
            if 0 < wcet < task.wcet:
                yield _instead(system, at, replace(task, wcet=wcet)), starts


def _instead(system: System, at: int, task: Task) -> System:
    return replace(system, tasks=(*system.tasks[:at], task, *system.tasks[at + 1 :]))
