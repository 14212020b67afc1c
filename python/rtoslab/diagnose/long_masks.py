"""Interrupts that are masked for long after start-up, or held off by a handler as urgent as they are, or more.

Looked at is each interrupt that is enabled at the end of the run, at its priority. Its own handler does not count, nor
does code that sleeps with interrupts masked: an interrupt wakes it.
"""

from collections import defaultdict
from collections.abc import Iterator

from rtoslab.diagnose.board_runs import QuickImageRunObservations
from rtoslab.diagnose.diagnosis_findings import DiagnosisFinding, FindingTimelineBar, TimelineTrack
from rtoslab.diagnose.diagnosis_limits import Limits, microseconds_to_cycles
from rtoslab.diagnose.drawings import timeline_track_of_handlers, timeline_tracks_of_tasks, widen_time_interval
from rtoslab.diagnose.named_places import RunNameFinder
from rtoslab.diagnose.task_history import TaskExecutionHistory
from rtoslab.instruments import (
    WAYS,
    InterruptMaskingIntervals,
    Profile,
    function_that_masked_interrupts,
    innermost_function,
)
from rtoslab.targets import APPLICATION, SYSTICK

_SHOWN = 5
_TICKS_WAIT = 10
"""Of so many ticks none came: interrupts stay masked, and are not just so as the run ends."""
_ICSR = 0xE000_ED04
_SYSTICK_PENDS = 1 << 26
"""Armv7-M Architecture Reference Manual, DDI 0403E.e, B3.2.4; ARMv6-M has the same."""
_SLEEP = WAYS.index("sleep")
_CRITICAL = "critical"
"""The class of functions that only mask, in kernel.toml."""


def functions_with_core_asleep(profile: Profile) -> frozenset[str]:
    """Returns the names of the functions in which a core slept."""
    return frozenset(innermost_function(spent.stack) for spent in profile.spent if spent.cycles[_SLEEP])


def sort_longest_masked_intervals(
    profile: Profile, overview: QuickImageRunObservations
) -> list[tuple[InterruptMaskingIntervals, tuple[int, ...]]]:
    """Returns the intervals with masked interrupts, the longest first, each with the numbers of the exceptions that had
    to wait."""
    priorities = overview.priorities
    sleeping = functions_with_core_asleep(profile)
    affected: dict[tuple[object, ...], set[int]] = defaultdict(set)
    intervals: dict[tuple[object, ...], InterruptMaskingIntervals] = {}
    for held in profile.held:
        is_start_up = held.longest_start < overview.start
        if is_start_up or {innermost_function(held.opener), innermost_function(held.closer)} & sleeping:
            continue
        for exception, priority in priorities.items():
            if priority == held.priority and not held.opener[0].endswith(f" [exception {exception}]"):
                key = held.core, held.opener_line, held.closer_line, held.opener, held.longest_start
                affected[key].add(exception)
                intervals.setdefault(key, held)
    ordered = sorted(intervals.items(), key=lambda item: (-item[1].longest_cycles, item[1].longest_start))
    return [(held, tuple(sorted(affected[key]))) for key, held in ordered]


def find_long_interrupt_masking(
    history: TaskExecutionHistory,
    profile: Profile,
    overview: QuickImageRunObservations,
    names: RunNameFinder,
    limits: Limits,
) -> Iterator[DiagnosisFinding]:
    """Yields a finding for each place in the code that masked interrupts for longer than the limit."""
    limit = microseconds_to_cycles(limits.masked_us, history.clock_hz)
    yield from _pending_tick_findings(history, overview, names, limit)
    places: set[tuple[str, str]] = set()
    for held, exceptions in sort_longest_masked_intervals(profile, overview):
        place = held.opener_line or innermost_function(held.opener), held.closer_line or innermost_function(held.closer)
        if held.longest_cycles <= limit or len(places) == _SHOWN:
            return
        if place not in places:
            places.add(place)
            yield _long_interrupt_masking_finding(
                history, held, exceptions, names, name_of_masking_function(held, profile)
            )


