"""The kernel's own handlers as series of samples: the tick's by how many tasks it releases, the switch's by its pair.

Series ids: `tick.released_3`; `switch.A_B`, with `select.A_B` for the function that chooses the next task, where it can
be told apart; `tick.entry`, `switch.entry` for the exception's entry before the handler. Tasks bear letters by their
index, IDLE_TASK is the kernel's own. Events of the window's control task are left out."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from rtoslab.catalogue import Benchmark
from rtoslab.records import DecodedRun
from rtoslab.results.column import Column
from rtoslab.results.results import SeriesSamples
from rtoslab.targets import SYSTICK, UNKNOWN, HandlerRuns

IDLE_TASK = "IDLE"
INSTRUMENT = "probe"


@dataclass(frozen=True, slots=True)
class Tick:
    """One tick of the window with all that followed from it before the next one."""

    place: int
    """In `Handled`."""
    ran: frozenset[str]
    """Tasks that were switched to before the next tick."""


def task_names(decoded: DecodedRun, benchmark: Benchmark) -> dict[int, str]:
    """Control block -> letter, for the tasks under test."""
    return {task.handle: chr(ord("A") + task.index) for task in decoded.tasks if task.index < benchmark.tasks_per_core}


def name_of(block: int, names: dict[int, str], controls: set[int]) -> str | None:
    """Letter, or IDLE_TASK for a task the image did not make. None for the control task."""
    return None if block in controls else names.get(block, IDLE_TASK)


def ticks(handled: HandlerRuns, decoded: DecodedRun, benchmark: Benchmark) -> list[Tick]:
    """Every tick but the last, after which the window is closed before all that was released could run."""
    names = task_names(decoded, benchmark)
    order = sorted(range(len(handled.exception)), key=handled.start_cycle.__getitem__)
    ticks_: list[Tick] = []
    ran: set[str] = set()
    last: int | None = None
    for place in order:
        if handled.exception[place] == SYSTICK:
            if last is not None:
                ticks_.append(Tick(last, frozenset(ran)))
            last, ran = place, set()
        if handled.before[place] != handled.after[place] and handled.after[place] in names:
            ran.add(names[handled.after[place]])
    return ticks_


def switches(handled: HandlerRuns, decoded: DecodedRun, benchmark: Benchmark) -> dict[tuple[str, str], list[int]]:
    """(from, to) -> places in `handled`, in the order of time."""
    names = task_names(decoded, benchmark)
    controls = {task.handle for task in decoded.tasks if task.index >= benchmark.tasks_per_core}
    switches_: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place in range(len(handled.exception)):
        before, after = handled.before[place], handled.after[place]
        pair = name_of(before, names, controls), name_of(after, names, controls)
        if before != after and pair[0] is not None and pair[1] is not None:
            switches_[pair[0], pair[1]].append(place)
    return switches_


def handler_series_of(handled: HandlerRuns, decoded: DecodedRun, benchmark: Benchmark) -> tuple[SeriesSamples, ...]:
    """Returns what the benchmark shows, the series in the order of their ids."""
    assert benchmark.handlers is not None
    if benchmark.handlers.show == "tick":
        return _tick_series(handled, decoded, benchmark)
    return _switch_series(handled, decoded, benchmark)


def _tick_series(handled: HandlerRuns, decoded: DecodedRun, benchmark: Benchmark) -> tuple[SeriesSamples, ...]:
    by_count: dict[int, list[int]] = defaultdict(list)
    every = ticks(handled, decoded, benchmark)
    for tick in every:
        by_count[len(tick.ran)].append(tick.place)
    tick_series = [
        _series(f"tick.released_{count}", f"tick that releases {_tasks(count)}", handled, places, handled.cycles)
        for count, places in sorted(by_count.items())
    ]
    entry = "entry of the tick's exception"
    return (*tick_series, _series("tick.entry", entry, handled, [tick.place for tick in every], handled.entry_cycles))


def _tasks(count: int) -> str:
    return "no task" if count == 0 else "1 task" if count == 1 else f"{count} tasks"


def _switch_series(handled: HandlerRuns, decoded: DecodedRun, benchmark: Benchmark) -> tuple[SeriesSamples, ...]:
    pairs = sorted(switches(handled, decoded, benchmark).items())
    switch_series = [
        _series(f"switch.{one}_{two}", f"switch {one} to {two}", handled, places, handled.cycles)
        for (one, two), places in pairs
    ]
    switch_series += [
        _series(f"select.{one}_{two}", f"choice of {two} after {one}", handled, places, handled.select_cycles)
        for (one, two), places in pairs
        if all(handled.select_cycles[place] != UNKNOWN for place in places)
    ]
    every = sorted(place for _, places in pairs for place in places)
    return (
        *switch_series,
        _series("switch.entry", "entry of the switch's exception", handled, every, handled.entry_cycles),
    )


def _series(
    ident: str, title: str, handled: HandlerRuns, places: Sequence[int], cycles: Sequence[int]
) -> SeriesSamples:
    values = Column([cycles[place] for place in places])
    return SeriesSamples(
        id=ident,
        title=title,
        instrument=INSTRUMENT,
        comparable=True,
        cycles=values,
        mark_cycles=values,
        start_cycle=Column([handled.start_cycle[place] for place in places]),
        switches=Column([int(handled.before[place] != handled.after[place]) for place in places]),
        ticks=Column([0] * len(places)),
        interrupts=Column([handled.interrupted[place] for place in places]),
        steps=_steps({handled.steps[place] for place in places}),
    )


def _steps(seen: set[int]) -> int | None:
    return seen.pop() if len(seen) == 1 and UNKNOWN not in seen else None
