"""Redraws a paper's tables: published figure, ours, ratio. Also draws the same pairs as a chart."""

from collections.abc import Mapping, Sequence
from typing import Any

from rtoslab.analyses import CodePlacementValueRange, MeasuredValue
from rtoslab.catalogue import PublishedValueRow, RedrawnTable
from rtoslab.papers.compare import ComparedFigure
from rtoslab.papers.footnotes import TableFootnotes
from rtoslab.papers.paper_charts import kernel_version_notes_of_values, value_origin_notes
from rtoslab.papers.reproduction import PaperReproduction
from rtoslab.reports import MARK, ChartData, Record, TableData, chart_range_ends, measured_value_with_range_text

LABELS = ("metric", "kernel", "board", "clock_mhz", "stat", "unit")
"""Columns of published.csv that may name a row. All but the first only where they differ within the table."""
NONE = "\N{EN DASH}"
ONE_PLACE = "Our figures without a band, such as sizes, were measured in one placement: the linker's own order."
SENSELESS = "says nothing"
"""The text in place of a ratio to a printed figure that must be wrong."""
REFERENCE = "\N{DOUBLE DAGGER}"
"""The mark after a reference result. The table's note explains it."""
REFERENCE_NOTE = "a reference result: not measured in this run."
UNITS = {"us": "\N{MICRO SIGN}s"}
"""Units as a reader writes them."""
AXES = {"us": "time, \N{MICRO SIGN}s", "ns": "time, ns", "cycles": "cycles of the core's clock", "bytes": "bytes"}


def redraw_paper_table(table: RedrawnTable, reproduction: PaperReproduction) -> TableData:
    """Redraws a paper's table with the published figure, ours and their ratio. A table without further axes also has
    our number of samples, the kernel's version, and the values of today's version. Otherwise these are in the note."""
    published, compared = reproduction.paper.paper_values_by_row_id, reproduction.compared
    today = reproduction.today.compared if reproduction.today is not None else {}
    rows = _paper_values_of_table(table, published)
    labels = [
        name
        for name in LABELS
        if name not in table.across and (name == "metric" or len({getattr(row, name) for row in rows}) > 1)
    ]
    heads = list(dict.fromkeys(_column_head_of_redrawn_table(table, row) for row in rows))
    cells: dict[tuple[str, ...], dict[str, PublishedValueRow]] = {}
    for row in rows:
        cells.setdefault(tuple(_readable_measurement_unit(str(getattr(row, name))) for name in labels), {})[
            _column_head_of_redrawn_table(table, row)
        ] = row
    full = len(heads) == 1
    with_today = full and any(
        row.id in today and _is_value_from_different_result(today[row.id], compared.get(row.id)) for row in rows
    )
    columns = list(labels)
    for head in heads:
        front = f"{head}: " if head else ""
        columns += [f">{front}paper", f">{front}here", f">{front}ratio"]
    columns += [">n", "version"] * full + [">today", ">today's ratio"] * with_today
    units = {row.unit for row in rows if row.unit}
    title = (
        table.title
        if len(units) != 1 or "unit" in table.across
        else f"{table.title}, {_readable_measurement_unit(units.pop())}"
    )
    notes = TableFootnotes()
    body = []
    for label, value in cells.items():
        line = list(label)
        for head in heads:
            line += _paper_comparison_table_cells(value.get(head), compared, notes)
        if full:
            line += _sample_count_and_kernel_version(compared.get(value[heads[0]].id))
        if with_today:
            today_row = today.get(value[heads[0]].id)
            line += (
                (text_of_reproduced_value(today_row), ratio_to_paper_value_text(today_row))
                if today_row is not None
                else (NONE, NONE)
            )
        body.append(line)
    values = [ours.value for row in rows if (ours := compared.get(row.id)) is not None and ours.value is not None]
    lent = any(REFERENCE in cell for line in body for cell in line)
    mark = f"{REFERENCE} {REFERENCE_NOTE}" if lent else ""
    wrong = dict.fromkeys(compared[row.id].no_ratio for row in rows if row.id in compared)
    senseless = f"A ratio {SENSELESS}: {'; '.join(filter(None, wrong))}." if any(wrong) else ""
    one = next(
        (
            ONE_PLACE
            for row in rows
            if row.id in compared and _is_measured_in_one_code_placement(compared[row.id], compared)
        ),
        "",
    )
    parts = (
        table.note,
        mark,
        one,
        senseless,
        *_sample_counts_note(values, full),
        *kernel_version_notes_of_values(reproduction, values),
        *notes.footnote_lines,
    )
    records = [
        record for row in rows if row.id in compared for record in _comparison_csv_records(row, compared[row.id])
    ]
    return TableData(title, tuple(columns), body, " ".join(filter(None, parts)), records=records)


def _is_value_from_different_result(other: ComparedFigure, above: ComparedFigure | None) -> bool:
    """Whether two compared figures have values from different measured results."""
    return above is None or other.value is None or above.value is None or other.value.run_id != above.value.run_id


def _sample_count_and_kernel_version(ours: ComparedFigure | None) -> tuple[str, str]:
    """Returns the number of samples and the kernel version of our value, as texts. Dashes without a value."""
    if ours is None or ours.value is None:
        return NONE, NONE
    return f"{ours.value.n:,}", ours.source.version if ours.source is not None else NONE


def _sample_counts_note(values: Sequence[MeasuredValue], full: bool) -> list[str]:
    """Returns a sentence on the numbers of samples. Empty with `full`, where the table itself has them."""
    counts = sorted({value.n for value in values})
    if full or not counts:
        return []
    return [f"n = {counts[0]:,}." if len(counts) == 1 else f"n = {counts[0]:,} to {counts[-1]:,}."]


