"""What a benchmark's tasks and handlers did, step by step, from the probes: calls with their arguments, results and
ends, switches with the call they came out of, interrupts, marks.

The trap it prevents: a test whose totals are right and whose order, objects or causes are not. Steps are kept of the
window's first EVENTS events only: what is repeated every few hundred cycles shows itself there, and memory stays flat.

A call that the kernel makes of its own function is none of the benchmark's, and is left out, also where a function ends
in another one, which then returns to the benchmark. So is what a handler must begin and end with. An instruction that
an interrupt hits may be begun anew: a call is then seen twice and told once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from rtoslab.base import architecture, code_address
from rtoslab.targets.events import (
    EVENT,
    IDENT_BEHIND,
    IDENT_CURRENT,
    IDENT_FILL,
    IDENT_MARK,
    IDENT_SYMBOL,
    KIND_EXCEPTION_ENTER,
    KIND_EXCEPTION_EXIT,
    KIND_EXEC,
    KIND_PIN,
    KIND_WRITE,
)
from rtoslab.targets.exceptions import SYSTICK

EVENTS: Final = 6_000
EVENTS_OF_LATENCIES: Final = 40_000
"""A round of theirs may be as long as several ticks."""
HANDLER: Final = 1
"""In place of a task's control block: an interrupt's handler, the tick's among them."""
CALL, SWITCH, START, STOP, FILL, TICK, INTERRUPT, PIN = (
    "call", "switch", "start", "stop", "fill", "tick", "interrupt", "pin",
)  # fmt: skip
_BEGUN_ANEW_CYCLES: Final = 64
_TO_THE_PIN_CYCLES: Final = 64
_FIRST_OWN: Final = 15
"""Exceptions from here on are handlers of the tick and of the chip's lines; those before are the kernel's switch."""


@dataclass(slots=True)
class Step:
    """One thing that happened on a core."""

    cycle: int
    core: int
    kind: str
    who: int
    """Control block of the running task (of a switch: of the one that ends), or HANDLER."""
    name: str = ""
    """Of a call: the kernel's function; of a switch: the function it came out of, if one was in progress."""
    first: int = 0
    """First argument of a call; of a switch the control block of the task that begins; of a mark the series; of an
    interrupt its exception number; of a heap block that is filled to its end the block (the second: its size)."""
    second: int = 0
    """Second argument."""
    result: int | None = None
    """What a call gave, once it has returned; None: it has not, or where it returns to was not known."""
    end_cycle: int | None = None
    """When it returned."""
    own_cycles: int | None = None
    """Of a call, a mark or a fill: since the step before or the end of a call, whatever came last, without the kernel's
    own handlers; None: not known."""


