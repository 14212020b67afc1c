"""Compares two profiles, and shows where the extra cycles went.

Both are put on one scale first: cycles per operation if both benchmarks counted, else cycles per millisecond of the
board's time, all cores together. Profiles of two kernels have few functions in common, so classes come first."""

from collections.abc import Mapping
from dataclasses import dataclass

from rtoslab.base import TitledTable, Value
from rtoslab.instruments.profile_tables import HEADS
from rtoslab.instruments.profiler import Profile, innermost_function
from rtoslab.instruments.records import WAYS
from rtoslab.instruments.totals import CycleUseTotals, cycle_sums_by_function_class, sum_profile_cycles_by_key


@dataclass(frozen=True, slots=True)
class ProfileComparisonDivisor:
    """The divisor of the cycles of two profiles, which makes them comparable: operations or milliseconds."""

    unit: str
    before: float
    after: float


def find_comparison_divisor(before: Profile, after: Profile) -> ProfileComparisonDivisor:
    """Returns the divisor that makes two profiles comparable: operations if both count them, else milliseconds of
    virtual time."""
    if before.operations and after.operations:
        return ProfileComparisonDivisor("cycles per operation", before.operations, after.operations)
    return ProfileComparisonDivisor(
        "cycles per ms", _profile_duration_milliseconds(before), _profile_duration_milliseconds(after)
    )


def _profile_duration_milliseconds(profile: Profile) -> float:
    """Returns the milliseconds of virtual time that a profile covers."""
    return max(profile.observed_cycles) * 1000 / profile.clock_hz


def _different_conditions_text(before: Profile, after: Profile) -> str:
    """Returns a sentence on what else differs between two profiles: board, clock, cores. Empty if nothing does."""
    conditions = {
        name: pair
        for name, pair in {
            "board": (before.axes.get("board", ""), after.axes.get("board", "")),
            "clock": (f"{before.clock_hz / 1e6:g} MHz", f"{after.clock_hz / 1e6:g} MHz"),
            "observed cores": (str(len(before.observed_cycles)), str(len(after.observed_cycles))),
        }.items()
        if pair[0] != pair[1]
    }
    listed = ", ".join(f"{name} {first} and {second}" for name, (first, second) in conditions.items())
    return f". Also different: {listed}" if listed else ""


def profile_difference_tables(before: Profile, after: Profile, top: int | None = None) -> tuple[TitledTable, ...]:
    """Returns tables of the differences between two profiles: by use of cycles, class of function, and function (at
    most `top`)."""
    scale = find_comparison_divisor(before, after)
    whole = (
        sum_profile_cycles_by_key(before.spent, lambda _: "all"),
        sum_profile_cycles_by_key(after.spent, lambda _: "all"),
    )
    ways = [way for way in range(len(WAYS)) if any(function["all"].cycles[way] for function in whole)]
    heads = ("A", "B", "B - A", *(f"of which {HEADS[way]}" for way in ways))
    title = f"in {scale.unit}. A: {before.label}; B: {after.label}{_different_conditions_text(before, after)}"
    classes, functions = (
        (cycle_sums_by_function_class(before), cycle_sums_by_function_class(after)),
        (_total_cycles_by_function(before), _total_cycles_by_function(after)),
    )
    return (
        TitledTable("total", f"All cores, {title}", ("", *heads), _profile_difference_rows(*whole, scale, ways)),
        TitledTable(
            "classes",
            f"Classes of functions, {title}",
            ("class", *heads),
            _profile_difference_rows(*classes, scale, ways),
        ),
        TitledTable(
            "functions",
            f"Functions, {title}",
            ("function", *heads),
            _profile_difference_rows(*functions, scale, ways)[:top],
        ),
    )


def _total_cycles_by_function(profile: Profile) -> dict[str, CycleUseTotals]:
    """Returns the cycles of each function, of all cores together."""
    return sum_profile_cycles_by_key(profile.spent, lambda spent: innermost_function(spent.stack))


def _profile_difference_rows(
    before: Mapping[str, CycleUseTotals],
    after: Mapping[str, CycleUseTotals],
    scale: ProfileComparisonDivisor,
    chosen: list[int],
) -> list[tuple[Value, ...]]:
    """Returns the rows of a table of differences between two profiles, the largest changes first. `chosen` are the uses
    of cycles to show."""
    rows = []
    for name in before.keys() | after.keys():
        old, new = before.get(name, CycleUseTotals()), after.get(name, CycleUseTotals())
        change = new.total_cycles / scale.after - old.total_cycles / scale.before
        ways = [new.cycles[way] / scale.after - old.cycles[way] / scale.before for way in chosen]
        cells = (
            _number_with_decimal_text(old.total_cycles / scale.before),
            _number_with_decimal_text(new.total_cycles / scale.after),
            *(_signed_number_text(x) for x in (change, *ways)),
        )
        rows.append((abs(change), name, cells))
    return [(name, *cells) for _, name, cells in sorted(rows, key=lambda row: (-row[0], row[1]))]


def _number_with_decimal_text(value: float) -> str:
    """Returns a number with one decimal, or a dash for 0, as text."""
    return f"{value:,.1f}" if value else "-"


def _signed_number_text(value: float) -> str:
    """Returns a number with its sign and one decimal, or a dash for 0, as text."""
    return f"{value:+,.1f}" if round(value, 1) else "-"