def _comparison_csv_records(row: PublishedValueRow, ours: ComparedFigure) -> list[Record]:
    """Returns a published figure and ours as rows of numbers for the exported CSV."""
    axes: Record = {"row": row.id, "metric": row.metric, "stat": row.stat, "board": row.board}
    fields: Record = {"unit": row.unit, "kernel": row.kernel}
    here, band = ours.our_value, ours.band
    own: Record = {
        "value": here,
        "low": band.smallest if band else here,
        "high": band.largest if band else here,
        "n": ours.value.n if ours.value else None,
        "version": ours.source.version if ours.source else "",
        "flags": value_origin_notes(ours.source),
        "note": ours.reason,
    }
    printed: Record = {"value": row.paper_value_as_number, "version": row.version, "note": ours.no_ratio}
    return [{"source": "paper", **axes, **fields, **printed}, {"source": "here", **axes, **fields, **own}]


def _is_measured_in_one_code_placement(compared_row: ComparedFigure, compared: Mapping[int, ComparedFigure]) -> bool:
    """Whether a figure was measured in one placement of the code only, although other figures were measured in
    several."""
    return (
        compared_row.our_value is not None
        and compared_row.band is None
        and any(other.band for other in compared.values())
    )


def published_and_our_values_chart(
    table: RedrawnTable, published: Mapping[int, PublishedValueRow], compared: Mapping[int, ComparedFigure]
) -> list[ChartData]:
    """Returns charts with the published figures and ours as two marks on a line, one chart for each unit. Empty if the
    table has no number."""
    rows = [row for row in _paper_values_of_table(table, published) if row.paper_value_as_number is not None]
    kernels = {row.kernel for row in rows}
    stats = {row.stat for row in rows}
    charts = []
    for unit in dict.fromkeys(row.unit for row in rows):
        marks: list[dict[str, Any]] = []
        for row in (item for item in rows if item.unit == unit):
            name = row.metric + (f", {row.stat}" if len(stats) > 1 else "")
            name += f" ({row.kernel})" if len(kernels) > 1 else ""
            marks.append({"x": name, "series": "paper", "y": row.paper_value_as_number})
            ours = compared.get(row.id)
            if ours is not None and ours.our_value is not None:
                marks.append(
                    {
                        "x": name,
                        "series": "here",
                        "y": ours.our_value,
                        **(chart_range_ends(ours.band) if ours.band else {}),
                    }
                )
        caption = f"{table.title}: the paper's figures and ours. A mark alone means that we have no value."
        charts.append(ChartData("pairs", marks, caption, "", AXES.get(unit, unit), table.log))
    return charts


def text_of_reproduced_value(compared_row: ComparedFigure) -> str:
    """Returns our value for a table's cell, or the reason why there is none."""
    if compared_row.our_value is None:
        return "n/a" if compared_row.state == "bring your own" else compared_row.state
    text = measured_value_with_range_text(
        compared_row.band or CodePlacementValueRange([compared_row.our_value]),
        lambda value: _our_value_with_paper_decimals(compared_row, value),
    )
    return text + (REFERENCE if compared_row.state == "reference" else "") + (MARK if compared_row.deviates else "")


def _our_value_with_paper_decimals(compared_row: ComparedFigure, here: float) -> str:
    """Returns our value with as many decimals as the paper prints for its figure."""
    text = compared_row.published.value
    if compared_row.published.paper_value_as_number is None:
        return f"{here:,.4g}"
    if "e" in text.lower():
        return f"{here:.3g}"
    decimals = max(len(text.partition(".")[2]), 0 if here == round(here) or here >= 1000 else 1)
    return f"{here:,.{decimals}f}"


def ratio_to_paper_value_text(compared_row: ComparedFigure) -> str:
    """Returns our value divided by the paper's, as text, with the range over placements of the code."""
    if compared_row.ratio_to_paper is None:
        return SENSELESS if compared_row.no_ratio and compared_row.our_value is not None else NONE
    text = f"{compared_row.ratio_to_paper:.2f}"
    least, most = (
        f"{ratio:.2f}"
        for ratio in compared_row.ratio_range_over_code_placements
        or (compared_row.ratio_to_paper, compared_row.ratio_to_paper)
    )
    return text if least == most else f"{text} ({least} to {most})"


def _paper_values_of_table(table: RedrawnTable, published: Mapping[int, PublishedValueRow]) -> list[PublishedValueRow]:
    """Returns the published figures of a table, under the names that the table gives them."""
    return [
        published[ident].model_copy(update={"metric": table.names.get(str(ident), published[ident].metric)})
        for ident in table.rows
    ]


def _readable_measurement_unit(text: str) -> str:
    """Returns a unit in readable form, such as µs for `us`."""
    return UNITS.get(text, text)


def _column_head_of_redrawn_table(table: RedrawnTable, row: PublishedValueRow) -> str:
    """Returns the head of the table's columns that a published figure belongs to."""
    return " ".join(_readable_measurement_unit(str(getattr(row, name))) for name in table.across)


def _paper_comparison_table_cells(
    row: PublishedValueRow | None, compared: Mapping[int, ComparedFigure], notes: TableFootnotes
) -> Sequence[str]:
    """Returns the table's cells for the paper's figure, ours and the ratio. A footnote says why a value of ours is
    missing."""
    if row is None:
        return NONE, NONE, NONE
    ours = compared.get(row.id)
    if ours is None:
        return (
            row.value,
            f"n/a{notes.add_footnote(row.note or 'a condition or a model of the paper, no measurement')}",
            NONE,
        )
    here = text_of_reproduced_value(ours)
    return (
        row.value,
        here + (notes.add_footnote(ours.reason) if ours.our_value is None and ours.reason else ""),
        ratio_to_paper_value_text(ours),
    )
