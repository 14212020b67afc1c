"""Handlers that run twice for one request, and handlers that leave the tasks no time.

A handler that clears its peripheral's flag as its last act may be left before the flag has gone down, and begins again
at once. Then nearly every run of it is followed by a second one, with no instruction of a task between.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from rtoslab.base import count_with_noun
from rtoslab.diagnose.diagnosis_findings import DiagnosisFinding
from rtoslab.diagnose.diagnosis_limits import Limits, microseconds_to_cycles
from rtoslab.diagnose.drawings import timeline_track_of_handlers
from rtoslab.diagnose.named_places import RunNameFinder
from rtoslab.diagnose.task_history import HandlerExecution, TaskExecutionHistory
from rtoslab.targets import FIRST_EXTERNAL, SYSTICK

_LEAST: Final = 3
_SHARE: Final = 0.9
"""Of all first runs: so many are followed by a second one."""
_ENDLESS: Final = 100
"""So many runs of a handler without an instruction between them have no end."""
_FAULTS: Final = range(2, 7)
"""NMI and the faults."""
_DRAWN: Final = 6


def find_repeated_handlers(
    history: TaskExecutionHistory, names: RunNameFinder, limits: Limits, *, has_unhandled: bool = False
) -> Iterator[DiagnosisFinding]:
    """Yields a finding for each interrupt whose handler runs again immediately after its return, and for handlers that
    together leave the tasks of a core no time. `has_unhandled`: a core ended in a default handler, which is reported
    elsewhere."""
    longest_cycles = microseconds_to_cycles(limits.starvation_ms * 1000, history.clock_hz)
    storms: set[tuple[int, int]] = set()
    for (core, exception), mine in _runs_in_a_row_by_handler(history).items():
        storm = _endless_runs(mine, longest_cycles)
        finding = (
            _storm_finding(history, names, storm) if storm else _twice_finding(history, names, core, exception, mine)
        )
        if storm:
            storms.add((core, exception))
        if finding is not None:
            yield finding
    faulted = {handler.core for handler in history.handlers if handler.exception in _FAULTS and not handler.ended}
    for row in _runs_in_a_row_by_core(history):
        is_long = row[-1].end - row[0].start >= longest_cycles
        is_reported = row[0].core in faulted or any(
            handler.exception in _FAULTS or (handler.core, handler.exception) in storms for handler in row
        )
        if is_long and not is_reported and not (has_unhandled and not row[-1].ended):
            yield _busy_handlers_finding(history, names, row)


def _runs_in_a_row_by_handler(history: TaskExecutionHistory) -> dict[tuple[int, int], list[list[HandlerExecution]]]:
    """Returns the runs of each handler by core and exception, those together that have no instruction of a task or
    another handler between them."""
    chains: dict[tuple[int, int], list[list[HandlerExecution]]] = defaultdict(list)
    last: dict[int, HandlerExecution] = {}
    for handler in history.handlers:
        if handler.depth:
            continue
        before = last.get(handler.core)
        last[handler.core] = handler
        if handler.exception != SYSTICK and handler.exception < FIRST_EXTERNAL:
            continue
        mine = chains[handler.core, handler.exception]
        if before is not None and before.exception == handler.exception and handler.follows:
            mine[-1].append(handler)
        else:
            mine.append([handler])
    return chains


def _runs_in_a_row_by_core(history: TaskExecutionHistory) -> list[list[HandlerExecution]]:
    """Returns the runs of all handlers of each core, those together that have no instruction of a task between them."""
    rows: list[list[HandlerExecution]] = []
    latest: dict[int, list[HandlerExecution]] = {}
    for handler in history.handlers:
        if handler.depth:
            continue
        row = latest.get(handler.core)
        if row is not None and handler.follows:
            row.append(handler)
        else:
            latest[handler.core] = [handler]
            rows.append(latest[handler.core])
    return rows


def _endless_runs(chains: Sequence[list[HandlerExecution]], longest_cycles: int) -> list[HandlerExecution]:
    """Returns the longest runs of a handler in a row that are too many or take too long. Empty if there are none."""
    by_count = max(chains, key=len)
    if len(by_count) >= _ENDLESS:
        return by_count
    by_time = max(chains, key=lambda chain: chain[-1].end - chain[0].start)
    is_long = by_time[-1].end - by_time[0].start >= longest_cycles
    return by_time if len(by_time) > 1 and is_long else []


def _storm_finding(
    history: TaskExecutionHistory, names: RunNameFinder, chain: Sequence[HandlerExecution]
) -> DiagnosisFinding:
    """Returns the finding about a handler that is run again and again, so that no task runs."""
    first, last = chain[0], chain[-1]
    name = names.handler_name(first.core, first.exception)
    reason = "it takes longer than its period"
    if first.exception >= FIRST_EXTERNAL:
        reason = "it does not clear its request, or takes longer than the time to the next request"
    return DiagnosisFinding(
        kind="storm",
        level="error",
        title=f"{name} ran {count_with_noun(len(chain), 'time')} without a task instruction in between, because "
        f"{reason}.",
        cycle=first.start,
        cycles=last.end - first.start,
        count=len(chain),
        who=(name,),
        where=(f"begins at {names.source_line(_handler_address(names, first.core, first.exception))}",),
        tracks=(
            timeline_track_of_handlers(
                history, name, [first.exception], first.start, chain[min(_DRAWN, len(chain) - 1)].end
            ),
        ),
    )


def _busy_handlers_finding(
    history: TaskExecutionHistory, names: RunNameFinder, row: Sequence[HandlerExecution]
) -> DiagnosisFinding:
    """Returns the finding about handlers that together leave the tasks of a core no time."""
    counts = Counter(handler.exception for handler in row)
    by_name = {names.handler_name(row[0].core, exception): count for exception, count in counts.most_common()}
    listed = ", ".join(f"{name} {count_with_noun(count, 'time')}" for name, count in by_name.items())
    title = f"Handlers ran without a task instruction in between: {listed}."
    if len(row) == 1:
        title = f"{next(iter(by_name))} " + ("left the tasks no time." if row[0].ended else "did not return.")
    return DiagnosisFinding(
        kind="storm",
        level="error",
        title=title,
        cycle=row[0].start,
        cycles=row[-1].end - row[0].start,
        count=len(row),
        who=tuple(by_name),
        tracks=tuple(
            timeline_track_of_handlers(
                history,
                names.handler_name(row[0].core, exception),
                [exception],
                row[0].start,
                row[min(_DRAWN, len(row) - 1)].end,
            )
            for exception, _ in counts.most_common(_DRAWN)
        ),
    )


def _twice_finding(
    history: TaskExecutionHistory,
    names: RunNameFinder,
    core: int,
    exception: int,
    chains: Sequence[Sequence[HandlerExecution]],
) -> DiagnosisFinding | None:
    """Returns the finding about a handler that runs twice for one request. None if it does not. `chains` are its runs
    in a row, without an instruction of a task between."""
    twice = [chain for chain in chains if len(chain) > 1]
    if exception < FIRST_EXTERNAL or len(twice) < _LEAST or len(twice) < _SHARE * len(chains):
        return None
    name = names.handler_name(core, exception)
    first = twice[0]
    spent = sum(handler.end - handler.start for chain in twice for handler in chain[1:])
    return DiagnosisFinding(
        kind="repeated handler",
        level="warning",
        title=f"{name} ran twice for {len(twice):,} of {count_with_noun(len(chains), 'request')}: the request was "
        "still pending when it returned.",
        cycle=first[0].start,
        cycles=spent,
        count=len(twice),
        who=(name,),
        where=(
            f"begins at {names.source_line(_handler_address(names, core, exception))}",
            "clear the peripheral's flag earlier, or read it back before the handler returns",
        ),
        tracks=(timeline_track_of_handlers(history, name, [exception], first[0].start, first[-1].end),),
        facts={"repeated": len(twice), "requests": len(chains)},
    )


def _handler_address(names: RunNameFinder, core: int, exception: int) -> int:
    """Returns the address of the handler of an exception, from the vector table that the core uses."""
    table = names.replay.machine.registers(core)["vtor"]
    return (names.replay.read_word(table + 4 * exception) or 0) & ~1
