"""A paper's slips and hidden preconditions as tables, their arithmetic done anew from its own published figures."""

from collections.abc import Iterable, Sequence

from rtoslab.catalogue import PaperFolder, Slip
from rtoslab.papers.arithmetic import evaluate
from rtoslab.papers.tables import UNITS
from rtoslab.reports import TableData

WORDS = {"slip": "slip", "precondition": "precondition", "fact": "follows"}


def touching(paper: PaperFolder, part_id: str, rows: Iterable[int]) -> list[Slip]:
    """The slips that belong beside these figures."""
    shown = set(rows)
    return [slip for slip in paper.slips if slip.part == part_id or shown.intersection(slip.rows)]


def slips_table(paper: PaperFolder, slips: Sequence[Slip], title: str) -> TableData:
    """One row per slip. Arithmetic that cannot be done raises CatalogueError."""
    rows = []
    for slip in slips:
        computed = f"{compute_value(paper, slip):,.6g} {_unit(slip, last=True)}".strip() if slip.computed else ""
        printed = f"{slip.printed:,.6g} {_unit(slip, last=False)}".strip() if slip.printed is not None else ""
        rows.append([slip.id, WORDS[slip.kind], slip.says, printed, computed])
    columns = ("slip", "kind", "what a reader must know", ">printed", ">computed anew")
    filled = 5 if any(row[3] or row[4] for row in rows) else 3
    return TableData(title, columns[:filled], [row[:filled] for row in rows])


def _unit(slip: Slip, *, last: bool) -> str:
    """Returns the unit of the printed value. It is the first one in `us; samples`."""
    first, _, second = slip.unit.partition("; ")
    unit = second if last and second else first
    return UNITS.get(unit, unit)


def compute_value(paper: PaperFolder, slip: Slip) -> float:
    """Returns what the published figures give."""
    return evaluate(slip.computed, paper.published_numbers)
