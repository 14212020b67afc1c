"""Counts the arguments of the kernel calls of a whole window. It does so for functions where an argument after the
first decides what a call does. Such an argument says whether a queue is filled at its front or its back, which bits a
wait clears, or how long it waits. The fifth and the sixth argument are on the stack.

It reveals a port that calls the right function with other options, so that the call takes another time."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

import numpy as np

from rtoslab.base import without_thumb_bit
from rtoslab.targets.event_kinds import IDENT_FURTHER, IDENT_MARK, IDENT_STACKED, IDENT_SYMBOL, KIND_EXEC
from rtoslab.targets.events import EVENT

NOT_STATED: Final = -1
"""In place of an argument that no service states, or that was not seen."""


class NumericCallArguments(NamedTuple):
    """Which of a function's arguments some service states as numbers."""

    second: bool
    third: bool
    fourth: bool
    fifth: bool = False
    sixth: bool = False
    has_second_event: bool = False
    """Whether an event of its own has the second argument, because the call's event has the third."""

    @property
    def has_further_call_arguments(self) -> bool:
        """Whether an argument after the second is stated, or the second apart from the call's event."""
        return self.third or self.fourth or self.has_argument_on_stack or self.has_second_event

    @property
    def has_argument_on_stack(self) -> bool:
        """Whether an argument on the stack is stated."""
        return self.fifth or self.sixth


class CallArguments(NamedTuple):
    """The arguments of a call of a kernel function."""

    function: str
    second: int
    """R1. Each is NOT_STATED where no service of the function states it."""
    third: int
    """R2."""
    fourth: int
    """R3."""
    fifth: int = NOT_STATED
    """The word at the stack pointer."""
    sixth: int = NOT_STATED
    """The word after it."""


class CallArgumentCounter:
    """Takes the events of further arguments out of the board's events, and counts them."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[int, ...]] = Counter()
        self._stated: list[NumericCallArguments] = []

    def add_function_with_stated_arguments(self, stated: NumericCallArguments) -> None:
        """Adds the next function in the order of IDENT_FURTHER."""
        self._stated.append(stated)

    def reset_call_counts(self) -> None:
        """Forgets all calls so far."""
        self._counts.clear()

    def extract_further_call_argument_events(self, packed: bytes) -> bytes:
        """Counts the calls whose further arguments are among the packed events. Returns the other events."""
        events = np.frombuffer(packed, dtype=EVENT)
        ident = events["id"]
        is_removed = (events["kind"] == KIND_EXEC) & (ident >= IDENT_FURTHER) & (ident < IDENT_MARK)
        places = np.flatnonzero(is_removed & (ident < IDENT_STACKED))
        if not len(places):
            return packed
        calls, before = events[places], events[places - 1]
        # The stack's words follow at once, where they are stated, and then the second argument.
        indices = calls["id"] - IDENT_FURTHER
        stacks = np.array([stated.has_argument_on_stack for stated in self._stated], dtype=np.intp)[indices]
        apart = np.array([stated.has_second_event for stated in self._stated], dtype=np.bool_)[indices]
        stacked, own = (events[np.minimum(at, len(events) - 1)] for at in (places + 1, places + 1 + stacks))
        follows = (before["cycle"] == calls["cycle"]) & (before["core"] == calls["core"])
        follows &= before["id"].astype(np.int32) - IDENT_SYMBOL == calls["id"].astype(np.int32) - IDENT_FURTHER
        # What is not stated may have another value in every call.
        is_stated = np.array(self._stated, dtype=np.bool_)[indices, :5]
        is_stated[:, 0] &= follows
        second = np.where(apart, own["zero"], before["zero"])
        columns_of_arguments = [second, calls["value"], calls["zero"], stacked["value"], stacked["zero"]]
        seen = np.stack(columns_of_arguments, axis=1).astype(np.int64)
        arguments = np.where(is_stated, seen, NOT_STATED)
        columns = (calls["id"], calls["pc"], *arguments.T)
        self._counts.update(zip(*(column.tolist() for column in columns), strict=True))
        rest: bytes = events[~is_removed].tobytes()
        return rest

    def count_calls_from_outside(
        self,
        functions: Mapping[str, int],
        is_in_kernel: Callable[[int], bool],
        read_word: Callable[[int], int | None],
    ) -> Counter[CallArguments]:
        """Returns how often each function was called with these arguments by code that is not the kernel's. `functions`
        has their addresses, in the order of IDENT_FURTHER.

        A function of the kernel that ends in a jump to another one leaves the caller's return address to it. Such a
        jump is not counted: the instruction before that address calls the first function.
        """
        names, addresses = list(functions), list(functions.values())
        calls: Counter[CallArguments] = Counter()
        for (ident, pc, *arguments), times in self._counts.items():
            behind = without_thumb_bit(pc)
            if is_in_kernel(behind):
                continue
            called = find_called_address(behind, read_word)
            if called is None or called == addresses[ident - IDENT_FURTHER] or not is_in_kernel(called):
                calls[CallArguments(names[ident - IDENT_FURTHER], *arguments)] += times
        return calls


def find_called_address(behind: int, read_word: Callable[[int], int | None]) -> int | None:
    """Returns the address that the BL instruction before the address `behind` calls (ARMv7-M Architecture Reference
    Manual, A7.7.18). None if another instruction is there."""
    words = [read_word((behind - distance) & ~3) for distance in (4, 2)]
    if None in words:
        return None
    first, second = (
        (word or 0) >> 8 * ((behind - distance) & 2) & 0xFFFF for word, distance in zip(words, (4, 2), strict=True)
    )
    if first >> 11 != 0b11110 or second & 0xD000 != 0xD000:
        return None
    sign = first >> 10 & 1
    upper = [1 - (second >> bit & 1 ^ sign) for bit in (13, 11)]
    offset = (upper[0] << 23 | upper[1] << 22 | (first & 0x3FF) << 12 | (second & 0x7FF) << 1) - (sign << 24)
    return behind + offset
