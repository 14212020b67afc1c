"""Task sets made to show what a kernel costs: as rows of the image, and how many ticks each is run for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import product
from random import Random
from typing import Final

from rtoslab.base import CheckError
from rtoslab.rta.arrange import lines_of, rows_of
from rtoslab.rta.firmware import Around, Firmware, Line, Part, Row
from rtoslab.rta.randomsets import event_system
from rtoslab.rta.work import Work

_EVENT_SETS: Final = 80
_CONTENTIONS: Final = 12
_SEED: Final = 2021
_MIXED: Final = 24
_MIXED_TICKS: Final = 60
_ALL_CORES: Final = 80
_LITTLE: Final = 200
"""Cycles."""
_HANDLED: Final = 800
"""Cycles that a handler works before it gives."""
_DIVISORS: Final = (1, 2, 3, 4, 6, 8, 12, 16, 24, 48)
"""Periods that begin together every 48 ticks, and any part of them at other ticks."""
_STEPS: Final = 160
"""Places of a tick in what the kernel does between two jobs."""


def sets(firmware: Firmware, work: Work) -> Iterator[tuple[list[Row], int]]:
    """So many tasks released together, for every number of tasks, in either order of their priorities: while the core
    idles, and while a less or a more urgent job works; then tasks that preempt one another for long."""
    most = min(firmware.most_tasks, firmware.priorities)
    short, long = (
        work.lasting(firmware.tick_cycles // 50),
        work.lasting(2 * firmware.tick_cycles + firmware.tick_cycles // 5),
    )
    for count in range(1, most + 1):
        yield [Row(4, 0, *short, most - 1 - at) for at in range(count)], 24
        yield [Row(4, 0, *short, at) for at in range(count)], 24
    for count in range(1, most):
        for up in (False, True):
            together = [Row(8, 1, *short, 1 + (at if up else count - at - 1)) for at in range(count)]
            yield [Row(8, 0, *long, 0), *together], 32
            yield [*together, Row(8, 0, *long, most - 1)], 32
    random = Random(_SEED)  # noqa: S311 (the same sets every time)
    for count in sorted({2, 3, most // 2, most - 2, most}):
        # They sleep in the order in which they went to: the longer the period, the nearer the head of a list.
        periods = sorted(_DIVISORS[:count], reverse=True)
        rising, falling = list(range(count)), list(range(count))[::-1]
        shuffled, few = random.sample(rising, count), [random.randrange(3) for _ in rising]
        for levels in (rising, falling, shuffled, few):
            rows = [Row(period, 0, *short, at) for period, at in zip(periods, levels, strict=True)]
            yield rows, 48 + 2
            yield [*rows[1:], Row(48, 2, *long, rows[0].priority)], 2 * 48 + 2
    for number in range(_MIXED):
        count = random.randint(most // 2, most)
        periods = [random.choice((2, 3, 4, 5, 7, 9, 11, 13)) for _ in range(count)]
        levels = random.sample(range(count), count) if number % 2 else list(range(count))
        share = 0.6 / count
        yield (
            [
                Row(period, 0, *work.lasting(int(period * firmware.tick_cycles * share * random.uniform(0.5, 1.2))), at)
                for at, period in zip(levels, periods, strict=True)
            ],
            _MIXED_TICKS,
        )


def long_jobs(firmware: Firmware, work: Work) -> Iterator[tuple[list[Row], int]]:
    """Jobs that last many ticks: one alone, equals that may take turns, equals that a more urgent task preempts, and
    all of them among tasks that are released all the time."""
    tick = firmware.tick_cycles
    long = work.lasting(10 * tick + tick // 3)
    equals = [Row(60, 0, *long, 2), Row(60, 1, *long, 2), Row(60, 0, *long, 2)]
    urgent = Row(3, 0, *work.lasting(tick // 4), 4)
    yield [Row(30, 0, *long, 0)], 60
    yield equals, 60
    yield [*equals, urgent], 120
    yield [*equals, urgent, Row(2, 0, *work.lasting(tick // 9), 5), Row(60, 0, *long, 0)], 180


def meetings(firmware: Firmware, work: Work, reach: int) -> Iterator[tuple[list[Row], int]]:
    """Pairs of tasks, each pair at ticks of its own. The first works until so shortly before a tick that the tick falls
    into its end, the switch to the second, or its start. With and without a task that this tick releases."""
    length = 4 * reach
    pairs = (firmware.most_tasks - 1) // 2
    lengths = [firmware.tick_cycles - reach + 40 - length * step // _STEPS for step in range(_STEPS)]
    for at in range(0, _STEPS, pairs):
        part = lengths[at : at + pairs]
        period = 3 * len(part)
        rows = []
        for place, cycles in enumerate(part):
            rows.append(Row(period, 3 * place, *work.lasting(cycles), 5))
            rows.append(Row(period, 3 * place, *work.lasting(reach), 4))
        yield rows, 2 * period
        yield [*rows, Row(1, 0, *work.lasting(200), 6)], 2 * period


def at_home(sets: Iterable[tuple[list[Row], int]], firmware: Firmware) -> Iterator[tuple[list[Row], int]]:
    """Every other one of the sets with all tasks on the first core or the last, and all with each by turns."""
    last = firmware.cores - 1
    for number, (rows, ticks) in enumerate(sets):
        if number % 2:
            yield [replace(row, core=last * (number // 2 % 2)) for row in rows], ticks
        yield [replace(item, core=at % firmware.cores) for at, item in enumerate(rows)], ticks


def on_all_cores(firmware: Firmware, work: Work) -> Iterator[tuple[list[Row], int]]:
    """Short jobs at every tick on one core while long ones work on the other, and random mixtures on both."""
    tick, random = firmware.tick_cycles, Random(_SEED)  # noqa: S311 (the same sets every time)
    for core in range(firmware.cores):
        for many in (1, 3):
            one, long = Row(1, 0, *work.lasting(tick // 50), 1), Row(40, 0, *work.lasting(20 * tick), 0)
            short = [replace(one, priority=1 + at, core=core) for at in range(many)]
            for other in range(firmware.cores):
                yield [*short, replace(long, core=other)], 2 * _MIXED_TICKS
    for _ in range(_ALL_CORES):
        count = random.randint(4, firmware.most_tasks)
        rows = []
        for _ in range(count):
            period = random.choice((1, 2, 3, 4, 5, 7, 9, 11, 13))
            cycles = max(_LITTLE, int(period * tick * random.uniform(0.02, 1.2) / count))
            row = Row(period, random.randrange(period), *work.lasting(cycles), random.randrange(count))
            rows.append(replace(row, core=random.randrange(firmware.cores)))
        yield rows, _MIXED_TICKS


def gives_in_ticks(firmware: Firmware, work: Work, reach: int) -> Iterator[tuple[list[Row], int, list[Line]]]:
    """An interrupt that gives, at every place from shortly before a tick that releases tasks to their first job.

    The task that it wakes is more urgent than those, or less. Its handler works, or gives at once. The core idles as
    the tick comes, or works. A random set meets such a place once in some thousand jobs.
    """
    tick, many = firmware.tick_cycles, min(firmware.most_tasks, firmware.priorities) - 2
    little, long = work.lasting(_LITTLE), work.lasting(20 * tick)
    for released, urgent, handled, busy in product((1, many), (True, False), (0, _HANDLED), (False, True)):
        raised = tuple(tick * (at + 1) + reach * (at - _STEPS) // _STEPS for at in range(2 * _STEPS))
        woken = Row(1, 0, *little, released + 1 if urgent else 1, 1)
        rows = [Row(1, 0, *little, at + (1 if urgent else 2)) for at in range(released)]
        rows += [woken, *([Row(40, 0, *long, 0)] if busy else [])]
        rounds, extra = work.lasting(handled) if handled else (0, 0)
        yield rows, 2 * _STEPS + 2, [Line(rounds, extra, raised, raised)]


def events(firmware: Firmware, work: Work) -> Iterator[tuple[list[Row], int, list[Line]]]:
    """Sets with interrupts that release tasks, sections and masks."""
    tick, random = firmware.tick_cycles, Random(_SEED)  # noqa: S311 (the same sets every time)
    for number in range(_CONTENTIONS):  # a task that comes while a less urgent one, or one of two, holds what it wants
        held = Part(*work.lasting(tick // 2), Around.LOCKED, 0)
        ends, little = Part(*work.lasting(tick // (9 + number))), Part(*work.lasting(200), Around.LOCKED, 0)
        low = [Row(4, index, 1, 0, index, 0, (ends, held, ends)) for index in range(1 + number % 2)]
        yield [*low, Row(1 + number % 3, 0, 1, 0, 5, 0, (ends, little, ends))], _MIXED_TICKS, []
    created = 0
    while created < _EVENT_SETS:
        system = event_system(random, firmware)
        try:
            rows = rows_of(system, firmware, work)
            phases = [random.randrange(3 * firmware.tick_cycles) for _ in system.interrupts]
            lines = lines_of(system, firmware, work, _MIXED_TICKS, phases, random)
        except CheckError:
            continue
        created += 1
        yield rows, _MIXED_TICKS, lines
