"""Blocks that are held, by calls: a call that an exception cut off is seen twice and counts once."""

import numpy as np
import pytest
from numpy.typing import NDArray

from rtoslab.targets.event_kinds import KIND_EXCEPTION_ENTER, KIND_EXEC
from rtoslab.targets.events import EVENT
from rtoslab.targets.held_blocks import count_allocated_blocks

ENTRY_CYCLES = 15


def calls(*cycles: int, core: int = 0) -> NDArray[np.void]:
    return np.array([(cycle, 0, 0, 0, KIND_EXEC, core, 0) for cycle in cycles], dtype=EVENT)


def entries(*recognised: int, core: int = 0) -> NDArray[np.void]:
    built = [(cycle + ENTRY_CYCLES, ENTRY_CYCLES, 0, 0, KIND_EXCEPTION_ENTER, core, 0) for cycle in recognised]
    return np.array(built, dtype=EVENT)


@pytest.mark.parametrize(
    ("taken", "given", "recognised", "held"),
    [
        ((), (), (), 0),
        ((10, 110), (50, 150), (), 0),
        ((10, 110, 210), (50,), (), 2),
        ((10,), (50, 150, 250), (), -2),
        # The second call at 110 was cut off at its first instruction and is seen again at 400.
        ((10, 110, 400), (50, 450), (110,), 0),
        ((10, 110, 400), (50, 450), (112,), 0),
        ((10, 50), (90, 100, 400), (100,), 0),
        # An exception that comes later cuts nothing off, and one cannot explain two calls.
        ((10, 110, 400), (50, 450), (200,), 1),
        ((10, 110, 400, 500), (50, 450), (110,), 1),
        # It may have been cut off, but all calls were matched: nothing is taken away.
        ((10, 110), (50, 150), (10, 50, 110), 0),
    ],
)
def test_allocated_blocks_are_counted_by_calls(
    taken: tuple[int, ...], given: tuple[int, ...], recognised: tuple[int, ...], held: int
) -> None:
    assert count_allocated_blocks(calls(*taken), calls(*given), entries(*recognised)) == held


def test_exception_of_another_core_does_not_end_a_call() -> None:
    assert count_allocated_blocks(calls(10, 110), calls(50), entries(110, core=1)) == 1
    assert count_allocated_blocks(calls(10, 110, core=1), calls(50), entries(110, core=1)) == 0
