"""A paper's tables redrawn: published figure, ours, ratio; and the same pairs as a chart."""

from collections.abc import Mapping, Sequence
from typing import Any

from rtoslab.analyses import Band, Value
from rtoslab.catalogue import PublishedRow, RedrawnTable
from rtoslab.papers.compare import ComparedRow
from rtoslab.papers.footnotes import Footnotes
from rtoslab.papers.paper_charts import flags_of, versions_note
from rtoslab.papers.reproduction import Reproduction
from rtoslab.reports import MARK, ChartData, Record, TableData, band_ends, band_text

LABELS = ("metric", "kernel", "board", "clock_mhz", "stat", "unit")
"""Columns of published.csv that may name a row. All but the first only where they differ within the table."""
NONE = "\N{EN DASH}"
ONE_PLACE = "Where no band could be, as of sizes, ours is of one placement: the linker's own order."
SENSELESS = "says nothing"
"""Instead of a ratio to a figure that cannot be what its name says."""
REFERENCE = "\N{DOUBLE DAGGER}"
"""After a value that is a reference result. The table's note says what that is."""
REFERENCE_NOTE = "a reference result: not measured in this run."
UNITS = {"us": "\N{MICRO SIGN}s"}
"""Units as a reader writes them."""
AXES = {"us": "time, \N{MICRO SIGN}s", "ns": "time, ns", "cycles": "cycles of the core's clock", "bytes": "bytes"}


def redraw(table: RedrawnTable, done: Reproduction) -> TableData:
    """Returns the table with columns for the paper's figure, ours and their ratio, for each combination of `across`.

    A table of one combination also says how many samples ours is of and with which version, and what the version of
    today gives. The note lists several combinations."""
    published, compared = done.paper.published_rows, done.compared
    today = done.today.compared if done.today is not None else {}
    rows = _rows(table, published)
    labels = [
        name
        for name in LABELS
        if name not in table.across and (name == "metric" or len({getattr(row, name) for row in rows}) > 1)
    ]
    heads = list(dict.fromkeys(_across(table, row) for row in rows))
    cells: dict[tuple[str, ...], dict[str, PublishedRow]] = {}
    for row in rows:
        cells.setdefault(tuple(_unit_text(str(getattr(row, name))) for name in labels), {})[_across(table, row)] = row
    full = len(heads) == 1
    with_today = full and any(row.id in today and _differs(today[row.id], compared.get(row.id)) for row in rows)
    columns = list(labels)
    for head in heads:
        front = f"{head}: " if head else ""
        columns += [f">{front}paper", f">{front}here", f">{front}ratio"]
    columns += [">n", "version"] * full + [">today", ">today's ratio"] * with_today
    units = {row.unit for row in rows if row.unit}
    title = table.title if len(units) != 1 or "unit" in table.across else f"{table.title}, {_unit_text(units.pop())}"
    notes = Footnotes()
    body = []
    for label, value in cells.items():
        line = list(label)
        for head in heads:
            line += _triple(value.get(head), compared, notes)
        if full:
            line += _origin(compared.get(value[heads[0]].id))
        if with_today:
            today_row = today.get(value[heads[0]].id)
            line += (here_text(today_row), ratio_text(today_row)) if today_row is not None else (NONE, NONE)
        body.append(line)
    values = [ours.value for row in rows if (ours := compared.get(row.id)) is not None and ours.value is not None]
    lent = any(REFERENCE in cell for line in body for cell in line)
    mark = f"{REFERENCE} {REFERENCE_NOTE}" if lent else ""
    wrong = dict.fromkeys(compared[row.id].no_ratio for row in rows if row.id in compared)
    senseless = f"A ratio {SENSELESS}: {'; '.join(filter(None, wrong))}." if any(wrong) else ""
    one = next((ONE_PLACE for row in rows if row.id in compared and _is_lone(compared[row.id], compared)), "")
    parts = (table.note, mark, one, senseless, *_samples(values, full), *versions_note(done, values), *notes.sentences)
    records = [record for row in rows if row.id in compared for record in _records(row, compared[row.id])]
    return TableData(title, tuple(columns), body, " ".join(filter(None, parts)), records=records)


def _differs(other: ComparedRow, above: ComparedRow | None) -> bool:
    return above is None or other.value is None or above.value is None or other.value.run_id != above.value.run_id


def _origin(ours: ComparedRow | None) -> tuple[str, str]:
    """How many samples a value is of, and the version."""
    if ours is None or ours.value is None:
        return NONE, NONE
    return f"{ours.value.n:,}", ours.source.version if ours.source is not None else NONE


def _samples(values: Sequence[Value], full: bool) -> list[str]:
    counts = sorted({value.n for value in values})
    if full or not counts:
        return []
    return [f"n = {counts[0]:,}." if len(counts) == 1 else f"n = {counts[0]:,} to {counts[-1]:,}."]


