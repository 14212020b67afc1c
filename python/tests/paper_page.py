"""What docs/papers.md says was seen of each paper: counted from the reference results, so that the page cannot drift.

cd python && python -m tests.paper_page        # writes it anew; part of `make docs`
"""

from collections import Counter
from statistics import median

from rtoslab.analyses import OUTCOMES
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.catalogue.paper_folders import PaperFolder, read_papers
from rtoslab.papers.reproduction import PaperReproduction, reproduce_paper
from rtoslab.reference import (
    program_sizes_of_paper,
    reference_results_for_paper_kernels,
    reference_values_by_code_placement,
)

PAGE = find_checkout_root() / "docs" / "papers.md"
BEGIN, END = "<!-- papers: made by tests/paper_page.py -->\n", "<!-- end of papers -->"
HEAD = (
    "| paper | statements | same | partly | tie | different | not computed | published figures that rtoslab measured "
    "| ratio rtoslab / paper |\n"
    "|---|---:|---:|---:|---:|---:|---:|---|---|\n"
)


def reproduce_from_references(catalogue: Catalogue, paper: PaperFolder) -> PaperReproduction:
    """The paper by reference results alone; nothing is built."""
    root = find_checkout_root()
    bare = PaperFolder(paper.key, paper.folder, paper.facts.model_copy(update={"footprint": ()}), paper.suites)
    return reproduce_paper(
        catalogue, bare, [], reference_points=reference_results_for_paper_kernels(root, paper.key, []),
        reference_weights=program_sizes_of_paper(root, paper.key),
        reference_placements=reference_values_by_code_placement(root, paper.key),
    )  # fmt: skip


def table() -> str:
    """One row for each paper."""
    catalogue = Catalogue(find_checkout_root())
    return HEAD + "".join(
        _row(reproduce_from_references(catalogue, paper)) for paper in read_papers(catalogue).values()
    )


def _row(done: PaperReproduction) -> str:
    counts = Counter(verdict.outcome_of_all_statement_cases for verdict in done.verdicts)
    output = [counts[outcome] for outcome in ("same", "partly", "tie", "different", "not computed")]
    assert sum(output) == len(done.verdicts)
    assert set(counts) <= set(OUTCOMES)
    ratios = [item.ratio_to_paper for item in done.compared.values() if item.ratio_to_paper is not None]
    beside = f"{len(ratios)} of {len(done.compared)}" if done.compared else "no figure is printed as a number"
    reach = f"{min(ratios):.2f} to {max(ratios):.2f}, median {median(ratios):.2f}" if ratios else "\N{EN DASH}"
    cells = (done.paper.key, len(done.verdicts), *output, beside, reach)
    return f"| {' | '.join(str(cell) for cell in cells)} |\n"


def update_page(text: str) -> str:
    """The page with the table of today."""
    before, _, rest = text.partition(BEGIN)
    _, _, behind = rest.partition(END)
    return f"{before}{BEGIN}\n{table()}\n{END}{behind}"


if __name__ == "__main__":
    PAGE.write_text(update_page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
