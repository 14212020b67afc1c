"""Two profiles against each other: where did the extra cycles go?

Both are put on one scale first: cycles per operation if both benchmarks counted, else cycles per millisecond of the
board's time, all cores together. Profiles of two kernels have few functions in common, so classes come first.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from rtoslab.base import Table, Value
from rtoslab.instruments.profile_tables import HEADS
from rtoslab.instruments.profiler import Profile, function_of
from rtoslab.instruments.records import WAYS
from rtoslab.instruments.totals import Sum, by_class, sums


@dataclass(frozen=True, slots=True)
class Scale:
    """The divisor of cycles."""

    unit: str
    before: float
    after: float


def scale_of(before: Profile, after: Profile) -> Scale:
    """Operations if both know them, else milliseconds of virtual time."""
    if before.operations and after.operations:
        return Scale("cycles per operation", before.operations, after.operations)
    return Scale("cycles per ms", _milliseconds(before), _milliseconds(after))


def _milliseconds(profile: Profile) -> float:
    return max(profile.observed_cycles) * 1000 / profile.clock_hz


def difference_tables(before: Profile, after: Profile, top: int | None = None) -> tuple[Table, ...]:
    """Returns tables by cause, by class of function and by function, with the largest changes first."""
    scale = scale_of(before, after)
    whole = (sums(before.spent, lambda _: "all"), sums(after.spent, lambda _: "all"))
    ways = [way for way in range(len(WAYS)) if any(function["all"].cycles[way] for function in whole)]
    heads = ("A", "B", "B - A", *(f"of it {HEADS[way]}" for way in ways))
    title = f"in {scale.unit}. A: {before.label}; B: {after.label}"
    classes, functions = (by_class(before), by_class(after)), (_functions(before), _functions(after))
    return (
        Table("total", f"All cores, {title}", ("", *heads), _rows(*whole, scale, ways)),
        Table("classes", f"Classes of functions, {title}", ("class", *heads), _rows(*classes, scale, ways)),
        Table("functions", f"Functions, {title}", ("function", *heads), _rows(*functions, scale, ways)[:top]),
    )


def _functions(profile: Profile) -> dict[str, Sum]:
    return sums(profile.spent, lambda spent: function_of(spent.stack))


def _rows(
    before: Mapping[str, Sum], after: Mapping[str, Sum], scale: Scale, chosen: list[int]
) -> list[tuple[Value, ...]]:
    rows = []
    for name in before.keys() | after.keys():
        old, new = before.get(name, Sum()), after.get(name, Sum())
        change = new.total / scale.after - old.total / scale.before
        ways = [new.cycles[way] / scale.after - old.cycles[way] / scale.before for way in chosen]
        cells = (
            _plain(old.total / scale.before),
            _plain(new.total / scale.after),
            *(_signed_text(x) for x in (change, *ways)),
        )
        rows.append((abs(change), name, cells))
    return [(name, *cells) for _, name, cells in sorted(rows, key=lambda row: (-row[0], row[1]))]


def _plain(value: float) -> str:
    return f"{value:,.1f}" if value else "-"


def _signed_text(value: float) -> str:
    return f"{value:+,.1f}" if round(value, 1) else "-"
