"""A paper's slips and hidden preconditions as tables. Their arithmetic is computed from its own published figures."""

from collections.abc import Iterable, Sequence

from rtoslab.catalogue import PaperFolder, PaperMistake
from rtoslab.papers.arithmetic import evaluate_expression
from rtoslab.papers.tables import UNITS
from rtoslab.reports import TableData

KIND_TEXTS = {"slip": "slip", "precondition": "precondition", "fact": "follows"}


def known_mistakes_of_paper_part(paper: PaperFolder, part_id: str, rows: Iterable[int]) -> list[PaperMistake]:
    """Returns the slips (mistakes of the paper) that concern a part of the paper, or one of these rows."""
    shown = set(rows)
    return [slip for slip in paper.known_mistakes_in_paper if slip.part == part_id or shown.intersection(slip.rows)]


def paper_mistakes_table(paper: PaperFolder, slips: Sequence[PaperMistake], title: str) -> TableData:
    """Returns a table of the paper's mistakes (slips). Raises CatalogueError for arithmetic that cannot be computed."""
    rows = []
    for slip in slips:
        computed = (
            f"{compute_corrected_value(paper, slip):,.6g} {_physical_unit_of_paper_mistake(slip, last=True)}".strip()
            if slip.computed
            else ""
        )
        printed = (
            f"{slip.printed:,.6g} {_physical_unit_of_paper_mistake(slip, last=False)}".strip()
            if slip.printed is not None
            else ""
        )
        rows.append([slip.id, KIND_TEXTS[slip.kind], slip.says, printed, computed])
    columns = ("slip", "kind", "what a reader must know", ">printed", ">computed anew")
    filled = 5 if any(row[3] or row[4] for row in rows) else 3
    return TableData(title, columns[:filled], [row[:filled] for row in rows])


def _physical_unit_of_paper_mistake(slip: PaperMistake, *, last: bool) -> str:
    """Returns the unit of a slip's printed value, or with `last` that of the computed one. `us; samples` has both
    units."""
    first, _, second = slip.unit.partition("; ")
    unit = second if last and second else first
    return UNITS.get(unit, unit)


def compute_corrected_value(paper: PaperFolder, slip: PaperMistake) -> float:
    """Returns the right value for a slip (a mistake of the paper), computed from its published figures."""
    return evaluate_expression(slip.computed, paper.numeric_paper_values_by_row_id)
