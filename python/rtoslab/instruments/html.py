"""Writes a profile as one self-contained page: no font, no external link, no script but our own inline one."""

from itertools import groupby

from markupsafe import Markup

from rtoslab.base import TitledTable, __version__, count_with_noun, html_page_style_and_script, render_template
from rtoslab.instruments.flame import flame_svg, function_class_colours
from rtoslab.instruments.masked_interrupts import group_priorities_with_equal_masking
from rtoslab.instruments.profile_tables import HEADS, all_profile_tables
from rtoslab.instruments.profiler import Profile, innermost_function
from rtoslab.instruments.show import is_numeric_table_text
from rtoslab.instruments.totals import CycleUseTotals, sum_profile_cycles_by_key

TOP = 40
WAY_COLOURS = ("#009E73", "#56B4E9", "#E69F00", "#D55E00", "#d8d8d8", "#0072B2", "#777777")
"""The colours of `records.WAYS`, in their order."""
_NOTES = {
    "masked": "Intervals in which interrupts of these priorities could not be taken (PRIMASK, BASEPRI, FAULTMASK, "
    "or a handler of that priority or a more urgent one). Priorities with the same intervals are shown "
    "together.",
    "longest": "The functions that began and ended these intervals. A handler begins one with its first "
    "instruction and ends it with the end of its return.",
    "paths": (
        "The cycles are those of the last function of each path alone. [exception N]: called by the handler of this "
        "exception. [inlined]: inlined into its caller."
    ),
}


def render_profile_page(profile: Profile) -> str:
    """Returns a profile as an HTML page."""
    return render_template(
        "rtoslab.instruments",
        "templates/profile.html.j2",
        profile=profile,
        page=html_page_style_and_script(),
        version=__version__,
        summary=profile_summary_text(profile),
        bars=_core_cycle_bars(profile),
        legend=tuple(zip(HEADS, WAY_COLOURS, strict=True)),
        flames=[Markup(flame_svg(profile, core)) for core in range(len(profile.observed_cycles))],  # noqa: S704 (ours)
        tables=[table for table in all_profile_tables(profile, TOP) if table.rows],
        notes=_NOTES,
        classes=function_class_colours(profile),
        numeric=_is_numeric_column,
        top=TOP,
    )


def profile_summary_text(profile: Profile) -> str:
    """Returns a few sentences that sum up a profile, such as its cycles and the function with the most."""
    cycles = sum(profile.observed_cycles)
    functions = sum_profile_cycles_by_key(profile.spent, lambda spent: innermost_function(spent.stack))
    name, most = next(iter(functions.items()), ("nothing", CycleUseTotals()))
    cores = count_with_noun(len(profile.observed_cycles), "core")
    share = f"{100 * most.total_cycles / max(1, cycles):.1f} %"
    sentences = [f"{cycles:,} cycles on {cores}, all accounted for; most of them ({share}) in {name}."]
    if profile.operations:
        per = cycles / profile.operations
        sentences.append(f"{count_with_noun(profile.operations, 'operation')} counted, {per:,.1f} cycles each.")
    for priority, held in group_priorities_with_equal_masking(profile)[:1]:
        worst = max(held, key=lambda held: held.longest_cycles)
        sentences.append(
            f"Interrupts of priority {priority} were masked for at most {worst.longest_cycles:,} cycles "
            f"({worst.longest_cycles * 1e6 / profile.clock_hz:.2f} us), from {innermost_function(worst.opener)} "
            f"({worst.opener_line or 'no line'}) to {innermost_function(worst.closer)} "
            f"({worst.closer_line or 'no line'})."
        )
    for start, group in groupby(profile.masked_at_end, key=lambda masked: masked.longest_start):
        members = list(group)
        first, last = members[0], members[-1]
        until = f" to {last.priority:#04x}" if len(members) > 1 else ""
        sentences.append(
            f"Interrupts of priority {first.priority:#04x}{until} were still masked at the end, for "
            f"{first.longest_cycles:,} cycles since cycle {start:,}, from {innermost_function(first.opener)} "
            f"({first.opener_line or 'no line'})."
        )
    return " ".join(sentences)


def _core_cycle_bars(profile: Profile) -> list[tuple[int, list[tuple[str, str, float, int]]]]:
    """Returns, for each core, the parts of its bar in the page: name, colour, percent, cycles."""
    by_core = sum_profile_cycles_by_key(profile.spent, lambda spent: spent.core)
    bars = []
    for core, cycles in enumerate(profile.observed_cycles):
        core_sum = by_core.get(core, CycleUseTotals())
        parts = [
            (name, colour, 100 * part / max(1, cycles), part)
            for name, colour, part in zip(HEADS, WAY_COLOURS, core_sum.cycles, strict=True)
            if part
        ]
        bars.append((core, parts))
    return bars


def _is_numeric_column(table: TitledTable, column: int) -> bool:
    """Whether a column of a table contains only numbers."""
    cells = [row[column] for row in table.rows if row[column] is not None]
    return bool(cells) and all(isinstance(cell, int) or is_numeric_table_text(str(cell)) for cell in cells)
