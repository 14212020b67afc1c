"""A profile as one self-contained page: no font, no link to anywhere, no script but our own inline one."""

from importlib.resources import files

from markupsafe import Markup

from rtoslab.base import Table, __version__, count_text, web_page
from rtoslab.instruments.flame import class_colours, flame_svg
from rtoslab.instruments.masked_interrupts import priority_groups
from rtoslab.instruments.profile_tables import HEADS, tables
from rtoslab.instruments.profiler import Profile, function_of
from rtoslab.instruments.show import is_number
from rtoslab.instruments.totals import Sum, sums

TOP = 40
WAY_COLOURS = ("#009E73", "#56B4E9", "#E69F00", "#D55E00", "#d8d8d8", "#0072B2", "#777777")
"""By `records.WAYS`."""
_NOTES = {
    "masked": "Held off: interrupts of these priorities could not be taken (PRIMASK, BASEPRI, FAULTMASK, or a handler "
    "of that priority or a more urgent one). Priorities with the same intervals stand together.",
    "longest": "Where such an interval was opened and closed. A handler opens one with its first instruction and "
    "closes it when its return is through.",
    "paths": "The cycles of a path's last function alone; [exception N] is its handler, [inlined] has no code.",
}


def render(profile: Profile) -> str:
    """The whole page."""
    here = files("rtoslab.instruments") / "templates"
    import jinja2  # noqa: PLC0415 (only pages need it, and every command would wait for it)

    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    template = environment.from_string((here / "profile.html.j2").read_text(encoding="utf-8"))
    return template.render(
        profile=profile,
        page=web_page(),
        version=__version__,
        summary=summary(profile),
        bars=_bars(profile),
        legend=tuple(zip(HEADS, WAY_COLOURS, strict=True)),
        flames=[Markup(flame_svg(profile, core)) for core in range(len(profile.observed_cycles))],  # noqa: S704 (ours)
        tables=[table for table in tables(profile, TOP) if table.rows],
        notes=_NOTES,
        classes=class_colours(profile),
        numeric=_numeric,
        top=TOP,
    )


def summary(profile: Profile) -> str:
    """The few sentences that a reader takes along."""
    cycles = sum(profile.observed_cycles)
    functions = sums(profile.spent, lambda spent: function_of(spent.stack))
    name, most = next(iter(functions.items()), ("nothing", Sum()))
    cores = count_text(len(profile.observed_cycles), "core")
    share = f"{100 * most.total / max(1, cycles):.1f} %"
    sentences = [f"{cycles:,} cycles on {cores}, all accounted for; most of them ({share}) in {name}."]
    if profile.operations:
        per = cycles / profile.operations
        sentences.append(f"{count_text(profile.operations, 'operation')} counted, {per:,.1f} cycles each.")
    for priority, held in priority_groups(profile)[:1]:
        worst = max(held, key=lambda held: held.longest_cycles)
        sentences.append(
            f"Interrupts of priority {priority} were masked for at most {worst.longest_cycles:,} cycles "
            f"({worst.longest_cycles * 1e6 / profile.clock_hz:.2f} us), from {function_of(worst.opener)} "
            f"({worst.opener_line or 'no line'}) to {function_of(worst.closer)} ({worst.closer_line or 'no line'})."
        )
    return " ".join(sentences)


def _bars(profile: Profile) -> list[tuple[int, list[tuple[str, str, float, int]]]]:
    """Returns for each core the parts of its bar: name, colour, percent, cycles."""
    by_core = sums(profile.spent, lambda spent: spent.core)
    bars = []
    for core, cycles in enumerate(profile.observed_cycles):
        core_sum = by_core.get(core, Sum())
        parts = [
            (name, colour, 100 * part / max(1, cycles), part)
            for name, colour, part in zip(HEADS, WAY_COLOURS, core_sum.cycles, strict=True)
            if part
        ]
        bars.append((core, parts))
    return bars


def _numeric(table: Table, column: int) -> bool:
    """Whether a column holds numbers."""
    cells = [row[column] for row in table.rows if row[column] is not None]
    return bool(cells) and all(isinstance(cell, int) or is_number(str(cell)) for cell in cells)
