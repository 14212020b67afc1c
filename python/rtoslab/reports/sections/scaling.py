"""What is left of each access pattern per core, with an object for each core and with one for all."""

from collections.abc import Sequence

from rtoslab.analyses import cores_of, gains, short_test
from rtoslab.reports.table import ChartData, Section, TableData
from rtoslab.results import Measured

FAMILY = "access_pattern."
"""How the metric id of such a benchmark begins."""
_PROSE = (
    "One task on each core, pinned to it, repeats the calls of a pattern, with an object for each core (shared=0) or "
    "with one for all cores (shared=1)."
)
_NOTE = (
    "Per core: the mean rate of a core over that of the core alone, the paper's normalised throughput; 100 % would be "
    "a second core for nothing. In all: both cores together, 200 % would be perfect. Least over most: the slower "
    "core's rate over the quicker one's."
)


def scaling_section(points: Sequence[Measured]) -> Section | None:
    """The paper's figure 16, and the same on one shared object."""
    pairs = [each for each in gains(points) if each.many.point.metric.startswith(FAMILY)]
    if not pairs:
        return None
    several = len({(each.kernel, each.board, each.cores) for each in pairs}) > 1
    rows, marks = [], []
    for each in pairs:
        point = each.many.point
        objects = "one object for all cores" if point.params.get("shared") == "1" else "an object for each core"
        series = f"{objects}, {each.kernel}, {each.board}, {cores_of(point.point)}" if several else objects
        parts = ", ".join(f"{part:.1%}" for part in each.many.core_parts.values())
        rates = [f"{each.per_core:.1%}", f"{each.gain:.1%}", f"{each.many.total_hz:,.0f}"]
        rows.append([each.title, series, *rates, parts, f"{each.many.least_over_most:.3f}"])
        percent = 100 * each.per_core
        marks.append({"x": short_test(point.point), "series": series, "y": percent, "text": f"{percent:.0f}"})
    columns = (
        "access pattern",
        "objects",
        ">per core, one core = 100 %",
        ">in all",
        ">counts/s, all cores",
        ">share of each core",
        ">least over most",
    )
    chart = ChartData(
        "bars",
        marks,
        "Throughput per core by access pattern, in percent of the same calls on one core alone.",
        "access pattern",
        "throughput per core, % of one core alone",
    )
    table = TableData("Access patterns with all cores against one", columns, rows, _NOTE)
    return Section("scaling", "Access patterns: what is left per core", (_PROSE,), (chart,), (table,))
