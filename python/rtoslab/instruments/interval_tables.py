"""Measured intervals as a table and sentences for a terminal, and as JSON."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from rtoslab.base import TitledTable, count_with_noun
from rtoslab.instruments.call_tables import function_cycles_as_text, median_with_half_as_text
from rtoslab.instruments.measured_intervals import MeasuredInterval
from rtoslab.instruments.profile_tables import call_path_text


def interval_table(measured: MeasuredInterval) -> TitledTable:
    """Returns a table with the number and the cycles of the runs of code between two places."""
    spread = measured.cycles
    rows = (
        []
        if spread is None
        else [(measured.count, spread.minimum, median_with_half_as_text(spread.median), spread.p99, spread.maximum)]
    )
    return TitledTable("interval", "", ("intervals", "min", "median", "p99", "max"), rows)


def longest_interval_lines(measured: MeasuredInterval) -> Iterator[str]:
    """Yields lines on the longest run between two places: when it was, and the call paths at both ends."""
    longest = measured.longest
    if longest is None:
        yield "  No interval ended."
    else:
        yield f"Longest: from cycle {longest.begin.cycle:,}, core {longest.begin.core}"
        yield f"  begin   {call_path_text(longest.begin_path)}"
        yield f"  end     {call_path_text(longest.end_path)}, core {longest.end.core}"
        yield f"  spent   {function_cycles_as_text(longest.spent)}"
    if measured.begun_again:
        again = count_with_noun(measured.begun_again, "time")
        yield f"Inside an interval, its begin was reached again {again}, which did not restart the interval."
    if measured.is_open:
        yield "One more interval began but did not end."


def interval_as_json(measured: MeasuredInterval) -> dict[str, Any]:
    """Returns the runs between two places as an object for JSON."""
    longest = measured.longest
    return {
        "start": measured.begin,
        "until": measured.end,
        "count": measured.count,
        "cycles": None if measured.cycles is None else asdict(measured.cycles),
        "instructions": None if measured.instructions is None else asdict(measured.instructions),
        "begun_again": measured.begun_again,
        "open": measured.is_open,
        "longest": None
        if longest is None
        else {
            "start_cycle": longest.begin.cycle,
            "until_cycle": longest.end.cycle,
            "start_core": longest.begin.core,
            "until_core": longest.end.core,
            "start_path": list(longest.begin_path),
            "until_path": list(longest.end_path),
            "spent": longest.spent,
        },
    }
