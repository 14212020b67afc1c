"""Core 1: launched as the pico-sdk and as NuttX do it, twice in a row, then FIFO traffic by polling and interrupts."""

import pytest

from tests.compat.build import Board, image


@pytest.mark.parametrize(("style", "launches"), [("SDK", 6), ("NUTTX", 2)])
def test_core_1_is_launched_and_uses_the_fifo(style: str, launches: int) -> None:
    board = Board(image("launch", defines=(style,))).run(30)
    fields = board.fields
    assert fields["core1"] == "c0de0001"
    assert (fields["square"], fields["sum"]) == ("50", "2890")
    # NuttX leaves the 0 that the ROM sends on its own in the FIFO: its second word may get the wrong echo, once.
    assert int(fields["launches"]) <= launches
    assert board.lines[-1] == "end"
    assert board.machine.warnings() == []


def test_launch_of_core_1_waits_for_ever_on_one_core() -> None:
    board = Board(image("launch", defines=("SDK",)), cores=1).run(30)
    assert "core1" not in board.fields
    assert board.stop == "deadlock"