def _pending_tick_findings(
    history: TaskExecutionHistory, overview: QuickImageRunObservations, names: RunNameFinder, limit: int
) -> Iterator[DiagnosisFinding]:
    """Yields a finding if SysTick is pending for long at the end of the run, because interrupts stayed masked. `limit`
    is in cycles."""
    ticks = [handler for handler in history.handlers if handler.exception == SYSTICK and not handler.core]
    (state,) = names.replay.go_to_cycle(history.end).read_registers(0, [_ICSR])
    if not ticks or not ticks[-1].ended or not (state or 0) & _SYSTICK_PENDS or overview.tick_cycles is None:
        return
    due = ticks[-1].start - ticks[-1].entry_cycles + overview.tick_cycles
    waits = history.end - due
    if waits <= max(limit, _TICKS_WAIT * overview.tick_cycles) or history.handler_cycles(due, history.end) > waits // 2:
        return  # the next tick comes, or a handler has the core, as after a fault
    frames = names.call_path(0, history.end)
    place = names.application_call_path_text(frames)
    name = names.handler_name(0, SYSTICK)
    function = next((frame.function for frame in frames if not frame.is_kernel), frames[0].function if frames else "")
    task = next(iter(history.running_cycles_by_task(due, history.end)), None)
    is_parked = names.replay.is_in_endless_empty_loop(0)  # as programs end that have nothing left to do, or gave up
    title = f"Interrupts are masked to the end of the run: {name} waits for {history.end - due:,} cycles."
    yield DiagnosisFinding(
        kind="masked",
        level="note" if is_parked else "error",
        title=f"The program ended in an endless loop. {title}" if is_parked else title,
        cycle=due,
        cycles=history.end - due,
        who=(function, name),
        where=(f"at the end in {place}",),
        tracks=(
            TimelineTrack("masked", (FindingTimelineBar(due, history.end, "masked", function),)),
            *(timeline_tracks_of_tasks(history, names, [task], due, history.end) if task is not None else ()),
            timeline_track_of_handlers(history, name, [SYSTICK], due, history.end),
        ),
    )


def name_of_masking_function(held: InterruptMaskingIntervals, profile: Profile) -> str:
    """Returns the name of the function that masked interrupts: a handler, a kernel function, or one of the
    application."""
    name = function_that_masked_interrupts(held.opener, profile)
    if profile.classes.get(name) != _CRITICAL:
        return name
    own = [
        item for item in held.opener if profile.classes.get(item, APPLICATION) == APPLICATION and not item.endswith("]")
    ]
    return own[-1] if own else name


def _long_interrupt_masking_finding(
    history: TaskExecutionHistory,
    held: InterruptMaskingIntervals,
    exceptions: tuple[int, ...],
    names: RunNameFinder,
    owner_name: str,
) -> DiagnosisFinding:
    """Returns the finding about a place that masks interrupts for long. `exceptions` had to wait for it."""
    start, end = held.longest_start, held.longest_start + held.longest_cycles
    opener, closer = innermost_function(held.opener), innermost_function(held.closer)
    waiting = [names.handler_name(held.core, exception) for exception in exceptions]
    by_handler = " [exception " in held.opener[-1]
    kept = ", ".join(waiting[:3]) + (f" and {len(waiting) - 3} more" if len(waiting) > 3 else "")
    title = (
        f"The handler {owner_name} ran for {held.longest_cycles:,} cycles and kept {kept} waiting."
        if by_handler
        else f"{owner_name} masked interrupts for {held.longest_cycles:,} cycles, and {kept} had to wait."
    )
    since, until = widen_time_interval(history, start, end)
    task = next((task for task in history.runs if history.run_cycles(task, start, end)), None)
    return DiagnosisFinding(
        kind="masked",
        level="warning",
        title=title,
        cycle=start,
        cycles=held.longest_cycles,
        count=held.count,
        who=(owner_name, *waiting),
        where=(
            f"in {names.application_call_path_text(names.call_path(held.core, start))}",
            f"from {opener} ({held.opener_line or 'no line'}) to {closer} ({held.closer_line or 'no line'})",
        ),
        tracks=(
            TimelineTrack("masked", (FindingTimelineBar(max(start, since), min(end, until), "masked", owner_name),)),
            *(timeline_tracks_of_tasks(history, names, [task], start, end) if task is not None else ()),
            timeline_track_of_handlers(
                history, "handlers", {handler.exception for handler in history.handlers}, start, end
            ),
        ),
        facts={"function": owner_name, "opener": opener, "closer": closer},
    )
