"""Measured functions as a table and sentences for a terminal, and as JSON."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any, Final

from rtoslab.base import TitledTable, count_with_noun
from rtoslab.instruments.call_replay import ITSELF, FunctionCallCycleBreakdown
from rtoslab.instruments.measured_calls import LongestFunctionCall, MeasuredCalls, MeasuredFunction
from rtoslab.instruments.profile_tables import call_path_text

_HEADS: Final = ("cycles per call", "min", "median", "p99", "max", "total")
_LISTED: Final = 8
"""The most callees, or calls in progress, that are listed. The rest is counted."""


def function_calls_table(measured: MeasuredFunction) -> TitledTable:
    """Returns a table of the cycles of a function's calls, with a row for each measure, such as `inclusive`."""
    rows = [
        (name, item.minimum, median_with_half_as_text(item.median), item.p99, item.maximum, item.total)
        for name, item in measured.cycles.items()
    ]
    return TitledTable(measured.function.name, "", _HEADS, rows)


def summary_line_of_measured_function(measured: MeasuredFunction) -> str:
    """Returns a line on a measured function: its address, source line, number of calls and stack."""
    function, tally = measured.function, measured.tally
    place = f"{function.address:#010x}" + (f", {measured.source}" if measured.source else "")
    stack = f", at most {tally.stack_bytes} bytes of stack" if tally.stack_bytes is not None else ""
    calls = count_with_noun(tally.calls, "call") if tally.calls else "no call that returned"
    return f"{function.name} ({place}): {calls}{stack}"


def notes_on_measured_calls(measured: MeasuredFunction) -> Iterator[str]:
    """Yields notes on the figures of a function's calls: recursion, tail calls, calls that were not counted."""
    tally, name = measured.tally, measured.function.name
    if measured.function.also:
        yield f"Other names of the same code: {', '.join(measured.function.also)}."
    for count, text in (
        (tally.recursive, f"inside another call of {name}, whose inclusive cycles contain theirs"),
        (tally.entered_by_jump, "entered by a tail call, so the path is that of the calling function"),
        (
            tally.went_on,
            (
                "ended by a tail call of another function, whose time is part of the inclusive cycles but "
                "not of the exclusive ones"
            ),
        ),
    ):
        if count:
            yield f"{count:,} of the calls: {text}."
    for count, text in (
        (tally.begun_before, "began before the measured interval"),
        (tally.left, "were left by a jump past their caller, or were nested too deeply to be followed"),
        (tally.lost, "ended with their thread, because its stack was reused or the core was reset"),
    ):
        if count:
            yield f"Not counted: {count:,} that {text}."
    if measured.open:
        listed = [
            f"since cycle {call.start:,} on core {call.core}, {call_path_text(call.path)} (so far "
            f"{call.cycles['exclusive']:,} cycles exclusive, {_stack_bytes_text(call.stack_bytes)})"
            for call in measured.open
        ]
        rest = f"; {len(listed) - _LISTED:,} more" if len(listed) > _LISTED else ""
        yield f"Not counted, because they did not return: {'; '.join(listed[:_LISTED])}{rest}."
    if not tally.calls and not measured.open:
        yield (
            "It may be inlined where it is used, or have another name there; `rtoslab profile` shows the "
            "executed functions."
        )


def longest_call_text_lines(greatest: LongestFunctionCall) -> Iterator[str]:
    """Yields lines on a function's longest call: when it was, its call path, how it spent its cycles."""
    cycles = ", ".join(f"{greatest.cycles[name]:,} {name}" for name in greatest.cycles if greatest.cycles[name])
    yield f"Greatest {' and '.join(greatest.measures)}: from cycle {greatest.start:,}, core {greatest.core}"
    yield f"  cycles  {cycles}"
    yield f"  path    {call_path_text(greatest.path)}"
    spending = greatest.spending
    if spending is None:
        return
    yield f"  spent   {spending.problem or function_cycles_as_text(spending.inside)}"
    if spending.beside:
        yield f"  beside  {function_cycles_as_text(spending.beside)}"


def function_cycles_as_text(cycles: Mapping[str, int]) -> str:
    """Returns cycles by function as text, the most first. After eight, the rest is added up."""
    shown = [f"{name} {item:,}" for name, item in cycles.items()]
    rest = sum(list(cycles.values())[_LISTED:])
    return ", ".join(shown[:_LISTED]) + (f", others {rest:,}" if rest else "")


def _stack_bytes_text(stack_bytes: int | None) -> str:
    """Returns a number of stack bytes in words."""
    return (
        "stack n/a, because it sets the stack pointer itself"
        if stack_bytes is None
        else f"{stack_bytes:,} bytes of stack"
    )


def median_with_half_as_text(value: float) -> int | str:
    """Returns a median as it is printed: a whole number, or one with its half."""
    return int(value) if value == int(value) else f"{value:,.1f}"


def calls_as_json(measured: MeasuredCalls) -> dict[str, Any]:
    """Returns all measured calls as an object for JSON. A missing value is null, with its reason beside it."""
    return {
        "image": measured.label,
        "board": measured.board,
        "cores": measured.cores,
        "clock_hz": measured.clock_hz,
        "from_cycle": measured.start_cycle,
        "until_cycle": measured.end_cycle,
        "cut": measured.cut_reason or None,
        "functions": [_function_as_json(function) for function in measured.functions],
    }


def _function_as_json(measured: MeasuredFunction) -> dict[str, Any]:
    """Returns the measured calls of one function as an object for JSON."""
    function, tally = measured.function, measured.tally
    return {
        "asked": list(function.requested),
        "name": function.name,
        "address": function.address,
        "also": list(function.also),
        "source": measured.source or None,
        "calls": tally.calls,
        "recursive": tally.recursive,
        "entered_by_tail_call": tally.entered_by_jump,
        "went_on_by_tail_call": tally.went_on,
        "begun_before": tally.begun_before,
        "left": tally.left,
        "lost": tally.lost,
        "open": [asdict(call) for call in measured.open],
        "stack_bytes": tally.stack_bytes,
        "interruptions_most": tally.interruptions_most,
        "cycles": {name: asdict(item) for name, item in measured.cycles.items()},
        "instructions": {name: asdict(item) for name, item in measured.instructions.items()},
        "greatest": [_longest_call_as_json(call) for call in measured.greatest],
    }


def _longest_call_as_json(call: LongestFunctionCall) -> dict[str, Any]:
    """Returns a function's longest call as an object for JSON."""
    spending = call.spending or FunctionCallCycleBreakdown({}, {}, "the command was ended before the second run")
    callees = {name: item for name, item in spending.inside.items() if name != ITSELF}
    return {
        "by": list(call.measures),
        "start_cycle": call.start,
        "core": call.core,
        "path": list(call.path),
        "cycles": call.cycles,
        "interruptions": call.interruptions,
        "stack_bytes": call.stack_bytes,
        "callees": None if spending.problem else callees,
        "callees_unknown": spending.problem or None,
        "beside": dict(spending.beside),
    }
