"""Measures how long the kernel's own exception handlers run: the tick's, and those that switch tasks.

An interval reaches from the handler's first cycle to its return. The exception's entry is before it, and has a figure
of its own. Each interval says which task ran before and after, so that a switch has its pair of tasks and a tick the
tasks that ran because of it. If the kernel searches for the most urgent ready task by steps, they are counted."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

import numpy as np

from rtoslab.catalogue import Kernel
from rtoslab.targets.board import find_symbol_address
from rtoslab.targets.current_task import IdleInHandlerEventFilter
from rtoslab.targets.event_kinds import (
    IDENT_CURRENT,
    IDENT_SELECT,
    IDENT_SELECTED,
    IDENT_TOP,
    KIND_EXCEPTION_ENTER,
    KIND_EXCEPTION_EXIT,
    KIND_EXEC,
    KIND_WRITE,
)
from rtoslab.targets.events import EVENT
from rtoslab.targets.exceptions import PENDSV, SVCALL, SYSTICK
from rtoslab.targets.machine import VirtualBoardMachine

_KERNEL_EXCEPTIONS: Final = frozenset({SVCALL, PENDSV, SYSTICK})


UNKNOWN: Final = -1
THREAD_MODE: Final = 0
"""In place of an exception's number: tasks were switched outside a handler."""


@dataclass(slots=True)
class HandlerRunColumns:
    """Columns with the runs of exception handlers in a window, in the order of their return.

    A switch in thread mode has a row too, with the exception THREAD_MODE and 0 cycles.
    """

    exception: list[int] = field(default_factory=list)
    start_cycle: list[int] = field(default_factory=list)
    cycles: list[int] = field(default_factory=list)
    entry_cycles: list[int] = field(default_factory=list)
    """From the exception's recognition to its handler's first cycle."""
    before: list[int] = field(default_factory=list)
    """Control block of the task that ran as the handler began, and of the one that ran as it returned."""
    after: list[int] = field(default_factory=list)
    select_cycles: list[int] = field(default_factory=list)
    """Cycles of the run in the function that chooses the next task. UNKNOWN where kernel.toml names none."""
    steps: list[int] = field(default_factory=list)
    """Priorities that the search for the next task went down. UNKNOWN where the kernel does not search."""
    interrupted: list[int] = field(default_factory=list)
    """Number of other handlers that ran inside."""


@dataclass(slots=True)
class _ActiveExceptionHandler:
    """The run of an exception handler that has not returned yet."""

    exception: int
    start_cycle: int
    entry_cycles: int
    before: int
    top: int
    select_from: int = UNKNOWN
    select_cycles: int = UNKNOWN
    steps: int = UNKNOWN
    interrupted: int = 0


