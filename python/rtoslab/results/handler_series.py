"""The kernel's own handlers as series of samples: the tick's by the number of tasks it releases, the switch's by its
pair of tasks.

Series ids: `tick.released_3`; `switch.A_B`, with `select.A_B` for the function that chooses the next task, where it is
a function of its own; `tick.entry`, `switch.entry` for the exception's entry before the handler. Tasks have letters by
their index, IDLE_TASK is the kernel's own. Events of the window's control task are left out."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from rtoslab.catalogue import Benchmark
from rtoslab.records import DecodedRun
from rtoslab.results.column import CompactIntegerSequence
from rtoslab.results.results import SeriesSamples
from rtoslab.targets import SYSTICK, UNKNOWN, HandlerRunColumns

IDLE_TASK = "IDLE"
INSTRUMENT = "probe"


@dataclass(frozen=True, slots=True)
class TickWithFollowingTasks:
    """One tick of the window, with the tasks that ran between it and the next one."""

    index: int
    """Its index in the handler runs."""
    ran: frozenset[str]
    """Tasks that were switched to before the next tick."""


def task_names(decoded: DecodedRun, benchmark: Benchmark) -> dict[int, str]:
    """Returns the letter of each task under test, by its control block."""
    return {task.handle: chr(ord("A") + task.index) for task in decoded.tasks if task.index < benchmark.tasks_per_core}


def task_label_of_control_block(block: int, names: dict[int, str], controls: set[int]) -> str | None:
    """Returns the letter of the task with this control block, or IDLE_TASK for a task that the image did not create.
    None for the runner's own task."""
    return None if block in controls else names.get(block, IDLE_TASK)


def ticks_in_window(
    handled: HandlerRunColumns, decoded: DecodedRun, benchmark: Benchmark
) -> list[TickWithFollowingTasks]:
    """Returns every tick of the measurement window but the last, after which not all released tasks could run."""
    names = task_names(decoded, benchmark)
    order = sorted(range(len(handled.exception)), key=handled.start_cycle.__getitem__)
    ticks_: list[TickWithFollowingTasks] = []
    ran: set[str] = set()
    last: int | None = None
    for place in order:
        if handled.exception[place] == SYSTICK:
            if last is not None:
                ticks_.append(TickWithFollowingTasks(last, frozenset(ran)))
            last, ran = place, set()
        if handled.before[place] != handled.after[place] and handled.after[place] in names:
            ran.add(names[handled.after[place]])
    return ticks_


def context_switches_by_task_pair(
    handled: HandlerRunColumns, decoded: DecodedRun, benchmark: Benchmark
) -> dict[tuple[str, str], list[int]]:
    """Returns the indices of the handler runs that switched from one task to another, by the pair (from, to), in the
    order of time."""
    names = task_names(decoded, benchmark)
    controls = {task.handle for task in decoded.tasks if task.index >= benchmark.tasks_per_core}
    switches_: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place in range(len(handled.exception)):
        before, after = handled.before[place], handled.after[place]
        pair = (
            task_label_of_control_block(before, names, controls),
            task_label_of_control_block(after, names, controls),
        )
        if before != after and pair[0] is not None and pair[1] is not None:
            switches_[pair[0], pair[1]].append(place)
    return switches_


def sample_series_of_kernel_handlers(
    handled: HandlerRunColumns, decoded: DecodedRun, benchmark: Benchmark
) -> tuple[SeriesSamples, ...]:
    """Returns the series of samples of the kernel's handlers (tick or switch) that the benchmark shows, in the order of
    their ids."""
    assert benchmark.handlers is not None
    if benchmark.handlers.show == "tick":
        return _tick_series(handled, decoded, benchmark)
    return _context_switch_latency_series(handled, decoded, benchmark)


def _tick_series(handled: HandlerRunColumns, decoded: DecodedRun, benchmark: Benchmark) -> tuple[SeriesSamples, ...]:
    """Returns the samples of the tick handler as series: one for each number of released tasks, and that of its
    entry."""
    by_count: dict[int, list[int]] = defaultdict(list)
    every = ticks_in_window(handled, decoded, benchmark)
    for tick in every:
        by_count[len(tick.ran)].append(tick.index)
    tick_series = [
        _sample_series_of_handler_runs(
            f"tick.released_{count}", f"tick that releases {_task_count_text(count)}", handled, places, handled.cycles
        )
        for count, places in sorted(by_count.items())
    ]
    entry = "entry of the tick's exception"
    return (
        *tick_series,
        _sample_series_of_handler_runs(
            "tick.entry", entry, handled, [tick.index for tick in every], handled.entry_cycles
        ),
    )


def _task_count_text(count: int) -> str:
    """Returns a number of tasks in words."""
    return "no task" if count == 0 else "1 task" if count == 1 else f"{count} tasks"


def _context_switch_latency_series(
    handled: HandlerRunColumns, decoded: DecodedRun, benchmark: Benchmark
) -> tuple[SeriesSamples, ...]:
    """Returns the samples of the handler that switches tasks as series: one for each pair of tasks, and that of its
    entry."""
    pairs = sorted(context_switches_by_task_pair(handled, decoded, benchmark).items())
    switch_series = [
        _sample_series_of_handler_runs(f"switch.{one}_{two}", f"switch {one} to {two}", handled, places, handled.cycles)
        for (one, two), places in pairs
    ]
    switch_series += [
        _sample_series_of_handler_runs(
            f"select.{one}_{two}", f"choice of {two} after {one}", handled, places, handled.select_cycles
        )
        for (one, two), places in pairs
        if all(handled.select_cycles[place] != UNKNOWN for place in places)
    ]
    every = sorted(place for _, places in pairs for place in places)
    return (
        *switch_series,
        _sample_series_of_handler_runs(
            "switch.entry", "entry of the switch's exception", handled, every, handled.entry_cycles
        ),
    )


def _sample_series_of_handler_runs(
    ident: str, title: str, handled: HandlerRunColumns, places: Sequence[int], cycles: Sequence[int]
) -> SeriesSamples:
    """Returns some runs of a handler as a series of samples. `places` are their indices, `cycles` has the cycles of all
    runs."""
    values = CompactIntegerSequence([cycles[place] for place in places])
    return SeriesSamples(
        id=ident,
        title=title,
        instrument=INSTRUMENT,
        comparable=True,
        cycles=values,
        mark_cycles=values,
        start_cycle=CompactIntegerSequence([handled.start_cycle[place] for place in places]),
        switches=CompactIntegerSequence([int(handled.before[place] != handled.after[place]) for place in places]),
        ticks=CompactIntegerSequence([0] * len(places)),
        interrupts=CompactIntegerSequence([handled.interrupted[place] for place in places]),
        steps=_constant_scheduler_search_step_count({handled.steps[place] for place in places}),
    )


def _constant_scheduler_search_step_count(seen: set[int]) -> int | None:
    """Returns the number of steps of the kernel's search if it is the same in all samples. None if it differs or is
    unknown."""
    return seen.pop() if len(seen) == 1 and UNKNOWN not in seen else None
