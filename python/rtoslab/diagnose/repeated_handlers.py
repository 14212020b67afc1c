"""Handlers that run twice for one request, and handlers that never end because their request is not taken back.

A handler that clears its peripheral's flag as its last act may be left before the flag has gone down, and begins again
at once. Then nearly every run of it is followed by a second one, with no instruction of a task between.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from rtoslab.base import count_with_noun
from rtoslab.diagnose.diagnosis_findings import DiagnosisFinding
from rtoslab.diagnose.drawings import timeline_track_of_handlers
from rtoslab.diagnose.named_places import RunNameFinder
from rtoslab.diagnose.task_history import HandlerExecution, TaskExecutionHistory
from rtoslab.targets import FIRST_EXTERNAL

_LEAST: Final = 3
_SHARE: Final = 0.9
"""Of all first runs: so many are followed by a second one."""
_ENDLESS: Final = 100
"""So many runs of a handler without an instruction between them have no end."""
_DRAWN: Final = 6


def find_repeated_handlers(history: TaskExecutionHistory, names: RunNameFinder) -> Iterator[DiagnosisFinding]:
    """Yields a finding for each interrupt whose handler runs again immediately after its return."""
    chains: dict[tuple[int, int], list[list[HandlerExecution]]] = defaultdict(list)
    last: dict[int, HandlerExecution] = {}
    for handler in history.handlers:
        if handler.depth:
            continue
        before = last.get(handler.core)
        last[handler.core] = handler
        if handler.exception < FIRST_EXTERNAL:
            continue
        mine = chains[handler.core, handler.exception]
        if before is not None and before.exception == handler.exception and handler.follows:
            mine[-1].append(handler)
        else:
            mine.append([handler])
    for (core, exception), mine in chains.items():
        finding = _make_repeated_handler_finding(history, names, core, exception, mine)
        if finding is not None:
            yield finding


def _make_repeated_handler_finding(
    history: TaskExecutionHistory,
    names: RunNameFinder,
    core: int,
    exception: int,
    chains: Sequence[Sequence[HandlerExecution]],
) -> DiagnosisFinding | None:
    """Returns the finding about a handler that runs twice for one request, or never ends. None if it does neither.
    `chains` are its runs in a row, without an instruction of a task between."""
    name = names.handler_name(core, exception)
    longest = max(chains, key=len)
    if len(longest) >= _ENDLESS:
        return DiagnosisFinding(
            kind="storm",
            level="error",
            title=f"{name} ran {count_with_noun(len(longest), 'time')} without a task instruction in between, because "
            "it does not clear its request.",
            cycle=longest[0].start,
            cycles=longest[-1].end - longest[0].start,
            count=len(longest),
            who=(name,),
            where=(f"begins at {names.source_line(_handler_address(names, core, exception))}",),
            tracks=(timeline_track_of_handlers(history, name, [exception], longest[0].start, longest[_DRAWN].end),),
        )
    twice = [chain for chain in chains if len(chain) > 1]
    if len(twice) < _LEAST or len(twice) < _SHARE * len(chains):
        return None
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
