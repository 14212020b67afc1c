"""Latencies: figures, how the samples spread, and the instruments beside each other."""

from collections.abc import Sequence

from rtoslab.analyses import (
    Absence,
    Comparison,
    absences,
    comparisons,
    conditions,
    histogram,
    instrument_costs,
    series_names,
)
from rtoslab.catalogue import INSTRUMENTS
from rtoslab.reports.table import ChartData, Section, TableData, cycles_text
from rtoslab.results import Measured

NOT_APPLICABLE, NONE = "n/a", "-"
_PROSE = (
    "Each sample is one interval in cycles of the core's clock, raw and in order in the run directory "
    "(samples.parquet). What the instrument costs itself, the median of an empty interval in the same image, is "
    "subtracted here. Jitter is the longest sample less the shortest; max tells which sample it was, from 0."
)
_AGREEMENT = (
    "Counter and pin are read at both ends of an interval; the probe looks from outside and costs nothing. Left over: "
    "what subtracting the empty interval leaves of the instrument, against the marks in its own image. Probe effect: "
    "how much longer the operation itself takes between its marks because the instrument stands around it (registers "
    "and code move)."
)


def latency_section(points: Sequence[Measured]) -> Section | None:
    """The figures by the instrument that disturbs least, with a histogram for each series."""
    found = comparisons(points)
    if not found:
        return None
    absent = absences(points)
    together = _names([*found, *absent])
    names = together[: len(found)]
    rows = [_figures(each, name) for each, name in zip(found, names, strict=True)]
    columns = ("series", "run with", "by", ">n", ">min", ">median", ">mean", ">p99", ">max (sample)", ">jitter",
               ">median, us", ">max, us", ">with a tick")  # fmt: skip
    empty = [NONE] * (len(columns) - 3)
    missing = zip(absent, together[len(found) :], strict=True)
    rows += [[each.title, name, NOT_APPLICABLE, *empty] for each, name in missing]
    note = "; ".join(dict.fromkeys(f"{NOT_APPLICABLE}: {each.reason}" for each in absent))
    table = TableData("Latencies, cycles", columns, rows, note)
    return Section("latency", "Latencies", (_PROSE,), _charts(found, names), (table,))


def instruments_section(points: Sequence[Measured]) -> Section | None:
    """Every instrument's median beside the others'."""
    found = comparisons(points)
    if not any(len(each.by) > 1 for each in found):
        return None
    rows = [
        [
            each.title,
            name,
            *(cycles_text(each.by[one].spread.median) if one in each.by else "-" for one in INSTRUMENTS),
            *(_signed(each.reading_error_cycles(one)) for one in ("counter", "pin")),
            *(_signed(each.probe_effect_cycles(one)) for one in ("counter", "pin")),
        ]
        for each, name in zip(found, _names(found), strict=True)
    ]
    columns = ("series", "run with", ">counter", ">pin", ">probe", ">left over, counter", ">left over, pin",
               ">probe effect, counter", ">probe effect, pin")  # fmt: skip
    note = "A dash: not measured with it, or the operation is the instrument's own (a pin cannot time its own change)."
    table = TableData("Medians by instrument, cycles", columns, rows, note)
    return Section("instruments", "Three instruments", (_AGREEMENT,), (), (table, _costs(points)))


def _costs(points: Sequence[Measured]) -> TableData:
    """What was subtracted: the empty interval of every image."""
    found = instrument_costs(points)
    names = series_names([conditions(each.point.point) for each in found], with_cores=False)
    rows = [
        [
            each.point.point.title,
            name or "-",
            each.point.instrument,
            *(cycles_text(value) for value in (each.spread.minimum, each.spread.median, each.spread.maximum)),
            str(each.spread.maximum_at),
        ]
        for each, name in zip(found, names, strict=True)
    ]
    note = "With nothing between its two ends, before the other series; the longest is the first where caches are cold."
    columns = ("benchmark", "run with", "by", ">min", ">median", ">max", ">at sample")
    return TableData("What the instruments cost themselves, cycles", columns, rows, note)


def _names(found: Sequence[Comparison | Absence]) -> list[str]:
    return [name or "-" for name in series_names([each.point for each in found], with_cores=False)]


def _figures(each: Comparison, name: str) -> list[str]:
    best = each.best
    figures = best.spread
    return [
        each.title,
        name,
        best.instrument,
        str(figures.n),
        cycles_text(figures.minimum),
        cycles_text(figures.median),
        f"{figures.mean:,.1f}",
        cycles_text(figures.p99),
        f"{cycles_text(figures.maximum)} ({figures.maximum_at})",
        cycles_text(figures.jitter),
        f"{best.us(figures.median):,.3f}",
        f"{best.us(figures.maximum):,.3f}",
        str(best.tick_samples),
    ]


def _charts(found: Sequence[Comparison], names: Sequence[str]) -> list[ChartData]:
    charts = []
    for ident in dict.fromkeys(each.id for each in found):
        mine = [(each, name) for each, name in zip(found, names, strict=True) if each.id == ident]
        rows = [
            {"series": name, "low": one.low, "high": one.high, "count": one.count}
            for each, name in mine
            for one in histogram(each.best.net)
        ]
        charts.append(ChartData("histogram", rows, f"{mine[0][0].title}: how many samples took how many cycles."))
    return charts


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+,.0f}" if value == int(value) else f"{value:+,.1f}"