def _records(row: PublishedRow, ours: ComparedRow) -> list[Record]:
    """The row as numbers, for the exported CSV: the paper's figure and ours."""
    axes: Record = {"row": row.id, "metric": row.metric, "stat": row.stat, "board": row.board}
    fields: Record = {"unit": row.unit, "kernel": row.kernel}
    here, band = ours.here, ours.band
    own: Record = {
        "value": here,
        "low": band.least if band else here,
        "high": band.most if band else here,
        "n": ours.value.n if ours.value else None,
        "version": ours.source.version if ours.source else "",
        "flags": flags_of(ours.source),
        "note": ours.why,
    }
    printed: Record = {"value": row.number, "version": row.version, "note": ours.no_ratio}
    return [{"source": "paper", **axes, **fields, **printed}, {"source": "here", **axes, **fields, **own}]


def _is_lone(compared_row: ComparedRow, compared: Mapping[int, ComparedRow]) -> bool:
    """Whether a measured figure is in one placement, though others of the run are in several."""
    return (
        compared_row.here is not None and compared_row.band is None and any(other.band for other in compared.values())
    )


def pairs_chart(
    table: RedrawnTable, published: Mapping[int, PublishedRow], compared: Mapping[int, ComparedRow]
) -> list[ChartData]:
    """One chart per unit: published figures and ours as two marks on a line. Empty if the table has no number."""
    rows = [row for row in _rows(table, published) if row.number is not None]
    kernels = {row.kernel for row in rows}
    stats = {row.stat for row in rows}
    charts = []
    for unit in dict.fromkeys(row.unit for row in rows):
        marks: list[dict[str, Any]] = []
        for row in (item for item in rows if item.unit == unit):
            name = row.metric + (f", {row.stat}" if len(stats) > 1 else "")
            name += f" ({row.kernel})" if len(kernels) > 1 else ""
            marks.append({"x": name, "series": "paper", "y": row.number})
            ours = compared.get(row.id)
            if ours is not None and ours.here is not None:
                marks.append(
                    {"x": name, "series": "here", "y": ours.here, **(band_ends(ours.band) if ours.band else {})}
                )
        caption = f"{table.title}: the paper's figures and ours. A mark alone has no value of ours."
        charts.append(ChartData("pairs", marks, caption, "", AXES.get(unit, unit), table.log))
    return charts


def here_text(compared_row: ComparedRow) -> str:
    """Our cell: the value with as many decimals as the paper prints, of several placements with its band, or the state
    in words."""
    if compared_row.here is None:
        return "n/a" if compared_row.state == "bring your own" else compared_row.state
    text = band_text(compared_row.band or Band([compared_row.here]), lambda value: _number(compared_row, value))
    return text + (REFERENCE if compared_row.state == "reference" else "") + (MARK if compared_row.deviates else "")


def _number(compared_row: ComparedRow, here: float) -> str:
    text = compared_row.published.value
    if compared_row.published.number is None:
        return f"{here:,.4g}"
    if "e" in text.lower():
        return f"{here:.3g}"
    decimals = max(len(text.partition(".")[2]), 0 if here == round(here) or here >= 1000 else 1)
    return f"{here:,.{decimals}f}"


def ratio_text(compared_row: ComparedRow) -> str:
    """Ours over the paper's. Several placements also show the least and the most, where that is visible in two
    decimals."""
    if compared_row.ratio is None:
        return SENSELESS if compared_row.no_ratio and compared_row.here is not None else NONE
    text = f"{compared_row.ratio:.2f}"
    least, most = (f"{ratio:.2f}" for ratio in compared_row.ratios or (compared_row.ratio, compared_row.ratio))
    return text if least == most else f"{text} ({least} to {most})"


def _rows(table: RedrawnTable, published: Mapping[int, PublishedRow]) -> list[PublishedRow]:
    """The rows with the names that the table gives them."""
    return [
        published[ident].model_copy(update={"metric": table.names.get(str(ident), published[ident].metric)})
        for ident in table.rows
    ]


def _unit_text(text: str) -> str:
    return UNITS.get(text, text)


def _across(table: RedrawnTable, row: PublishedRow) -> str:
    return " ".join(_unit_text(str(getattr(row, name))) for name in table.across)


def _triple(row: PublishedRow | None, compared: Mapping[int, ComparedRow], notes: Footnotes) -> Sequence[str]:
    """Paper, here, ratio. A note says why a row has no value of ours."""
    if row is None:
        return NONE, NONE, NONE
    ours = compared.get(row.id)
    if ours is None:
        return row.value, f"n/a{notes.mark(row.note or 'a condition or a model of the paper, no measurement')}", NONE
    here = here_text(ours)
    return row.value, here + (notes.mark(ours.why) if ours.here is None and ours.why else ""), ratio_text(ours)
