"""Figures on the pages of docs/kernels: those that were measured last, or said to be of earlier timing rules."""

import re

import pytest

from tests.doc_kernels import CANARY, PAGES, ROOT, measure, rows, stored_figures

FIGURE = re.compile(r"\b\d{1,3}(?:,\d{3})+\b")
EARLIER = "earlier timing rules"
REFERENCES = "reference results"


def test_figures_on_pages_equal_measured_ones() -> None:
    """`python -m tests.doc_kernels PAGE` measures them again, with the kernel's tree named."""
    figures, wrong, seen = stored_figures(), [], 0
    for page in PAGES:
        for row in rows(page):
            report = figures.get(row.key, {})
            seen += len(row.wanted)
            wrong += [
                f"{page.name}, line {row.line + 1}: {name} is {cell}, measured {report.get(name, 'never')}"
                for name, cell in row.wanted.items()
                if report.get(name) != cell
            ]
    assert not wrong, "\n".join(wrong)
    assert seen > 40


def test_other_figures_state_their_source() -> None:
    """A table of figures that no run gives says that they are of earlier timing rules, or of reference results."""
    unsaid = []
    for page in PAGES:
        measured = {row.line for row in rows(page)}
        output = False
        for number, line in enumerate(page.read_text(encoding="utf-8").split("\n")):
            if line.startswith("#"):
                output = False
            output = output or EARLIER in line or REFERENCES in line
            if line.startswith("|") and FIGURE.search(line) and number not in measured and not output:
                unsaid.append(f"{page.name}, line {number + 1}")
    assert not unsaid, "\n".join(unsaid)


@pytest.mark.parametrize("board", sorted({key.split()[1] for key in stored_figures() if key.startswith(f"{CANARY} ")}))
def test_page_figures_are_current(board: str) -> None:
    """If this fails, measure the pages' rows again: the figures of all kernels moved with FreeRTOS's."""
    message = stored_figures()[f"{CANARY} {board}"]
    assert message
    assert measure(CANARY, board, tuple(sorted(message)), "") == message


def test_every_page_with_a_table_of_figures_has_a_kernel() -> None:
    for page in PAGES:
        for row in rows(page):
            assert (ROOT / "firmware" / "kernels" / row.kernel).is_dir(), page.name
