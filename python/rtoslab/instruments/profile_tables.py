"""A profile as tables of plain values, for the terminal, HTML and JSON alike."""

from collections.abc import Sequence
from typing import Final

from rtoslab.base import TitledTable, Value
from rtoslab.instruments.masked_interrupts import masked_interrupt_tables
from rtoslab.instruments.profiler import Profile, Stack
from rtoslab.instruments.records import WAYS
from rtoslab.instruments.spinlocks import spinlock_tables
from rtoslab.instruments.totals import (
    CycleUseTotals,
    cycle_sums_by_function,
    inclusive_cycles,
    sum_profile_cycles_by_key,
)

HEADS: Final = ("execute", "bus wait", "flash wait", "lock wait", "sleep", "exceptions", "stopped")
"""Column heads of `records.WAYS`."""
ARROW: Final = " > "


def call_path_text(stack: Stack) -> str:
    """Returns a call path on one line: function names from the outermost caller, separated by ` > `."""
    return ARROW.join(stack)


def all_profile_tables(profile: Profile, top: int | None = None) -> tuple[TitledTable, ...]:
    """Returns all tables of a profile. Long tables have the `top` rows with most cycles."""
    return (
        core_cycles_table(profile),
        function_cycles_table(profile, top),
        call_path_cycles_table(profile, top),
        source_line_cycles_table(profile, top),
        *masked_interrupt_tables(profile, top),
        *spinlock_tables(profile, top),
    )


def brief_profile_tables(profile: Profile) -> tuple[TitledTable, TitledTable]:
    """Returns two short tables of a profile for the terminal: cores and functions. One column says
    what the cycles were spent on."""
    cores = sum_profile_cycles_by_key(profile.spent, lambda spent: spent.core)
    core_rows = [
        (
            core,
            cycles,
            cores.get(core, CycleUseTotals()).executions,
            _spent_cycles_text(cores.get(core, CycleUseTotals())),
        )
        for core, cycles in enumerate(profile.observed_cycles)
    ]
    whole, most = inclusive_cycles(profile), 3 if profile.operations else 2
    function_rows = [
        (
            core, name, item.calls or None, *_cycle_column_cells(profile, core, item)[:most], whole[core, name],
            _spent_cycles_text(item),
        )
        for (core, name), item in cycle_sums_by_function(profile).items()
    ]  # fmt: skip
    heads = ("core", "function", "calls", *_cycle_column_heads(profile)[:most], "inclusive", "spent on")
    return (
        TitledTable(
            "cores", "Where each core's cycles went", ("core", "cycles", "instructions", "spent on"), core_rows
        ),
        TitledTable("functions", "Functions, by their own cycles", heads, function_rows),
    )


def _spent_cycles_text(spent: CycleUseTotals) -> str:
    """Returns how cycles were spent, as text with the shares of at least half a percent."""
    shares = sorted(zip(spent.cycles, HEADS, strict=True), key=lambda share: -share[0])
    parts = [
        f"{100 * cycles / spent.total_cycles:.0f} % {head}"
        for cycles, head in shares
        if cycles * 200 >= spent.total_cycles > 0
    ]
    return ", ".join(parts)


def core_cycles_table(profile: Profile) -> TitledTable:
    """Returns a table of each core's cycles by what they were spent on. Each row adds up to the observed cycles."""
    by_core = sum_profile_cycles_by_key(profile.spent, lambda spent: spent.core)
    rows: list[Sequence[Value]] = []
    for core, cycles in enumerate(profile.observed_cycles):
        core_sum = by_core.get(core, CycleUseTotals())
        rows.append((core, *core_sum.cycles, cycles, core_sum.executions))
    return TitledTable("cores", "Where each core's cycles went", ("core", *HEADS, "all cycles", "instructions"), rows)


def function_cycles_table(profile: Profile, top: int | None) -> TitledTable:
    """Returns a table of the `top` functions with the most cycles of their own."""
    whole = inclusive_cycles(profile)
    rows = [
        (
            core, name, profile.classes.get(name), *_cycle_column_cells(profile, core, item), whole[core, name],
            item.calls or None,
        )
        for (core, name), item in cycle_sums_by_function(profile).items()
    ]  # fmt: skip
    columns = ("core", "function", "class", *_cycle_column_heads(profile), "inclusive", "calls")
    return TitledTable("functions", "Functions, by their own cycles", columns, rows[:top])


def call_path_cycles_table(profile: Profile, top: int | None) -> TitledTable:
    """Returns a table of the `top` call paths with the most cycles in their last function."""
    by_path = sum_profile_cycles_by_key(profile.spent, lambda spent: (spent.core, spent.stack))
    rows = [
        (core, call_path_text(stack), *_cycle_column_cells(profile, core, item))
        for (core, stack), item in by_path.items()
    ]
    return TitledTable(
        "paths", "Call paths, by the cycles at their end", ("core", "path", *_cycle_column_heads(profile)), rows[:top]
    )


def source_line_cycles_table(profile: Profile, top: int | None) -> TitledTable:
    """Returns a table of the `top` source lines with the most cycles."""
    by_line = sum_profile_cycles_by_key(profile.spent, lambda spent: (spent.core, spent.line or "(no line)"))
    rows = [(core, line, *_cycle_column_cells(profile, core, item)) for (core, line), item in by_line.items()]
    return TitledTable("lines", "Source lines", ("core", "line", *_cycle_column_heads(profile)), rows[:top])


def _cycle_use_indexes_in_profile(profile: Profile) -> list[int]:
    """Returns the indexes of those uses of cycles (`records.WAYS`) that occur in a profile. The others would be columns
    of zeros."""
    return [way for way in range(len(WAYS)) if any(spent.cycles[way] for spent in profile.spent)]


def _cycle_column_heads(profile: Profile) -> tuple[str, ...]:
    """Returns the heads of a table's columns of cycles."""
    per = ("per operation",) if profile.operations else ()
    return ("cycles", "% of core", *per, *(HEADS[way] for way in _cycle_use_indexes_in_profile(profile)))


def _cycle_column_cells(profile: Profile, core: int, spent: CycleUseTotals) -> tuple[Value, ...]:
    """Returns the cells of a table's columns of cycles, for one row."""
    share = 100 * spent.total_cycles / max(1, profile.observed_cycles[core])
    per = (f"{spent.total_cycles / profile.operations:.1f}",) if profile.operations else ()
    return (
        spent.total_cycles,
        f"{share:.2f}",
        *per,
        *(spent.cycles[way] for way in _cycle_use_indexes_in_profile(profile)),
    )
