"""A profile as tables of plain values, for the terminal, HTML and JSON alike."""

from collections.abc import Sequence
from typing import Final

from rtoslab.base import Table, Value
from rtoslab.instruments.masked_interrupts import interrupt_tables
from rtoslab.instruments.profiler import Profile, Stack
from rtoslab.instruments.records import WAYS
from rtoslab.instruments.spinlocks import lock_tables
from rtoslab.instruments.totals import Sum, by_function, sums, with_callees

HEADS: Final = ("execute", "bus wait", "flash wait", "lock wait", "sleep", "exceptions", "stopped")
"""Column heads of `records.WAYS`."""
ARROW: Final = " > "


def path_text(stack: Stack) -> str:
    """A call path on one line."""
    return ARROW.join(stack)


def tables(profile: Profile, top: int | None = None) -> tuple[Table, ...]:
    """All tables. Long tables show the `top` rows with most cycles."""
    return (
        core_table(profile),
        function_table(profile, top),
        path_table(profile, top),
        line_table(profile, top),
        *interrupt_tables(profile, top),
        *lock_tables(profile, top),
    )


def brief_tables(profile: Profile) -> tuple[Table, Table]:
    """Cores and functions for a terminal: what cycles were spent on in one column."""
    cores = sums(profile.spent, lambda spent: spent.core)
    core_rows = [
        (core, cycles, cores.get(core, Sum()).executions, _spent_text(cores.get(core, Sum())))
        for core, cycles in enumerate(profile.observed_cycles)
    ]
    whole, most = with_callees(profile), 3 if profile.operations else 2
    function_rows = [
        (
            core, name, item.calls or None, *_cells(profile, core, item)[:most], whole[core, name], _spent_text(item),
        )
        for (core, name), item in by_function(profile).items()
    ]  # fmt: skip
    heads = ("core", "function", "calls", *_heads(profile)[:most], "inclusive", "spent on")
    return (
        Table("cores", "Where each core's cycles went", ("core", "cycles", "instructions", "spent on"), core_rows),
        Table("functions", "Functions, by their own cycles", heads, function_rows),
    )


def _spent_text(spent: Sum) -> str:
    """The shares of at least half a percent, the largest first."""
    shares = sorted(zip(spent.cycles, HEADS, strict=True), key=lambda share: -share[0])
    parts = [f"{100 * cycles / spent.total:.0f} % {head}" for cycles, head in shares if cycles * 200 >= spent.total > 0]
    return ", ".join(parts)


def core_table(profile: Profile) -> Table:
    """Each core's cycles by what they were spent on. Each row adds up to the cycles observed."""
    by_core = sums(profile.spent, lambda spent: spent.core)
    rows: list[Sequence[Value]] = []
    for core, cycles in enumerate(profile.observed_cycles):
        core_sum = by_core.get(core, Sum())
        rows.append((core, *core_sum.cycles, cycles, core_sum.executions))
    return Table("cores", "Where each core's cycles went", ("core", *HEADS, "all cycles", "instructions"), rows)


def function_table(profile: Profile, top: int | None) -> Table:
    """Functions by their own cycles."""
    whole = with_callees(profile)
    rows = [
        (
            core, name, profile.classes.get(name), *_cells(profile, core, item), whole[core, name], item.calls or None,
        )
        for (core, name), item in by_function(profile).items()
    ]  # fmt: skip
    columns = ("core", "function", "class", *_heads(profile), "inclusive", "calls")
    return Table("functions", "Functions, by their own cycles", columns, rows[:top])


def path_table(profile: Profile, top: int | None) -> Table:
    """Call paths by the cycles at their end."""
    by_path = sums(profile.spent, lambda spent: (spent.core, spent.stack))
    rows = [(core, path_text(stack), *_cells(profile, core, item)) for (core, stack), item in by_path.items()]
    return Table("paths", "Call paths, by the cycles at their end", ("core", "path", *_heads(profile)), rows[:top])


def line_table(profile: Profile, top: int | None) -> Table:
    """Source lines by their cycles, whatever path led there."""
    by_line = sums(profile.spent, lambda spent: (spent.core, spent.line or "(no line)"))
    rows = [(core, line, *_cells(profile, core, item)) for (core, line), item in by_line.items()]
    return Table("lines", "Source lines", ("core", "line", *_heads(profile)), rows[:top])


def _used(profile: Profile) -> list[int]:
    """Ways on which anything was spent: the others would be columns of zeros."""
    return [way for way in range(len(WAYS)) if any(spent.cycles[way] for spent in profile.spent)]


def _heads(profile: Profile) -> tuple[str, ...]:
    per = ("per operation",) if profile.operations else ()
    return ("cycles", "% of core", *per, *(HEADS[way] for way in _used(profile)))


def _cells(profile: Profile, core: int, spent: Sum) -> tuple[Value, ...]:
    share = 100 * spent.total / max(1, profile.observed_cycles[core])
    per = (f"{spent.total / profile.operations:.1f}",) if profile.operations else ()
    return (spent.total, f"{share:.2f}", *per, *(spent.cycles[way] for way in _used(profile)))