class HandlerRunReader:
    """Turns the events of core 0 in a measurement window into runs of exception handlers."""

    def __init__(
        self,
        current: int,
        top: int = UNKNOWN,
        switching: Collection[int] = frozenset({SVCALL, PENDSV}),
        *,
        in_thread: bool = False,
    ) -> None:
        """`current`: control block of the running task as the window opens; `top`: the most urgent ready priority;
        `switching`: the exceptions in which tasks are changed; `in_thread`: whether tasks are changed in thread mode.
        """
        self._current = current
        self._runs = current
        """The task that runs. A kernel may name another as current before it switches to it."""
        self._switching = switching
        self._in_thread = in_thread
        self._idling = IdleInHandlerEventFilter()
        self._top = top
        self._open: list[_ActiveExceptionHandler] = []
        self.runs = HandlerRunColumns()

    def add_events(self, raw: bytes) -> None:
        """Adds the next chunk of packed events, which must come in the order of time."""
        events = np.frombuffer(raw, dtype=EVENT)
        # Where one handler follows another without a return between, the board reports the entry before the return.
        events = self._idling.filter_events(events[np.argsort(events["cycle"], kind="stable")])
        ours = (events["id"] >= IDENT_CURRENT) & (events["id"] <= IDENT_SELECTED)
        selected = (events["kind"] >= KIND_EXCEPTION_ENTER) | ours
        columns = (events[selected][name].tolist() for name in ("cycle", "value", "id", "kind"))
        for cycle, value, ident, kind in zip(*columns, strict=True):
            if kind == KIND_EXCEPTION_ENTER:
                self._record_handler_entry(cycle, value, ident)
            elif kind == KIND_EXCEPTION_EXIT:
                self._record_handler_return(cycle, ident)
            elif kind == KIND_WRITE:
                self._record_kernel_write(ident, value, cycle)
            elif kind == KIND_EXEC:
                self._record_task_selection(ident, cycle)

    def _record_handler_entry(self, cycle: int, latency: int, exception: int) -> None:
        """Records the entry into an exception handler. `latency` are the cycles from the exception's recognition."""
        for handler in self._open:
            handler.interrupted += 1
        self._open.append(_ActiveExceptionHandler(exception, cycle, latency, self._runs, self._top))

    def _record_handler_return(self, cycle: int, exception: int) -> None:
        """Records the return from an exception handler. Its run is stored if it is a handler of the kernel."""
        if not self._open or self._open[-1].exception != exception:
            self._open.clear()  # it was entered before the window opened
            return
        done = self._open.pop()
        if exception in self._switching:
            self._runs = self._current
        elif exception not in _KERNEL_EXCEPTIONS:
            return
        self._add_handler_run_row(done, cycle)

    def _add_handler_run_row(self, done: _ActiveExceptionHandler, cycle: int) -> None:
        """Adds a row for a run that ends at `cycle`."""
        handlings = self.runs
        handlings.exception.append(done.exception)
        handlings.start_cycle.append(done.start_cycle)
        handlings.cycles.append(cycle - done.start_cycle)
        handlings.entry_cycles.append(done.entry_cycles)
        handlings.before.append(done.before)
        handlings.after.append(self._runs)
        handlings.select_cycles.append(done.select_cycles)
        handlings.steps.append(done.steps)
        handlings.interrupted.append(done.interrupted)

    def _record_kernel_write(self, ident: int, value: int, cycle: int) -> None:
        """Records a new current task, or how many priorities the kernel's search for the next task has passed."""
        if ident == IDENT_CURRENT:
            self._current = value
            if self._in_thread and not self._open and value != self._runs:
                switch = _ActiveExceptionHandler(THREAD_MODE, cycle, 0, self._runs, self._top)
                self._runs = value
                self._add_handler_run_row(switch, cycle)
        elif ident == IDENT_TOP:
            if self._open and self._open[-1].exception in self._switching and self._top != UNKNOWN:
                self._open[-1].steps = self._top - value
            self._top = value

    def _record_task_selection(self, ident: int, cycle: int) -> None:
        """Records the begin or end of the kernel function that chooses the next task."""
        inside = self._open[-1] if self._open else None
        if inside is None:
            return
        if ident == IDENT_SELECT:
            inside.select_from = cycle
        elif ident == IDENT_SELECTED and inside.select_from != UNKNOWN:
            inside.select_cycles = cycle - inside.select_from


def attach_handler_probes(machine: VirtualBoardMachine, kernel: Kernel) -> int | None:
    """Sets probes on the code with which the kernel chooses the next task. Returns the address of the kernel's word
    with the most urgent ready priority, None if it has none."""
    probes = kernel.probes
    if probes is None:
        return None
    if probes.select_symbol and probes.switch_symbol and machine.symbol(probes.select_symbol) is not None:
        select = find_symbol_address(machine, probes.select_symbol)
        returns = call_return_addresses(machine, probes.switch_symbol, select)
        if returns:
            machine.watch_exec(select, IDENT_SELECT)
        for address in returns:
            machine.watch_exec(address, IDENT_SELECTED)
    if not probes.top_priority_symbol or machine.symbol(probes.top_priority_symbol) is None:
        return None
    word = find_symbol_address(machine, probes.top_priority_symbol)
    machine.watch_write(word, IDENT_TOP)
    return word


def call_return_addresses(machine: VirtualBoardMachine, caller: str, callee: int) -> list[int]:
    """Returns the addresses after those calls (BL) in the function named `caller` that call the function at
    `callee`."""
    start = find_symbol_address(machine, caller)
    size = next((size for address, size, name in machine.symbols() if name == caller and address == start), 0)
    code = machine.read(start, size & ~1)
    halfwords = [int.from_bytes(code[at : at + 2], "little") for at in range(0, len(code), 2)]
    calls = []
    for index, (high, low) in enumerate(pairwise(halfwords)):
        behind = start + 2 * index + 4
        if (
            high >> 11 == 0b11110
            and low >> 14 == 0b11
            and low & 0x1000
            and behind + _decode_bl_instruction_offset(high, low) == callee
        ):
            calls.append(behind)
    return calls


def _decode_bl_instruction_offset(high: int, low: int) -> int:
    """Returns the offset of a BL instruction from its two halfwords (ARMv7-M Architecture Reference Manual, A7.7.18;
    ARMv6-M, A6.7.13)."""
    sign = high >> 10 & 1
    i1, i2 = (~((low >> bit & 1) ^ sign) & 1 for bit in (13, 11))
    value = sign << 24 | i1 << 23 | i2 << 22 | (high & 0x3FF) << 12 | (low & 0x7FF) << 1
    return value - (sign << 25)
