"""Turns the probes' events into steps: which calls are the benchmark's own, when they returned, which events they
caused.

A call that the kernel makes of its own function is none of the benchmark's, and is left out, also where a function ends
in another one, which then returns to the benchmark. So is what a handler must begin and end with. An instruction that
an interrupt hits may be begun anew: a call is then seen twice and told once."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
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
    distinct,
    rows,
)
from rtoslab.targets.exceptions import SYSTICK
from rtoslab.targets.steps import (
    CALL,
    FILL,
    HANDLER,
    INTERRUPT,
    PIN,
    START,
    STOP,
    SWITCH,
    TICK,
    Step,
    Watching,
)

_BEGUN_ANEW_CYCLES: Final = 64
_TO_THE_PIN_CYCLES: Final = 64
_FIRST_OWN: Final = 15
"""Exceptions from here on are handlers of the tick and of the chip's lines. Those before are the kernel's switch."""


def return_addresses(raw: bytes, watching: Watching) -> list[int]:
    """Returns where callers outside the kernel continue, from the calls seen so far."""
    events = np.frombuffer(raw, dtype=EVENT)
    mine = (events["kind"] == KIND_EXEC) & (events["id"] >= IDENT_SYMBOL) & (events["id"] < IDENT_BEHIND)
    addresses = {code_address(int(address)) for address in distinct(events["pc"][mine])}
    top = architecture().code.exception_return_from
    return sorted(address for address in addresses if address < top and not watching.is_kernels(address))


def find_steps(raw: bytes, watching: Watching, current: Mapping[int, int]) -> tuple[Step, ...]:
    """Reads events in the order of time. `current`: core -> running task as they begin, none without a kernel."""
    contexts, whose = defaultdict(int, current), defaultdict(int, current)
    reader = _Reader(watching, dict(current), contexts, whose, known=frozenset(watching.behind))
    called, returned, behind = reader.note_called, reader.note_returned, watching.behind
    events = np.frombuffer(raw, dtype=EVENT)
    # Where one handler follows another without a return between, the board tells the entry before the return.
    # A mark may stand right after a call: the call's return is told first.
    events = events[np.lexsort((events["id"] < IDENT_BEHIND, events["cycle"]))]
    entries = events[events["kind"] == KIND_EXCEPTION_ENTER]
    began = {(core, cycle - took) for cycle, core, took in entries[["cycle", "core", "value"]].tolist()}
    events["pc"] &= code_address(0xFFFF_FFFF)
    for cycle, value, pc, ident, kind, core, more in rows(events):
        if kind == KIND_EXEC:
            if ident >= IDENT_BEHIND:
                returned(core, cycle, behind[ident - IDENT_BEHIND], value)
            elif ident >= IDENT_SYMBOL:
                called(core, cycle, ident - IDENT_SYMBOL, value, more, pc)
            elif ident >= IDENT_MARK:
                reader.note_marked(core, cycle, ident - IDENT_MARK)
        elif kind == KIND_WRITE:
            reader.note_written(core, cycle, ident, value)
        elif kind == KIND_EXCEPTION_ENTER:
            reader.note_entered(core, cycle, ident, cycle - value)
        elif kind == KIND_EXCEPTION_EXIT:
            reader.note_left(core, cycle, ident, None if (core, cycle) in began else pc)
        elif kind == KIND_PIN and ident == watching.pin:
            reader.edge(core, cycle, value)
    return tuple(reader.steps)


@dataclass(slots=True)
class _Reader:
    watching: Watching
    current: dict[int, int]
    contexts: dict[int, int]
    """Core -> what runs there: a control block, or minus ... where one is a handler of the tick's or of a line's."""
    whose: dict[int, int]
    """Core -> the same for a step: a control block, or HANDLER."""
    steps: list[Step] = field(default_factory=list)
    known: frozenset[int] = frozenset()
    """Addresses behind calls at which there is a probe."""
    nested: dict[int, list[int]] = field(default_factory=dict)
    """Core -> exception numbers of the handlers in progress."""
    hit: dict[int, int] = field(default_factory=dict)
    """Control block (or minus ...) -> function near whose first instruction an interrupt came. Until that continues."""
    calls: dict[int, list[tuple[Step, int]]] = field(default_factory=dict)
    """Control block (or minus the handlers in progress) -> calls in progress, and where they return to."""
    last: dict[int, Step] = field(default_factory=dict)
    resumed: dict[int, int] = field(default_factory=dict)
    """Control block (or minus ...) -> when its own code continued after a call."""
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

    def note_marked(self, core: int, cycle: int, tag: int) -> None:
        self.own(Step(cycle, core, STOP if tag & 1 else START, self.whose[core], first=tag >> 1))

    def note_written(self, core: int, cycle: int, ident: int, value: int) -> None:
        if ident == IDENT_CURRENT + core:
            self.note_switched(core, cycle, value)
        elif IDENT_FILL <= ident < IDENT_FILL + len(self.watching.blocks):
            block, size = self.watching.blocks[ident - IDENT_FILL]
            self.own(Step(cycle, core, FILL, self.whose[core], first=block, second=size))

    def add(self, step: Step) -> None:
        self.steps.append(step)
        self.last[step.core] = step

    def own(self, step: Step) -> None:
        """A step of a task's or handler's own code."""
        core = step.core
        context, last = self.contexts[core], self.last.get(core)
        spans = self.kernels.pop(core, None)
        if last is not None and not (last.kind == CALL and last.who == step.who and last.end_cycle is None):
            since = max(last.cycle, last.end_cycle or 0, self.resumed.get(context, 0))
            step.own_cycles = step.cycle - since - (_cycles_since(since, spans) if spans else 0)
        self.owned[context] = step
        self.hit.pop(context, None)
        self.steps.append(step)
        self.last[core] = step

    def edge(self, core: int, cycle: int, level: int) -> None:
        """A store reaches the pin some cycles later: it belongs before a mark after it, whatever interrupts then."""
        at = next((at for at in reversed(range(len(self.steps))) if self.steps[at].kind not in {TICK, INTERRUPT}), 0)
        before = self.steps[at] if self.steps else None
        is_behind = before is not None and before.kind == STOP and cycle - before.cycle <= _TO_THE_PIN_CYCLES
        who = before.who if before is not None and is_behind else self.whose[core]
        self.steps.insert(at if is_behind else len(self.steps), Step(cycle, core, PIN, who, first=level))

    def settle(self, core: int, *, is_handler: bool) -> None:
        """Settles the open steps after each change of the running task or handler on a core."""
        current = self.current.get(core, 0)
        self.contexts[core], self.whose[core] = (-1 - core, HANDLER) if is_handler else (current, current)

    def note_called(self, core: int, cycle: int, index: int, first: int, second: int, behind: int) -> None:
        if self.watching.is_kernels(behind):
            return
        context = self.contexts[core]
        if self.anew.pop(context, None) == self.watching.addresses[index]:
            return
        name = self.watching.functions[index]
        if name in self.watching.brackets and context < 0:
            return
        if name in self.watching.completes and self.completes(context, name, behind):
            return
        for running in (context, self.leaving.get(core, context)):
            for before, at in self.calls.get(running, ()):
                if at == behind and before.name != name:
                    return  # one place calls one function: that one continues as this one, and will not come back
        step = Step(cycle, core, CALL, self.whose[core], name, first, second)
        self.own(step)
        self.calls[context] = [(step, behind)]  # whatever it called before has returned

    def completes(self, context: int, name: str, behind: int) -> bool:
        """Whether it continues with the call before: what that began is one service with it, once."""
        last = self.owned.get(context)
        begun = last is not None and last.kind == CALL and last.name in self.watching.completes[name]
        if last is None or not begun or last is self.completed.get(context):
            return False
        last.end_cycle = None
        self.completed[context] = last
        self.calls[context] = [(last, behind)]
        return True

    def note_returned(self, core: int, cycle: int, address: int, value: int) -> None:
        """A loop may lead to the same place: only a call in progress returns."""
        context = self.contexts[core]
        calls = self.calls.get(context)
        if calls and calls[-1][1] == address:
            step, _ = calls.pop()
            step.end_cycle = cycle
            if step is not self.completed.get(context):
                step.result = value
            self.resumed[context] = cycle

    def note_switched(self, core: int, cycle: int, task: int) -> None:
        before = self.current.get(core, 0)
        if task == before:
            return
        self.current[core] = task
        self.settle(core, is_handler=self.contexts[core] < 0)
        if not self.nested.get(core):
            self.leaving[core] = before
        self.add(Step(cycle, core, SWITCH, before, self.in_progress(before), task))

    def in_progress(self, context: int) -> str:
        """The function of a task. A call whose return cannot be seen lasts until the task does something else."""
        for step, behind in reversed(self.calls.get(context, ())):
            if behind in self.known or self.owned.get(context) is step:
                return step.name
        return ""

    def note_entered(self, core: int, cycle: int, number: int, recognised: int) -> None:
        last = self.last.get(core)
        may_be_hit = last is not None and last.kind == CALL and last.end_cycle is None and last.who == self.whose[core]
        if last is not None and may_be_hit and abs(recognised - last.cycle) <= _BEGUN_ANEW_CYCLES:
            self.hit[self.contexts[core]] = self.watching.addresses[self.watching.functions.index(last.name)]
        if number >= _FIRST_OWN:
            self.add(Step(cycle, core, TICK if number == SYSTICK else INTERRUPT, self.whose[core], first=number))
            self.calls.pop(-1 - core, None)
        else:
            self.leaving.pop(core, None)
            self.kernels.setdefault(core, []).append((recognised, recognised))
        self.nested.setdefault(core, []).append(number)
        self.settle(core, is_handler=number >= _FIRST_OWN or self.contexts[core] < 0)

    def note_left(self, core: int, cycle: int, number: int, address: int | None) -> None:
        """`address`: where what was interrupted continues; None: another handler follows, it does not yet."""
        nested = self.nested.get(core, [])
        while nested and nested.pop() != number:
            pass  # one that was entered before the first event has no entry here
        self.settle(core, is_handler=any(call >= _FIRST_OWN for call in nested))
        spans = self.kernels.get(core)
        if number < _FIRST_OWN and spans:
            spans[-1] = (spans[-1][0], cycle)
        if address is None:
            return
        context = self.contexts[core]
        if self.hit.pop(context, None) == address:
            self.anew[context] = address


def _cycles_since(since: int, spans: Sequence[tuple[int, int]]) -> int:
    """How long spans, in the order of time, lasted from then on. Most of them are long over."""
    cycles = 0
    for begin, end in reversed(spans):
        if begin < end <= since:  # of those that are over. The last may still go on
            break
        cycles += max(0, end - max(begin, since))
    return cycles
