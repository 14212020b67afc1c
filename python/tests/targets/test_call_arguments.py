"""The calls of a window are counted by those arguments that kernel.toml states."""

import numpy as np
import pytest

from rtoslab.targets.call_arguments import (
    NOT_STATED,
    CallArgumentCounter,
    CallArguments,
    NumericCallArguments,
    find_called_address,
)
from rtoslab.targets.event_kinds import (
    IDENT_FURTHER,
    IDENT_SECOND,
    IDENT_STACKED,
    IDENT_SYMBOL,
    KIND_EXEC,
    KIND_WRITE,
)
from rtoslab.targets.events import EVENT

CALLER, INSIDE = 0x0800_0101, 0x0800_0901
SEND, WAIT = 0x0800_0800, 0x0800_0900
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
    counter.add_function_with_stated_arguments(NumericCallArguments(second=True, third=True, fourth=False))
    counter.add_function_with_stated_arguments(NumericCallArguments(second=False, third=False, fourth=True))
    other = [(15, 7, 0, 3, KIND_WRITE, 0)]
    rows = call(10, 0, (1, 2, 3, 4)) + other + call(20, 0, (1, 2, 3, 5)) + call(30, 1, (1, 8, 9, 6))
    rest = counter.extract_further_call_argument_events(packed(rows + call(40, 1, (1, 8, 9, 7), INSIDE)))
    assert [int(event["cycle"]) for event in np.frombuffer(rest, dtype=EVENT)] == [10, 15, 20, 30, 40]
    inside = {INSIDE - 1, SEND, WAIT}
    assert counter.count_calls_from_outside({"send": SEND, "wait": WAIT}, inside.__contains__, lambda _: 0) == {
        CallArguments("send", 2, 3, NOT_STATED): 2,
        CallArguments("wait", NOT_STATED, NOT_STATED, 6): 1,
    }


def test_arguments_on_the_stack_belong_to_their_call() -> None:
    counter = CallArgumentCounter()
    counter.add_function_with_stated_arguments(
        NumericCallArguments(second=False, third=False, fourth=False, fifth=True)
    )
    counter.add_function_with_stated_arguments(NumericCallArguments(second=True, third=True, fourth=False))
    rows = [
        *call(10, 0, (1, 2, 3, 4)),
        (10, 0xFFFF_FFFF, CALLER, IDENT_STACKED, KIND_EXEC, 8),
        *call(20, 1, (1, 5, 6, 7)),
    ]
    rest = counter.extract_further_call_argument_events(packed(rows + call(30, 1, (1, 5, 6, 7))))
    assert [int(event["cycle"]) for event in np.frombuffer(rest, dtype=EVENT)] == [10, 20, 30]
    assert counter.count_calls_from_outside({"start": SEND, "send": WAIT}, lambda _: False, lambda _: 0) == {
        CallArguments("start", NOT_STATED, NOT_STATED, NOT_STATED, 0xFFFF_FFFF): 1,
        CallArguments("send", 5, 6, NOT_STATED): 2,
    }


def test_second_argument_apart_from_its_call_is_counted() -> None:
    counter = CallArgumentCounter()
    counter.add_function_with_stated_arguments(
        NumericCallArguments(True, False, False, fifth=True, has_second_event=True)
    )
    counter.add_function_with_stated_arguments(NumericCallArguments(True, False, False, has_second_event=True))
    rows = [*call(10, 0, (1, 99, 3, 4)), (10, 50, CALLER, IDENT_STACKED, KIND_EXEC, 60)]
    rows += [(10, 1, CALLER, IDENT_SECOND, KIND_EXEC, 2), *call(20, 1, (1, 99, 3, 4))]
    rest = counter.extract_further_call_argument_events(
        packed([*rows, (20, 1, CALLER, IDENT_SECOND + 1, KIND_EXEC, 7)])
    )
    assert [int(event["cycle"]) for event in np.frombuffer(rest, dtype=EVENT)] == [10, 20]
    assert counter.count_calls_from_outside({"wait": SEND, "set": WAIT}, lambda _: False, lambda _: 0) == {
        CallArguments("wait", 2, NOT_STATED, NOT_STATED, 50): 1,
        CallArguments("set", 7, NOT_STATED, NOT_STATED): 1,
    }


def test_calls_before_the_window_do_not_count() -> None:
    counter = CallArgumentCounter()
    counter.add_function_with_stated_arguments(NumericCallArguments(second=True, third=True, fourth=True))
    counter.extract_further_call_argument_events(packed(call(10, 0, (1, 2, 3, 4))))
    counter.reset_call_counts()
    assert not counter.count_calls_from_outside({"send": SEND}, lambda _: False, lambda _: 0)


def test_further_arguments_without_their_call_have_no_second_one() -> None:
    counter = CallArgumentCounter()
    counter.add_function_with_stated_arguments(NumericCallArguments(second=True, third=True, fourth=True))
    counter.extract_further_call_argument_events(packed(call(10, 0, (1, 2, 3, 4))[1:]))
    assert counter.count_calls_from_outside({"send": SEND}, lambda _: False, lambda _: 0) == {
        CallArguments("send", NOT_STATED, 3, 4): 1
    }


@pytest.mark.parametrize(("called", "counts"), [(SEND, 1), (WAIT, 0), (0x0800_1000, 1)])  # itself, another, a veneer
def test_a_jump_from_another_function_of_the_kernel_is_no_call(called: int, counts: int) -> None:
    counter = CallArgumentCounter()
    counter.add_function_with_stated_arguments(NumericCallArguments(second=True, third=True, fourth=True))
    counter.extract_further_call_argument_events(packed(call(10, 0, (1, 2, 3, 4))))
    offset = called - (CALLER - 1)
    code = {CALLER - 5: (0xF000 | offset >> 12 & 0x3FF) | (0xF800 | offset >> 1 & 0x7FF) << 16}
    result = counter.count_calls_from_outside({"send": SEND, "wait": WAIT}, {SEND, WAIT}.__contains__, code.get)
    assert result.total() == counts


@pytest.mark.parametrize("behind", [0x0800_0104, 0x0800_0106])
@pytest.mark.parametrize("offset", [0x700, -0x700, 0x3F_FFFE, -0x40_0000, 0xFF_FFFE, -0x100_0000])
def test_call_instructions_are_decoded(behind: int, offset: int) -> None:
    sign, high, low = offset >> 24 & 1, offset >> 23 & 1, offset >> 22 & 1
    first = 0xF000 | sign << 10 | offset >> 12 & 0x3FF
    second = 0xD000 | (1 - (high ^ sign)) << 13 | (1 - (low ^ sign)) << 11 | offset >> 1 & 0x7FF
    code = (first | second << 16) << 8 * (behind & 2)
    words = {(behind - 4) & ~3: code & 0xFFFF_FFFF, behind & ~3: code >> 32}
    assert find_called_address(behind, words.get) == behind + offset
    assert find_called_address(behind, dict.fromkeys(words, 0).get) is None
