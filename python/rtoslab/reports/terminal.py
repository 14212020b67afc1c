"""The comparison as a table for the terminal: one line per test, one core beside two."""

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from rtoslab.analyses import (
    Gain,
    PlacedPoint,
    conditions,
    core_words,
    gains,
    pinning_note,
    placed_points,
    series_names,
    shares,
    short_test,
    throughput,
)
from rtoslab.base import counted
from rtoslab.reports.deviations import MARK, deviating, footnote, marked
from rtoslab.reports.latency_table import latency_table
from rtoslab.reports.proof_words import proof_words
from rtoslab.results import Failed, Measured, NotApplicable
from rtoslab.store import AnyResult


def show_points(results: Sequence[AnyResult], console: Console) -> None:
    """Prints measured points side by side by number of cores, then what failed and what does not apply."""
    every = [each for each in results if isinstance(each, Measured)]
    placed = placed_points(every)
    bands = {each.middle.run_id: _band(each) for each in placed if len(each.all) > 1}
    measured = [each.middle for each in placed]
    in_window = [each for each in measured if not each.is_latency]
    kernels = deviating(measured)
    tables: list[Table] = []
    if in_window:
        timed = {each.point.benchmark for each in measured if each.is_latency}
        firsts = {id(each.all[0]): each.middle for each in placed}
        rows = [firsts.get(id(each), each) for each in results if id(each) in firsts or not isinstance(each, Measured)]
        tables.append(_table([each for each in rows if each.point.benchmark not in timed], bands))
    if len(in_window) < len(measured):
        tables.append(latency_table(measured, console.width))
    for table in tables:
        if kernels and all(each.deviations for each in measured):  # no row need name them then
            table.title = f"{table.title} {MARK}"
        console.print(table)
    if kernels:
        console.print(Text(footnote(kernels)), soft_wrap=True)
    if every:
        console.print(f"{counted(len(every), 'point')} measured; {proof_words(every)}.")
    note = pinning_note([each.point for each in in_window])
    if note:
        console.print(note, soft_wrap=True)
    if bands:
        console.print("Of points in several placements the one in the middle is shown; a report has the bands.")
    _show_missing(results, console)


def _show_missing(results: Sequence[AnyResult], console: Console) -> None:
    for result in results:
        if isinstance(result, Failed):
            line = f" {label(result)} ({result.stage}): {result.message}"
            console.print(Text("failed", style="red") + Text(line), soft_wrap=True)
    for (where, reason), tests in _missing(results).items():
        line = f" {', '.join(tests)} {where}: {reason}"
        console.print(Text("n/a", style="yellow") + Text(line), soft_wrap=True)


def _missing(results: Sequence[AnyResult]) -> dict[tuple[str, str], list[str]]:
    """(where, why) -> the tests, or series of one, that cannot exist there for that reason."""
    found: dict[tuple[str, str], list[str]] = {}
    for result in results:
        reasons: list[tuple[str, str]] = []
        if isinstance(result, NotApplicable):
            reasons = [(short_test(result.point), result.reason)]
        elif isinstance(result, Measured):
            reasons = [(f"{short_test(result.point)} ({each.title})", each.reason) for each in result.absent_series]
        alike = result.model_copy(update={"point": conditions(result.point)})
        for test, reason in reasons:
            tests = found.setdefault((label(alike).partition(" ")[2], reason), [])
            if test not in tests:
                tests.append(test)
    return found


def show_proofs(results: Sequence[AnyResult], console: Console) -> None:
    """Prints every proof of every point."""
    table = Table("test", "cores", "rule", "seen", "verdict", title="Proofs", title_justify="left")
    for result in results:
        for each in () if isinstance(result, NotApplicable) else result.proofs:
            table.add_row(short_test(result.point), str(result.point.cores), each.rule, each.saw, each.verdict.value)
    console.print(table)


def label(result: AnyResult) -> str:
    """A point in few words."""
    point = result.point
    config = "".join(f" {key}={value}" for key, value in point.config.items())
    return f"{point.benchmark} {point.kernel} {point.board} {core_words(point.cores)}{config}"


def _band(point: PlacedPoint) -> str:
    """The least and the most of a point's throughput; empty where its place makes no difference."""
    if point.middle.is_latency or not any(band.width for _, band in point.bands):
        return ""
    rates = [throughput(each).total_hz for each in point.all]
    return f" ({min(rates):,.0f} to {max(rates):,.0f})"


def _table(results: Sequence[AnyResult], bands: Mapping[str, str]) -> Table:
    """Rows: tests (and what else differs but cores); columns: rate by number of cores, gain, spinlock wait."""
    cores = sorted({each.point.cores for each in results})
    groups: dict[tuple[str, str], dict[int, AnyResult]] = {}
    measured = [each for each in results if isinstance(each, Measured)]
    kernels = deviating(measured)
    alike = series_names([each.point.model_copy(update={"cores": 1}) for each in results])
    for name, each in zip(alike, results, strict=True):
        series = ", ".join(part for part in name.split(", ") if part != core_words(1))
        groups.setdefault((each.point.title, marked(series, kernels)), {})[each.point.cores] = each
    pairs = {each.many.point.run_id: each for each in gains(measured)}
    named = any(series for _, series in groups)
    table = Table(title="Throughput, counts per second in the window", title_justify="left")
    table.add_column("test")
    if named:
        table.add_column("run with")
    for count in cores:
        table.add_column(core_words(count), justify="right", no_wrap=True)
    if pairs:
        table.add_column("gain", justify="right", no_wrap=True)
        table.add_column("cycles spent spinning", justify="right")
    for (title, series), row in groups.items():
        rates = [_rate(row.get(count), bands) for count in cores]
        cells = {count: each for count, each in row.items() if isinstance(each, Measured)}
        table.add_row(title, *([series] if named else []), *rates, *(_gain_cells(cells, pairs) if pairs else []))
    return table


def _rate(result: AnyResult | None, bands: Mapping[str, str]) -> str:
    if isinstance(result, Measured):
        return f"{throughput(result).total_hz:,.0f}{bands.get(result.run_id, '')}"
    return "-" if result is None else result.status


def _gain_cells(cells: dict[int, Measured], pairs: dict[str, Gain]) -> list[str]:
    if not cells:
        return ["-", "-"]
    widest = cells[max(cells)]
    pair = next((each for each in gains(cells.values()) if each.many.point.run_id == widest.run_id), None)
    found = shares(widest)
    spinning = sum(each.parts["spinlock wait"] for each in found) / sum(each.cycles for each in found) if found else 0.0
    return [f"x {pair.gain:.2f}" if pair else "-", f"{spinning:.1%}" if found and widest.run_id in pairs else "-"]
