"""Periodic interrupts that come late, and such as are lost because a request was still pending when the next came.

When an interrupt was due is known of periodic ones alone: their handlers begin on a grid of equal distances. The
lateness of a run of the handler is its distance from the earliest place on the grid. The grid begins with the first
run on it, because firmware often starts a timer twice. A request is lost where interrupts of its priority were held off
over two places of the grid, and the handler then ran once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rtoslab.base import count_with_noun
from rtoslab.diagnose.board_runs import QuickImageRunObservations, RecordedRunHistory
from rtoslab.diagnose.diagnosis_findings import DiagnosisFinding
from rtoslab.diagnose.diagnosis_limits import Limits, microseconds_to_cycles
from rtoslab.diagnose.drawings import timeline_track_of_handlers, timeline_tracks_of_tasks
from rtoslab.diagnose.named_places import RunNameFinder
from rtoslab.diagnose.task_history import HandlerExecution, TaskExecutionHistory
from rtoslab.instruments import INTERVAL
from rtoslab.targets import FIRST_EXTERNAL, SYSTICK

_LEAST_RUNS: Final = 8
_REGULAR_SHARE: Final = 0.6
_JITTER: Final = 0.02
"""Of the period: distances that differ by no more are equal."""
_JITTER_CYCLES: Final = 8
_EARLY: Final = 0.002
"""Of the period: by so little may an interrupt seem to be early, as the grid is not known exactly."""
_OCCUPIED: Final = 0.5
"""Of the grid's places, at least: a burst of equal distances now and then is no period."""
_ON_GRID: Final = 0.25
_ON_GRID_SHARE: Final = 0.8
_ON_KNOWN_GRID_SHARE: Final = 0.5
"""So many come within a quarter of the period; fewer where the period is known."""
_NAMED: Final = 2
_TWO: Final = 2
"""A request stays pending; the second one finds it so, and is lost."""


@dataclass(frozen=True, slots=True)
class PeriodicInterruptTimes:
    """The regular times at which a periodic interrupt should come, and by how much each run of its handler was late."""

    exception: int
    period: float
    runs: Sequence[HandlerExecution]
    numbers: "NDArray[np.int64]"
    """Which place of the grid each run of the handler belongs to."""
    lateness: "NDArray[np.float64]"
    """Cycles from that place to the run's recognition."""


def find_periodic_times(
    exception: int, runs: Sequence[HandlerExecution], period: int | None = None
) -> PeriodicInterruptTimes | None:
    """Returns the regular times of a periodic interrupt, from the runs of its handler. None if it is not periodic.
    `period` is in cycles, None if it is unknown."""
    if len(runs) < _LEAST_RUNS:
        return None
    times = np.array([run.start - run.entry_cycles for run in runs], dtype=np.int64)
    distances = np.diff(times)
    usual = float(period or np.median(distances))
    regular = np.abs(distances - usual) <= max(_JITTER_CYCLES, _JITTER * usual)
    if usual <= 0 or (period is None and float(np.mean(regular)) < _REGULAR_SHARE):
        return None
    steps = np.concatenate([[0], np.cumsum(np.rint(distances / usual).astype(np.int64))])
    exact = float(period) if period else _fit_interrupt_period(times, steps)
    tolerance = max(_JITTER_CYCLES, _EARLY * exact)
    since = (
        times - times[0] - _usual_interrupt_phase_in_period((times - times[0]) % exact, exact, tolerance) + tolerance
    )
    numbers = np.floor(since / exact).astype(np.int64)  # an interrupt is never early, so its place is behind it
    lateness = np.maximum(since - numbers * exact - tolerance, 0.0)
    is_full = numbers[-1] - numbers[0] <= len(runs) / _OCCUPIED
    on_grid = float(np.mean(lateness <= max(_JITTER_CYCLES, _ON_GRID * usual)))
    if not is_full or on_grid < (_ON_GRID_SHARE if period is None else _ON_KNOWN_GRID_SHARE):
        return None
    # Before it first comes on the grid, its timer was set up otherwise: nothing says when it was due then.
    first = int(np.argmax(lateness <= max(_JITTER_CYCLES, _JITTER * usual)))
    return PeriodicInterruptTimes(exception, exact, runs[first:], numbers[first:], lateness[first:])


def _usual_interrupt_phase_in_period(residues: "NDArray[np.float64]", period: float, tolerance: float) -> float:
    """Returns the time within the period at which most interrupts come, in cycles. `residues` are the arrivals' times
    modulo the period."""
    ordered = np.sort(residues)
    around = np.concatenate([ordered, ordered + period])
    counts = np.searchsorted(around, ordered + tolerance, side="right") - np.arange(len(ordered))
    return float(ordered[int(np.argmax(counts))])


def _fit_interrupt_period(times: "NDArray[np.int64]", numbers: "NDArray[np.int64]") -> float:
    """Returns the period of an interrupt in cycles, from the times of its handler's runs and the number of the period
    of each."""
    half = len(times) // 2
    steps = numbers[half:][:half] - numbers[:half]
    return float(np.median((times[half:][:half] - times[:half]) / np.maximum(steps, 1)))


def periodic_interrupt_times(
    history: TaskExecutionHistory, overview: QuickImageRunObservations
) -> list[PeriodicInterruptTimes]:
    """Returns the regular times of each periodic interrupt of core 0."""
    by_exception: dict[int, list[HandlerExecution]] = {}
    for handler in history.handlers:
        if handler.core == 0 and (handler.exception == SYSTICK or handler.exception >= FIRST_EXTERNAL):
            by_exception.setdefault(handler.exception, []).append(handler)
    candidates = (
        find_periodic_times(exception, runs, overview.tick_cycles if exception == SYSTICK else None)
        for exception, runs in sorted(by_exception.items())
    )
    return [grid for grid in candidates if grid is not None]


