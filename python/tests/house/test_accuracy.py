"""docs/accuracy.csv: its rows are complete, the page is made of them, what can be built here is measured again."""

import re

import pytest

from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from tests.doc_accuracy import LOOPS, OUTSIDE, PAGE, RUST, Figure, budget, measure, page, read_figures

FIGURES = read_figures()
MACHINE_TESTS = find_checkout_root() / "sim" / "machine" / "src" / "tests"
BY_LOOPS = [item for item in FIGURES if item.loop]


def test_accuracy_page_equals_its_file() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert page(text) == text, "cd python && python -m tests.doc_accuracy"
    assert "| board | figures |" in "\n".join(text.split("\n")[:10]), "the page begins with how far the boards are off"


@pytest.mark.parametrize("figure", BY_LOOPS, ids=[f"{each.loop}-{each.board}" for each in BY_LOOPS])
def test_our_figures_equal_the_current_board(figure: Figure) -> None:
    assert measure(figure.loop, figure.board) == float(figure.ours)


def test_each_row_is_complete() -> None:
    boards = Catalogue(find_checkout_root()).boards
    for item in FIGURES:
        assert item.board in boards, item
        assert all((item.chip, item.setup, item.source, item.routine, item.unit, item.measured_by)), item
        assert item.is_comparable or item.comparable.startswith("no: "), item
        assert float(item.published) > 0 < float(item.ours), item
        in_rust = item.measured_by.removeprefix(RUST) if item.measured_by.startswith(RUST) else ""
        assert not in_rust or (MACHINE_TESTS / f"{in_rust}.rs").is_file(), item
        in_loops = re.search(rf"^#(el)?if defined {item.loop}$", LOOPS.read_text(), re.MULTILINE)
        assert in_rust or item.measured_by == OUTSIDE or in_loops, item
    rows = [(item.board, item.chip, item.setup, item.source, item.routine) for item in FIGURES]
    assert len(set(rows)) == len(rows)
    assert {item.loop for item in BY_LOOPS} == set(re.findall(r"defined (\w+)", LOOPS.read_text()))


def figure(published: str, ours: str, to: str = "", comparable: str = "yes") -> Figure:
    return Figure("b", "chip", "0 ws", "s", "r", published, to, ours, "cycles", comparable, "", OUTSIDE)


def test_error_is_the_distance_to_the_published_figure() -> None:
    assert figure("200", "199").error_percent == pytest.approx(-0.5)
    assert figure("1.22", "1.28", "1.35").error_percent == 0
    assert figure("1.00", "1.43", "1.30").error_percent == pytest.approx(10)


def test_error_budget_counts_comparable_figures() -> None:
    errors = [figure("1000", ours) for ours in ("1000", "1001", "985", "1030", "1040")]
    (line,) = list(budget([*errors, figure("10", "20", comparable="no: compiled otherwise")]))[2:]
    assert line == "| b | 5 | 40 % | 60 % | 80 % | +4.0 % |"
