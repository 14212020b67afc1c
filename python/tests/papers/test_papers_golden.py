"""Facts that follow from the papers' own figures: what a reproduction must find again, and where the papers slip."""

import math

import pytest

from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.catalogue.paper_folders import PaperFolder, read_papers
from rtoslab.papers.slips import compute_corrected_value

PAPERS = read_papers(Catalogue(find_checkout_root()))
MIRANDA, LENTKA, EREN = (PAPERS[key] for key in ("miranda2021", "lentka2022", "eren2024"))


def number(paper: PaperFolder, ident: int) -> float:
    result = paper.paper_values_by_row_id[ident].paper_value_as_number
    assert result is not None
    return result


def test_ten_periods_coincide_six_times_in_250_s() -> None:
    periods_ms = [round(number(MIRANDA, ident)) for ident in range(56, 66)]
    together_ms = math.lcm(*periods_ms)
    assert together_ms == 41_400
    duration_ms = round(1000 * number(MIRANDA, 66))
    releases = [
        t
        for t in range(together_ms, duration_ms + 1, together_ms)
        if all(t % periods_m == 0 for periods_m in periods_ms)
    ]
    assert len(releases) == number(MIRANDA, 67) == 6


def selection_loops(leaving: int, entering: int) -> int:
    """Row 91: the generic search starts at the highest ready priority so far and counts down."""
    return max(1, leaving - entering)


def test_loop_counts_of_the_generic_search_and_two_exceptions() -> None:
    priority = {
        name: int(MIRANDA.paper_values_by_row_id[78 + at].value.rpartition("/")[2]) for at, name in enumerate("ABCD")
    }
    priority["IDLE"] = int(number(MIRANDA, 82))
    wrong = {}
    for loops, ident in enumerate(range(84, 89), start=1):
        pairs = MIRANDA.paper_values_by_row_id[ident].metric.rpartition(": ")[2].split(",")
        for pair in pairs:
            leaving, entering = pair.split("-")
            if selection_loops(priority[leaving], priority[entering]) != loops:
                wrong[pair] = (loops, selection_loops(priority[leaving], priority[entering]))
    assert wrong == {"B-IDLE": (4, 5), "A-IDLE": (5, 6)}


def test_pin_toggle_of_thirteen_cycles_is_subtracted_in_four_rows_only() -> None:
    clock_mhz = 8
    toggle_cycles = number(LENTKA, 111)
    assert toggle_cycles == 13 == clock_mhz * number(LENTKA, 110)
    subtracted = {ident: clock_mhz * number(LENTKA, ident) - number(LENTKA, ident + 1) for ident in range(110, 130, 2)}
    assert subtracted == {**dict.fromkeys(range(110, 122, 2), 0), **dict.fromkeys(range(122, 130, 2), toggle_cycles)}


def test_time_below_the_analyzers_resolution() -> None:
    sample_us = 1e6 / number(MIRANDA, 47)
    off = [ident for ident in range(84, 89) if number(MIRANDA, ident) % sample_us]
    assert off == [86]


@pytest.mark.parametrize(
    ("paper", "slip", "printed", "computed"),
    [
        (MIRANDA, "remainder", 22.07, 22.25), (MIRANDA, "table2_sum", 60.75, 60.57), (MIRANDA, "coincidences", 6, 6),
        (LENTKA, "toggle_subtracted", 536, 549), (EREN, "message_freertos", 4338, 4350),
        (EREN, "shuffling_ratio", 1.5, 1.263),
    ],
)  # fmt: skip
def test_errors_of_the_paper_are_recomputed_from_its_figures(
    paper: PaperFolder, slip: str, printed: float, computed: float
) -> None:
    result = next(item for item in paper.known_mistakes_in_paper if item.id == slip)
    assert result.printed == printed
    assert compute_corrected_value(paper, result) == pytest.approx(computed, rel=3e-4)
