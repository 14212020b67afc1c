"""The comparison as a table for the terminal."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from rtoslab.analyses.throughput import gains, throughput
from rtoslab.results import Failed, Measured, NotApplicable
from rtoslab.store import AnyResult


def show(results: Sequence[AnyResult], console: Console) -> None:
    """Prints measured points side by side by number of cores, then what failed and what does not apply."""
    measured = [each for each in results if isinstance(each, Measured)]
    if measured:
        console.print(_table(measured))
    for result in results:
        if isinstance(result, Failed):
            console.print(f"[red]failed[/red] {label(result)} ({result.stage}): ", end="")
            console.print(result.message, markup=False)
        elif isinstance(result, NotApplicable):
            console.print(f"[yellow]n/a[/yellow] {label(result)}: {result.reason}")


def label(result: AnyResult) -> str:
    """A point in few words."""
    point = result.point
    config = "".join(f" {key}={value}" for key, value in point.config.items())
    return f"{point.benchmark} {point.kernel} {point.board} {point.cores} core{'s' if point.cores > 1 else ''}{config}"


def _table(measured: list[Measured]) -> Table:
    table = Table(title="Throughput in the window, counts per second", title_justify="left")
    table.add_column("test")
    table.add_column("kernel, board")
    cores = sorted({each.point.cores for each in measured})
    for count in cores:
        table.add_column(f"{count} core{'s' if count > 1 else ''}", justify="right")
    ratio = {(each.benchmark, each.kernel, each.board, each.cores, tuple(each.many.point.point.config.items()),
              each.many.point.point.window_ms): each for each in gains(measured)}
    if ratio:
        table.add_column("gain", justify="right")
    for point in [count for count in cores if measured]:
        table.add_column(f"cycles per count, {point}", justify="right")
    table.add_column("proofs", justify="right")
    rows: dict[tuple[object, ...], dict[int, Measured]] = {}
    for each in measured:
        key = (each.point.title, each.point.benchmark, each.point.kernel, each.point.board, tuple(each.point.config.items()),
               each.point.window_ms)
        rows.setdefault(key, {})[each.point.cores] = each
    for (title, benchmark, kernel, board, config, window), cells in rows.items():
        rates = {count: throughput(cell) for count, cell in cells.items()}
        gain = [ratio[key].gain for key in ((benchmark, kernel, board, max(cells), config, window),) if key in ratio]
        table.add_row(
            str(title), f"{kernel}, {board}",
            *(f"{rates[count].total_hz:,.0f}" if count in rates else "-" for count in cores),
            *([f"x {gain[0]:.2f}" if gain else "-"] if ratio else []),
            *(f"{rates[count].cycles_per_count:,.1f}" if count in rates else "-" for count in cores),
            f"{sum(len(cell.proofs) for cell in cells.values())} hold",
        )
    return table
