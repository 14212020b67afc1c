"""From one instruction to another: cycles counted by hand, and the paths at both ends of the longest interval."""

import pytest

from rtoslab.base import SymbolError, find_checkout_root
from rtoslab.catalogue import Catalogue
from rtoslab.instruments import MeasuredInterval, ObservedRunSection, find_observed_image, measure_intervals
from tests.instruments.small_program import CALLS, CPUS, line_of, small_program


def measure_example(*pairs: tuple[str, str], board: str = "pico") -> list[MeasuredInterval]:
    catalogue = Catalogue(find_checkout_root())
    stretch = ObservedRunSection(cycles=100_000)
    subject = find_observed_image(catalogue, str(small_program(board)), board=board, cores=1, stretch=stretch)
    return list(measure_intervals(subject, pairs).intervals)


def test_intervals_by_symbol_and_line_have_the_cycles_counted_by_hand() -> None:
    """On the M0+: push of two 3, five nops 5, bl 3, leaf's ten nops 10, bx 2."""
    line = f"small.s:{line_of('pop {r4, pc}')}"
    to_pop, between = measure_example(("outer", line), ("outer", "recursive"))
    assert (to_pop.count, to_pop.begun_again, to_pop.is_open) == (CALLS, 0, False)
    assert to_pop.cycles is not None
    assert (to_pop.cycles.minimum, to_pop.cycles.maximum) == (23, 23)
    assert to_pop.instructions is not None
    assert (to_pop.instructions.minimum, to_pop.instructions.maximum) == (18, 18)
    assert to_pop.longest is not None
    assert to_pop.longest.begin_path == ("reset", "outer")
    assert to_pop.longest.end_path == ("reset", "outer")
    assert between.longest is not None
    assert between.longest.end_path == ("reset", "recursive")
    for interval in (to_pop, between):
        assert interval.longest is not None
        assert sum(interval.longest.spent.values()) == interval.longest.end.cycle - interval.longest.begin.cycle


def test_interval_from_a_place_to_itself_is_its_period() -> None:
    (period,) = measure_example(("leaf", "leaf"))
    assert (period.count, period.is_open) == (3 * CALLS - 1, True)
    assert period.cycles is not None
    assert period.cycles.minimum < period.cycles.maximum
    assert period.longest is not None
    assert next(iter(period.longest.spent)) == "recursive"


def test_second_begin_does_not_restart_an_interval() -> None:
    (again,) = measure_example(("leaf", "recursive"))
    assert again.begun_again == 2 * CALLS
    assert again.count == CALLS
    (never,) = measure_example(("leaf", "never_called"))
    assert (never.count, never.cycles, never.longest, never.is_open) == (0, None, None, True)


@pytest.mark.parametrize("board", CPUS)
def test_instructions_of_an_interval_are_the_same_on_every_core(board: str) -> None:
    (result,) = measure_example(("outer", "recursive"), board=board)
    assert result.instructions is not None
    assert (result.instructions.minimum, result.instructions.maximum, result.instructions.total) == (
        result.instructions.minimum, result.instructions.minimum, result.count * result.instructions.minimum,
    )  # fmt: skip
    assert result.instructions.minimum >= 19


def test_invalid_place_is_an_error() -> None:
    with pytest.raises(SymbolError, match="value is data"):
        measure_example(("leaf", "value"))
