"""Throughput, and what more cores bring."""

from collections.abc import Sequence

from rtoslab.analyses import gains, series_names, short_test, throughput
from rtoslab.reports.sections.naming import named
from rtoslab.reports.table import ChartData, Section, TableData
from rtoslab.results import Measured


def throughput_section(points: Sequence[Measured]) -> Section | None:
    """Counts per second, like the paper's figure 18."""
    if not points:
        return None
    rows, data = [], []
    for test, series, point in named(points):
        rate = throughput(point)
        data.append({"test": test, "series": series, "rate": rate.total_hz, "unit": point.unit})
        per_core = ", ".join(f"{value:,.0f}" for value in rate.per_core_hz.values())
        rows.append(
            [
                point.point.title,
                series,
                f"{rate.total_hz:,.0f}",
                per_core,
                f"{rate.cycles_per_count:,.1f}",
                f"{rate.fairness:.4f}",
                point.unit,
            ]
        )
    note = (
        "Counts over the window by the board's own timer. Cycles per count are those of one core. Fairness is Jain's "
        "index "
        "over the cores: 1 means all counted alike."
    )
    table = TableData(
        "Throughput",
        ("test", "run with", ">counts/s, all cores", ">per core", ">cycles per count", ">fairness", "what is counted"),
        rows,
        note,
    )
    chart = ChartData(
        "throughput",
        data,
        "Counts per second by test, on a logarithmic scale; a mark per kernel and number of cores.",
    )
    return Section("throughput", "Throughput", (), (chart,), (table,))


def gain_section(points: Sequence[Measured]) -> Section | None:
    """What more cores buy."""
    pairs = gains(points)
    if not pairs:
        return None
    names = series_names([each.many.point.point for each in pairs])
    data = [
        {"test": short_test(each.many.point.point), "series": name, "gain": each.gain, "cores": each.cores}
        for name, each in zip(names, pairs, strict=True)
    ]
    rows = [
        [each.title, name, f"x {each.gain:.3f}", f"{each.per_core:.1%}"]
        for name, each in zip(names, pairs, strict=True)
    ]
    table = TableData(
        "Gain over one core",
        ("test", "run with", ">total", ">per core"),
        rows,
        "Total: all cores together over the single core; 2 would be perfect on two cores, below 1 the second core "
        "costs more than it brings. Per core: the paper's normalised throughput.",
    )
    chart = ChartData("gain", data, "Total throughput with two cores over that with one; 1 is no gain, 2 is perfect.")
    return Section("gain", "What the second core brings", (), (chart,), (table,))