@dataclass(frozen=True, slots=True)
class Watching:
    """What the probes' identifiers stand for."""

    functions: Sequence[str]
    """By IDENT_SYMBOL."""
    addresses: Sequence[int]
    """Of these functions."""
    behind: Sequence[int]
    """By IDENT_BEHIND: addresses behind calls."""
    blocks: Sequence[tuple[int, int]]
    """By IDENT_FILL: address and bytes of a heap block."""
    is_kernels: Callable[[int], bool]
    """Whether an address lies in a function of the kernel."""
    pin: int = -1
    """The measurement's."""
    brackets: frozenset[str] = frozenset()
    """Functions that a handler begins and ends with, where the kernel wants that."""
    completes: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Function -> those that are no whole service without a call of it behind theirs."""


def return_addresses(raw: bytes, watching: Watching) -> list[int]:
    """Where callers outside the kernel go on, from the calls seen so far."""
    events = np.frombuffer(raw, dtype=EVENT)
    mine = (events["kind"] == KIND_EXEC) & (events["id"] >= IDENT_SYMBOL) & (events["id"] < IDENT_BEHIND)
    found = {code_address(int(each)) for each in np.unique(events["pc"][mine])}
    top = architecture().code.exception_return_from
    return sorted(each for each in found if each < top and not watching.is_kernels(each))


def find_steps(raw: bytes, watching: Watching, current: Mapping[int, int]) -> tuple[Step, ...]:
    """Reads events in the order of time. `current`: core -> running task as they begin, none without a kernel."""
    reader = _Reader(watching, dict(current), known=frozenset(watching.behind))
    events = np.frombuffer(raw, dtype=EVENT)
    # Where one handler follows another without a return between, the board tells the entry before the return.
    # A mark may stand right behind a call: the call's return is told first.
    events = events[np.lexsort((events["id"] < IDENT_BEHIND, events["cycle"]))]
    entries = events[events["kind"] == KIND_EXCEPTION_ENTER]
    began = {(core, cycle - took) for cycle, core, took in entries[["cycle", "core", "value"]].tolist()}
    events["pc"] &= code_address(0xFFFF_FFFF)
    for cycle, value, pc, ident, kind, core, more in events.tolist():
        if kind == KIND_EXEC:
            reader.executed(core, cycle, ident, (value, more), pc)
        elif kind == KIND_WRITE:
            reader.written(core, cycle, ident, value)
        elif kind == KIND_EXCEPTION_ENTER:
            reader.entered(core, cycle, ident, cycle - value)
        elif kind == KIND_EXCEPTION_EXIT:
            reader.left(core, cycle, ident, None if (core, cycle) in began else pc)
        elif kind == KIND_PIN and ident == watching.pin:
            reader.edge(core, cycle, value)
    return tuple(reader.steps)


@dataclass(slots=True)
class _Reader:
    watching: Watching
    current: dict[int, int]
    steps: list[Step] = field(default_factory=list)
    known: frozenset[int] = frozenset()
    """Addresses behind calls at which there is a probe."""
    nested: dict[int, list[int]] = field(default_factory=dict)
    """Core -> exception numbers of the handlers in progress."""
    handled: dict[int, bool] = field(default_factory=dict)
    """Core -> whether one of them is a handler of the tick's or of the chip's lines."""
    hit: dict[int, int] = field(default_factory=dict)
    """Control block (or minus ...) -> function near whose first instruction an interrupt came; until that goes on."""
    calls: dict[int, list[tuple[Step, int]]] = field(default_factory=dict)
    """Control block (or minus the handlers in progress) -> calls in progress, and where they return to."""
    last: dict[int, Step] = field(default_factory=dict)
    resumed: dict[int, int] = field(default_factory=dict)
    """Control block (or minus ...) -> when its own code went on after a call."""
    owned: dict[int, Step] = field(default_factory=dict)
    """Control block (or minus ...) -> the last step of its own code."""
    kernels: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    """Core -> from when to when handlers of the kernel's ran, since the last step of anybody's own code."""
    leaving: dict[int, int] = field(default_factory=dict)
    """Core -> task that still runs, where the kernel writes the next one down before it changes them."""
    completed: dict[int, Step] = field(default_factory=dict)
    """Control block (or minus ...) -> the last call that another function's completed."""
    anew: dict[int, int] = field(default_factory=dict)
    """Control block -> function that its task will begin anew."""

    def executed(self, core: int, cycle: int, ident: int, held: tuple[int, int], pc: int) -> None:
        if ident >= IDENT_BEHIND:
            self.returned(core, cycle, self.watching.behind[ident - IDENT_BEHIND], held[0])
        elif ident >= IDENT_SYMBOL:
            self.called(core, cycle, ident - IDENT_SYMBOL, held, pc)
        elif ident >= IDENT_MARK:
            tag = ident - IDENT_MARK
            self.own(Step(cycle, core, STOP if tag & 1 else START, self.who(core), first=tag >> 1))

    def written(self, core: int, cycle: int, ident: int, value: int) -> None:
        if ident == IDENT_CURRENT + core:
            self.switched(core, cycle, value)
        elif IDENT_FILL <= ident < IDENT_FILL + len(self.watching.blocks):
            block, size = self.watching.blocks[ident - IDENT_FILL]
            self.own(Step(cycle, core, FILL, self.who(core), first=block, second=size))

    def add(self, step: Step) -> None:
        self.steps.append(step)
        self.last[step.core] = step

    def own(self, step: Step) -> None:
        """A step of a task's or handler's own code."""
        context = self.context(step.core)
        last, since = self.last.get(step.core), self.resumed.get(context, 0)
        in_call = last is not None and last.kind == CALL and last.who == step.who and last.end_cycle is None
        if last is not None and not in_call:
            since = max(last.cycle, last.end_cycle or 0, since)
            step.own_cycles = step.cycle - since - _cycles_since(since, self.kernels.get(step.core, ()))
        self.kernels.pop(step.core, None)
        self.owned[context] = step
        self.hit.pop(context, None)
        self.add(step)

    def edge(self, core: int, cycle: int, level: int) -> None:
        """A store reaches the pin some cycles later: it belongs before a mark behind it, whatever interrupts then."""
        at = next((at for at in reversed(range(len(self.steps))) if self.steps[at].kind not in {TICK, INTERRUPT}), 0)
        before = self.steps[at] if self.steps else None
        is_behind = before is not None and before.kind == STOP and cycle - before.cycle <= _TO_THE_PIN_CYCLES
        who = before.who if before is not None and is_behind else self.who(core)
        self.steps.insert(at if is_behind else len(self.steps), Step(cycle, core, PIN, who, first=level))

    def who(self, core: int) -> int:
        return HANDLER if self.handled.get(core) else self.current.get(core, 0)

    def context(self, core: int) -> int:
        return -1 - core if self.handled.get(core) else self.current.get(core, 0)

    def called(self, core: int, cycle: int, index: int, arguments: tuple[int, int], behind: int) -> None:
        if self.watching.is_kernels(behind):
            return
        context = self.context(core)
        if self.anew.pop(context, None) == self.watching.addresses[index]:
            return
        name = self.watching.functions[index]
        if name in self.watching.brackets and self.handled.get(core):
            return
        if self.completes(context, name, behind):
            return
        for before, at in (*self.calls.get(context, ()), *self.calls.get(self.leaving.get(core, context), ())):
            if at == behind and before.name != name:
                return  # one place calls one function: that one goes on as this one, and will not come back in between
        first, second = arguments
        step = Step(cycle, core, CALL, self.who(core), name, first, second)
        self.own(step)
        self.calls[context] = [(step, behind)]  # whatever it called before has returned

    def completes(self, context: int, name: str, behind: int) -> bool:
        """Whether it goes on with the call before: what that began is one service with it, once."""
        completes = self.watching.completes.get(name)
        last = self.owned.get(context) if completes else None
        begun = last is not None and last.kind == CALL and last.name in (completes or ())
        if last is None or not begun or last is self.completed.get(context):
            return False
        last.end_cycle = None
        self.completed[context] = last
        self.calls[context] = [(last, behind)]
        return True

    def returned(self, core: int, cycle: int, address: int, value: int) -> None:
        """A loop may lead to the same place: only a call in progress returns."""
        context = self.context(core)
        calls = self.calls.get(context)
        if calls and calls[-1][1] == address:
            step, _ = calls.pop()
            step.end_cycle = cycle
            if step is not self.completed.get(context):
                step.result = value
            self.resumed[context] = cycle

    def switched(self, core: int, cycle: int, task: int) -> None:
        before = self.current.get(core, 0)
        if task == before:
            return
        self.current[core] = task
        if not self.nested.get(core):
            self.leaving[core] = before
        self.add(Step(cycle, core, SWITCH, before, self.in_progress(before), task))

    def in_progress(self, context: int) -> str:
        """The function that a task is in; of one whose return cannot be seen, until the task does something else."""
        for step, behind in reversed(self.calls.get(context, ())):
            if behind in self.known or self.owned.get(context) is step:
                return step.name
        return ""

    def entered(self, core: int, cycle: int, number: int, recognised: int) -> None:
        last = self.last.get(core)
        may_be_hit = last is not None and last.kind == CALL and last.end_cycle is None and last.who == self.who(core)
        if last is not None and may_be_hit and abs(recognised - last.cycle) <= _BEGUN_ANEW_CYCLES:
            self.hit[self.context(core)] = self.watching.addresses[self.watching.functions.index(last.name)]
        if number >= _FIRST_OWN:
            self.add(Step(cycle, core, TICK if number == SYSTICK else INTERRUPT, self.who(core), first=number))
            self.calls.pop(-1 - core, None)
        else:
            self.leaving.pop(core, None)
            self.kernels.setdefault(core, []).append((recognised, recognised))
        self.nested.setdefault(core, []).append(number)
        self.handled[core] = self.handled.get(core, False) or number >= _FIRST_OWN

    def left(self, core: int, cycle: int, number: int, address: int | None) -> None:
        """`address`: where what was interrupted goes on; None: another handler follows, it does not yet."""
        nested = self.nested.get(core, [])
        while nested and nested.pop() != number:
            pass  # one that was entered before the first event has no entry here
        self.handled[core] = any(each >= _FIRST_OWN for each in nested)
        spans = self.kernels.get(core)
        if number < _FIRST_OWN and spans:
            spans[-1] = (spans[-1][0], cycle)
        if address is None:
            return
        context = self.context(core)
        if self.hit.pop(context, None) == address:
            self.anew[context] = address


def _cycles_since(since: int, spans: Sequence[tuple[int, int]]) -> int:
    """How long spans, in the order of time, lasted from then on; most of them are long over."""
    cycles = 0
    for begin, end in reversed(spans):
        if begin < end <= since:  # of those that are over; the last may still go on
            break
        cycles += max(0, end - max(begin, since))
    return cycles