def find_late_and_lost_interrupts(
    run: RecordedRunHistory,
    overview: QuickImageRunObservations,
    sleeping: frozenset[str],
    names: RunNameFinder,
    limits: Limits,
) -> Iterator[DiagnosisFinding]:
    """Yields findings about periodic interrupts that came late or were lost. `sleeping` are the functions in which
    cores sleep."""
    limit = microseconds_to_cycles(limits.late_us, run.history.clock_hz)
    for grid in periodic_interrupt_times(run.history, overview):
        yield from _find_lost_interrupt_requests(grid, run, overview, sleeping, names)
        worst = int(np.argmax(grid.lateness))
        lateness = int(grid.lateness[worst])
        if lateness > limit:
            count = int(np.count_nonzero(grid.lateness > limit))
            yield _late_handler_execution_finding(grid, grid.runs[worst], lateness, count, run.history, names)


def _late_handler_execution_finding(
    grid: PeriodicInterruptTimes,
    handler: HandlerExecution,
    lateness: int,
    count: int,
    history: TaskExecutionHistory,
    names: RunNameFinder,
) -> DiagnosisFinding:
    """Returns the finding about late runs of a periodic interrupt's handler. `handler` is the worst run, `count` the
    number of late runs."""
    name = names.handler_name(handler.core, grid.exception)
    taken = handler.start - handler.entry_cycles
    due = taken - lateness
    place = names.application_call_path_text(
        names.call_path(handler.core, max(history.start, taken - max(1, lateness // 2)))
    )
    return DiagnosisFinding(
        kind="late interrupt",
        level="warning",
        title=f"{name} came {lateness:,} cycles late. Its period is {grid.period:,.0f} cycles.",
        cycle=due,
        cycles=lateness,
        count=count,
        who=(name,),
        where=(f"in the meantime, {place} ran",),
        tracks=(
            *_timeline_tracks_of_longest_tasks(history, names, due, taken),
            timeline_track_of_handlers(history, name, [grid.exception], due, handler.end),
        ),
        facts={"late_cycles": lateness, "period_cycles": round(grid.period)},
    )


def _timeline_tracks_of_longest_tasks(
    history: TaskExecutionHistory, names: RunNameFinder, start: int, end: int
) -> tuple[Any, ...]:
    """Returns timeline tracks of the tasks that ran longest in an interval."""
    return timeline_tracks_of_tasks(
        history, names, list(history.running_cycles_by_task(start, end))[:_NAMED], start, end
    )


def _find_lost_interrupt_requests(
    grid: PeriodicInterruptTimes,
    run: RecordedRunHistory,
    overview: QuickImageRunObservations,
    sleeping: frozenset[str],
    names: RunNameFinder,
) -> Iterator[DiagnosisFinding]:
    """Yields a finding if requests of a periodic interrupt were lost, about the longest time in which it was held
    off."""
    priority = overview.priorities.get(grid.exception)
    intervals = np.frombuffer(run.recording.observed["intervals"], dtype=INTERVAL)
    mine = intervals[(intervals["priority"] == (-1 if priority is None else priority)) & (intervals["core"] == 0)]
    long: list[Any] = []
    lost = 0
    for before in np.flatnonzero(np.diff(grid.numbers) > 1).tolist():
        first, last = grid.runs[before], grid.runs[before + 1]
        held = mine[(mine["start"] >= first.start) & (mine["start"] < last.start) & (mine["end"] <= last.end)]
        for row in held:
            passed = _count_expected_arrivals(grid, int(row["start"]), int(row["end"]))
            asleep = {names.function_name(int(row["opener_pc"])), names.function_name(int(row["closer_pc"]))} & sleeping
            if passed >= _TWO and not asleep:
                long.append(row)
                lost += passed - 1
    if not long:
        return
    worst = max(long, key=lambda row: int(row["end"]) - int(row["start"]))
    start, end = int(worst["start"]), int(worst["end"])
    name = names.handler_name(0, grid.exception)
    frames = names.call_path(0, start)
    opener = next(
        (frame.function for frame in frames if not frame.is_kernel), names.function_name(int(worst["opener_pc"]))
    )
    opened, closed = (names.source_line(int(worst[side])) for side in ("opener_pc", "closer_pc"))
    yield DiagnosisFinding(
        kind="lost interrupt",
        level="error",
        title=f"{name} was lost {count_with_noun(lost, 'time')}: {opener} blocked it for {end - start:,} cycles, "
        f"longer than its period of {grid.period:,.0f} cycles.",
        cycle=start,
        cycles=end - start,
        count=lost,
        who=(name, opener),
        where=(
            f"in {names.application_call_path_text(frames)}",
            f"blocked from {opened} to {closed}",
        ),
        tracks=(
            *_timeline_tracks_of_longest_tasks(run.history, names, start, end),
            timeline_track_of_handlers(run.history, name, [grid.exception], start, end),
        ),
        facts={"lost": lost, "period_cycles": round(grid.period)},
    )


def _count_expected_arrivals(grid: PeriodicInterruptTimes, start: int, end: int) -> int:
    """Returns how many times a periodic interrupt should have come between two cycles."""
    first = grid.runs[0].start - grid.runs[0].entry_cycles - float(grid.lateness[0])
    return int(np.ceil((end - first) / grid.period) - np.ceil((start - first) / grid.period))
