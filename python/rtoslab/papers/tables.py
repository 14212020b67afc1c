"""A paper's tables redrawn: published figure, ours, ratio; and the same pairs as a chart."""

from collections.abc import Mapping, Sequence
from typing import Any

from rtoslab.analyses import Band
from rtoslab.catalogue import Published, Table
from rtoslab.papers.compare import Compared
from rtoslab.reports import MARK, ChartData, TableData, banded, ends

LABELS = ("metric", "kernel", "board", "clock_mhz", "stat", "unit")
"""Columns of published.csv that may name a row; all but the first only where they differ within the table."""
BRING_YOUR_OWN = "n/a: bring your own"
NONE = "\N{EN DASH}"
ONE_PLACE = "Where no band could be, as of sizes, ours is of one placement: the linker's own order."
SENSELESS = "says nothing"
"""Instead of a ratio to a figure that cannot be what its name says."""
REFERENCE = "\N{DOUBLE DAGGER}"
"""Behind a value that is a reference result; the table's note says what that is."""
REFERENCE_NOTE = "a reference result: not measured in this run, and in one placement."
UNITS = {"us": "\N{MICRO SIGN}s"}
"""Units as a reader writes them."""
AXES = {"us": "time, \N{MICRO SIGN}s", "ns": "time, ns", "cycles": "cycles of the core's clock", "bytes": "bytes"}


def redraw(table: Table, published: Mapping[int, Published], compared: Mapping[int, Compared]) -> TableData:
    """The table with a group of columns (paper, here, ratio) for each combination of `across`."""
    rows = _rows(table, published)
    labels = [
        name
        for name in LABELS
        if name not in table.across and (name == "metric" or len({getattr(row, name) for row in rows}) > 1)
    ]
    heads = list(dict.fromkeys(_across(table, row) for row in rows))
    cells: dict[tuple[str, ...], dict[str, Published]] = {}
    for row in rows:
        cells.setdefault(tuple(_shown(str(getattr(row, name))) for name in labels), {})[_across(table, row)] = row
    columns = list(labels)
    for head in heads:
        front = f"{head}: " if head else ""
        columns += [f">{front}paper", f">{front}here", f">{front}ratio"]
    units = {row.unit for row in rows if row.unit}
    title = table.title if len(units) != 1 or "unit" in table.across else f"{table.title}, {_shown(units.pop())}"
    body, reasons = [], []
    for label, found in cells.items():
        line = list(label)
        for head in heads:
            line += _triple(found.get(head), compared, brief=len(heads) > 2)
        body.append(line)
        reasons += [compared[row.id].why for row in found.values() if row.id in compared]
    why = "; ".join(dict.fromkeys(each.rstrip(".") for each in reasons if each))
    lent = any(REFERENCE in cell for line in body for cell in line)
    told = f"{REFERENCE} {REFERENCE_NOTE}" if lent else ""
    wrong = dict.fromkeys(compared[row.id].no_ratio for row in rows if row.id in compared)
    senseless = f"A ratio {SENSELESS}: {'; '.join(filter(None, wrong))}." if any(wrong) else ""
    one = next((ONE_PLACE for row in rows if row.id in compared and _is_lone(compared[row.id], compared)), "")
    lacking = f"Without a value here: {why}." if why else ""
    note = " ".join(part for part in (table.note, told, one, senseless, lacking) if part)
    return TableData(title, tuple(columns), body, note)


def _is_lone(each: Compared, compared: Mapping[int, Compared]) -> bool:
    """Whether a measured figure stands in one placement, though others of the run stand in several."""
    return each.state == "measured" and each.band is None and any(other.band for other in compared.values())


def pairs_chart(table: Table, published: Mapping[int, Published], compared: Mapping[int, Compared]) -> list[ChartData]:
    """One chart per unit: published figures and ours as two marks on a line. Empty if the table has no number."""
    rows = [row for row in _rows(table, published) if row.number is not None]
    kernels = {row.kernel for row in rows}
    stats = {row.stat for row in rows}
    charts = []
    for unit in dict.fromkeys(row.unit for row in rows):
        marks: list[dict[str, Any]] = []
        for row in (each for each in rows if each.unit == unit):
            name = row.metric + (f", {row.stat}" if len(stats) > 1 else "")
            name += f" ({row.kernel})" if len(kernels) > 1 else ""
            marks.append({"x": name, "series": "paper", "y": row.number})
            ours = compared.get(row.id)
            if ours is not None and ours.here is not None:
                marks.append({"x": name, "series": "here", "y": ours.here, **(ends(ours.band) if ours.band else {})})
        caption = f"{table.title}: the paper's figures and ours. A mark alone has no value of ours."
        charts.append(ChartData("pairs", marks, caption, "", AXES.get(unit, unit), table.log))
    return charts


def here_text(each: Compared) -> str:
    """Our cell: the value with as many decimals as the paper prints, of several placements with its band, or the state
    in words."""
    if each.here is None:
        return BRING_YOUR_OWN if each.state == "bring your own" else each.state
    text = banded(each.band or Band([each.here]), lambda value: _number(each, value))
    return text + (REFERENCE if each.state == "reference" else "") + (MARK if each.deviates else "")


def _number(each: Compared, here: float) -> str:
    text = each.published.value
    if each.published.number is None:
        return f"{here:,.4g}"
    if "e" in text.lower():
        return f"{here:.3g}"
    decimals = max(len(text.partition(".")[2]), 0 if here == round(here) or here >= 1000 else 1)
    return f"{here:,.{decimals}f}"


def ratio_text(each: Compared) -> str:
    """Ours over the paper's; of several placements also the least and the most, where that shows in two decimals."""
    if each.ratio is None:
        return SENSELESS if each.no_ratio and each.here is not None else NONE
    text = f"{each.ratio:.2f}"
    least, most = (f"{ratio:.2f}" for ratio in each.ratios or (each.ratio, each.ratio))
    return text if least == most else f"{text} ({least} to {most})"


def _rows(table: Table, published: Mapping[int, Published]) -> list[Published]:
    """The rows with the names that the table gives them."""
    return [
        published[ident].model_copy(update={"metric": table.names.get(str(ident), published[ident].metric)})
        for ident in table.rows
    ]


def _shown(text: str) -> str:
    return UNITS.get(text, text)


def _across(table: Table, row: Published) -> str:
    return " ".join(_shown(str(getattr(row, name))) for name in table.across)


def _triple(row: Published | None, compared: Mapping[int, Compared], *, brief: bool) -> Sequence[str]:
    """Paper, here, ratio; `brief` in a table of many columns, whose note says the rest."""
    if row is None:
        return "", "", ""
    ours = compared.get(row.id)
    if ours is None:
        return row.value, NONE, NONE
    here = here_text(ours)
    return row.value, "n/a" if brief and here == BRING_YOUR_OWN else here, ratio_text(ours)
