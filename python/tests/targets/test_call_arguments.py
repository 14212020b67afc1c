"""The calls of a window are counted by those arguments that kernel.toml states."""

import numpy as np

from rtoslab.targets.call_arguments import NOT_STATED, CallArgumentCounter, CallArguments, StatedArguments
from rtoslab.targets.event_kinds import IDENT_FURTHER, IDENT_SYMBOL, KIND_EXEC, KIND_WRITE
from rtoslab.targets.events import EVENT

CALLER, INSIDE = 0x0800_0101, 0x0800_0901
Rows = list[tuple[int, ...]]


def packed(rows: Rows) -> bytes:
    """Events of (cycle, value, pc, ident, kind, last word) on core 0."""
    return np.array([(*row[:5], 0, row[5]) for row in rows], dtype=EVENT).tobytes()


def call(cycle: int, index: int, arguments: tuple[int, int, int, int], pc: int = CALLER) -> Rows:
    """The two events of a call."""
    first, second, third, fourth = arguments
    return [
        (cycle, first, pc, IDENT_SYMBOL + index, KIND_EXEC, second),
        (cycle, third, pc, IDENT_FURTHER + index, KIND_EXEC, fourth),
    ]


def test_calls_are_counted_by_their_stated_arguments() -> None:
    counter = CallArgumentCounter()
    counter.add_function(StatedArguments(second=True, third=True, fourth=False))
    counter.add_function(StatedArguments(second=False, third=False, fourth=True))
    other = [(15, 7, 0, 3, KIND_WRITE, 0)]
    rows = call(10, 0, (1, 2, 3, 4)) + other + call(20, 0, (1, 2, 3, 5)) + call(30, 1, (1, 8, 9, 6))
    rest = counter.remove_further_arguments(packed(rows + call(40, 1, (1, 8, 9, 7), INSIDE)))
    assert [int(event["cycle"]) for event in np.frombuffer(rest, dtype=EVENT)] == [10, 15, 20, 30, 40]
    assert counter.count_calls_from_outside(("send", "wait"), lambda address: address == INSIDE - 1) == {
        CallArguments("send", 2, 3, NOT_STATED): 2,
        CallArguments("wait", NOT_STATED, NOT_STATED, 6): 1,
    }


def test_calls_before_the_window_do_not_count() -> None:
    counter = CallArgumentCounter()
    counter.add_function(StatedArguments(second=True, third=True, fourth=True))
    counter.remove_further_arguments(packed(call(10, 0, (1, 2, 3, 4))))
    counter.clear_counts()
    assert not counter.count_calls_from_outside(("send",), lambda _: False)


def test_further_arguments_without_their_call_have_no_second_one() -> None:
    counter = CallArgumentCounter()
    counter.add_function(StatedArguments(second=True, third=True, fourth=True))
    counter.remove_further_arguments(packed(call(10, 0, (1, 2, 3, 4))[1:]))
    assert counter.count_calls_from_outside(("send",), lambda _: False) == {CallArguments("send", NOT_STATED, 3, 4): 1}
