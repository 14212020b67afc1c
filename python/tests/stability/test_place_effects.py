"""Spreads and turned pairs from made-up placements, and the page that tells those of the reference results."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from rtoslab.analyses import ValuesByCodePlacement
from rtoslab.base import find_checkout_root
from rtoslab.catalogue import Catalogue, find_paper
from rtoslab.reference.reference_file import ReferenceResultsFile
from rtoslab.stability import placement_overview_document
from rtoslab.stability.place_effects import (
    MeasuredValueInCodePlacements,
    count_reversed_kernel_pairs,
    placement_spread_by_board,
    share_of_placements_with_rarer_ranking,
)
from rtoslab.store import StoredMeasurementPoint
from tests.doc_ranking import PAGE, page
from tests.fakes import measured_point

PAPER = find_paper(Catalogue(find_checkout_root()), "lentka2022")
TODAY = frozenset({"today"})


def figure(
    kernel: str, *values: float, board: str = "b", what: str = "w", role: str = "", ages: frozenset[str] = TODAY
) -> MeasuredValueInCodePlacements:
    return MeasuredValueInCodePlacements("doe2020", board, what, kernel, role or kernel, ages, values)


@pytest.mark.parametrize(
    ("one", "other", "share"),
    [
        ((1, 2), (3, 4), 0.0),
        ((1, 4), (3, 3), 0.5),
        ((1, 1, 1, 9), (5, 5, 5, 5), 0.25),
        ((5, 5), (5, 5), 0.0),
        ((4, 5), (5, 6), 0.0),
        ((4, 7), (5, 6), 0.5),
    ],
)
def test_probability_of_the_rarer_order(one: Sequence[float], other: Sequence[float], share: float) -> None:
    assert (
        share_of_placements_with_rarer_ranking(one, other)
        == share_of_placements_with_rarer_ranking(other, one)
        == share
    )


def test_reversed_and_close_pairs_are_counted() -> None:
    figures = [
        figure("x", 100, 104), figure("y", 102, 103),
        figure("x", 100, 101, what="v"), figure("y", 300, 310, what="v"),
        figure("x", 100, 102, what="u"), figure("y", 105, 107, what="u"),
    ]  # fmt: skip
    (row,) = count_reversed_kernel_pairs(figures, "paper")
    assert (row.pairs, row.turned, row.close, row.close_turned, row.minority_chance) == (3, 1, 2, 1, 0.5)


def test_incomparable_kernels_form_no_pair() -> None:
    old, both = frozenset({"authors"}), frozenset({"authors", "today"})
    assert count_reversed_kernel_pairs([figure("x", 1, 2), figure("x-1", 1, 2, role="x")], "paper") == [], (
        "versions of one kernel"
    )
    assert count_reversed_kernel_pairs([figure("x", 1, 2), figure("y-1", 1, 2, role="y", ages=old)], "paper") == [], (
        "of two ages"
    )
    assert count_reversed_kernel_pairs([figure("x", 1, 2), figure("y", 1, 2, board="c")], "paper") == [], (
        "on two boards"
    )
    assert (
        len(
            count_reversed_kernel_pairs(
                [figure("x-1", 1, 2, role="x", ages=old), figure("y", 1, 2, ages=both)], "paper"
            )
        )
        == 1
    )


def test_rows_of_boards_and_of_all() -> None:
    figures = [figure(name, *values, board=board) for board in "bc" for name, values in (("x", (1, 4)), ("y", (2, 3)))]
    assert [(row.name, row.pairs, row.turned) for row in count_reversed_kernel_pairs(figures, "board")] == [
        ("b", 1, 1), ("c", 1, 1), ("all", 2, 2),
    ]  # fmt: skip


def test_spread_of_a_board() -> None:
    few, many = [figure("x", 100, 110)], [figure("x", 100, 100 + 10 * number, board="c") for number in (1, 2, 3)]
    c, b = placement_spread_by_board([*few, *many])
    assert (c.board, c.figures, round(c.median_spread, 6), round(c.largest, 6)) == ("c", 3, 0.2, 0.3)
    assert (b.figures, round(b.median_spread, 6), round(b.ninth_decile, 6)) == (1, 0.1, 0.1)


def references_of(kernels: Sequence[str], deviations: dict[str, str]) -> list[ReferenceResultsFile]:
    """Of a paper that compares two kernels: a rate of each in two placements, with the order turned."""
    results = []
    for number, kernel in enumerate(kernels):
        result = measured_point(1, 1000, kernel=kernel).model_copy(update={"deviations": deviations, "run_id": kernel})
        values = ValuesByCodePlacement(
            kernel, {("throughput", "cycles_per_count", "cycles", 0): (10 + number, 13 - number)}
        )
        stored = (StoredMeasurementPoint(Path("p"), result, {}),)
        results.append(ReferenceResultsFile(Path("p"), PAPER.key, kernel, stored, placed=(values,)))
    return results


def test_report_names_the_pairs_and_their_kernels() -> None:
    document = placement_overview_document({PAPER.key: PAPER}, references_of([*PAPER.facts.kernels][:2], {}), [])
    assert document.summary == (
        "The placement of the code changes the order of 1 of 1 pair of kernels (100.0 %). It changes the order of 1 "
        "of the 1 pair whose medians differ by less than 10 % (100.0 %). The effect is largest on the b: in the median "
        "over this board's figures, the slowest placement of a build takes 19.5 % longer than the fastest."
    )
    tables = {table.title: table.rows for section in document.sections for table in section.tables}
    assert tables["Kernels of the pairs"] == [[PAPER.key, ", ".join([*PAPER.facts.kernels.values()][:2])]]
    assert placement_overview_document({}, [], []).summary.startswith("No two kernels have reference results")


def test_documented_figures_equal_the_results() -> None:
    text = PAGE.read_text()
    assert page(text) == text, "cd python && python -m tests.doc_ranking"
