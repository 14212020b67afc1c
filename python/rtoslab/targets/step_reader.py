"""Turns the probes' events into steps: which calls are the benchmark's own, when they returned, which events they
caused.

A call that the kernel makes of its own function is none of the benchmark's, and is left out, also where a function ends
in another one, which then returns to the benchmark. So is what a handler must begin and end with. An instruction that
an interrupt hits may be started again: a call is then seen twice and reported once."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from rtoslab.base import load_architecture_facts, without_thumb_bit
from rtoslab.targets.event_kinds import (
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
from rtoslab.targets.events import EVENT, events_as_integer_tuples, sorted_distinct_values
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
    ObservedBenchmarkStep,
    ProbeTargetsByNumber,
)

_BEGUN_ANEW_CYCLES: Final = 64
_TO_THE_PIN_CYCLES: Final = 64
_FIRST_OWN: Final = 15
"""Exceptions from here on are handlers of the tick and of the chip's lines. Those before are the kernel's switch."""


def find_return_addresses(raw: bytes, watching: ProbeTargetsByNumber) -> list[int]:
    """Returns the addresses to which the benchmark's calls of kernel functions return, from packed events."""
    events = np.frombuffer(raw, dtype=EVENT)
    mine = (events["kind"] == KIND_EXEC) & (events["id"] >= IDENT_SYMBOL) & (events["id"] < IDENT_BEHIND)
    addresses = {without_thumb_bit(int(address)) for address in sorted_distinct_values(events["pc"][mine])}
    top = load_architecture_facts().code.exception_return_from
    return sorted(address for address in addresses if address < top and not watching.is_in_kernel(address))


def decode_benchmark_steps_from_events(
    raw: bytes, watching: ProbeTargetsByNumber, current: Mapping[int, int]
) -> tuple[ObservedBenchmarkStep, ...]:
    """Returns the steps of a benchmark's run (calls, switches, ticks, marks) that packed events contain. `current` is
    the running task of each core at the begin, empty without a kernel."""
    contexts, whose = defaultdict(int, current), defaultdict(int, current)
    reader = _BenchmarkStepReader(
        watching, dict(current), contexts, whose, probed_returns=frozenset(watching.return_addresses)
    )
    called, returned, behind = reader.append_kernel_call, reader.end_kernel_call, watching.return_addresses
    events = np.frombuffer(raw, dtype=EVENT)
    # Where one handler follows another without a return between, the board reports the entry before the return.
    # A mark may come right after a call: the call's return comes first.
    events = events[np.lexsort((events["id"] < IDENT_BEHIND, events["cycle"]))]
    entries = events[events["kind"] == KIND_EXCEPTION_ENTER]
    began = {(core, cycle - took) for cycle, core, took in entries[["cycle", "core", "value"]].tolist()}
    events["pc"] &= without_thumb_bit(0xFFFF_FFFF)
    for cycle, value, pc, ident, kind, core, more in events_as_integer_tuples(events):
        if kind == KIND_EXEC:
            if ident >= IDENT_BEHIND:
                returned(core, cycle, behind[ident - IDENT_BEHIND], value)
            elif ident >= IDENT_SYMBOL:
                called(core, cycle, ident - IDENT_SYMBOL, value, more, pc)
            elif ident >= IDENT_MARK:
                reader.append_interval_marker_step(core, cycle, ident - IDENT_MARK)
        elif kind == KIND_WRITE:
            reader.append_switch_or_heap_write_step(core, cycle, ident, value)
        elif kind == KIND_EXCEPTION_ENTER:
            reader.append_tick_or_interrupt_step(core, cycle, ident, cycle - value)
        elif kind == KIND_EXCEPTION_EXIT:
            reader.record_handler_return(core, cycle, ident, None if (core, cycle) in began else pc)
        elif kind == KIND_PIN and ident == watching.pin:
            reader.insert_pin_edge(core, cycle, value)
    return tuple(reader.steps)


@dataclass(slots=True)
class _BenchmarkStepReader:
    """Builds the steps of a benchmark's run (calls, switches, ticks, marks) from events."""

    watching: ProbeTargetsByNumber
    current: dict[int, int]
    contexts: dict[int, int]
    """Core -> the context that runs."""
    step_owners: dict[int, int]
    """Core -> who a step there belongs to: a control block, or HANDLER."""
    steps: list[ObservedBenchmarkStep] = field(default_factory=list)
    probed_returns: frozenset[int] = frozenset()
    """Return addresses that have a probe."""
    handlers: dict[int, list[int]] = field(default_factory=dict)
    """Core -> exception numbers of the handlers in progress."""
    interrupted_starts: dict[int, int] = field(default_factory=dict)
    """Context -> function at whose first instruction an interrupt came, until the context continues."""
    calls: dict[int, list[tuple[ObservedBenchmarkStep, int]]] = field(default_factory=dict)
    """Context -> calls in progress, and where they return to."""
    last_steps: dict[int, ObservedBenchmarkStep] = field(default_factory=dict)
    resume_cycles: dict[int, int] = field(default_factory=dict)
    """Context -> when its own code continued after a call."""
    last_own_steps: dict[int, ObservedBenchmarkStep] = field(default_factory=dict)
    """Context -> the last step of its own code."""
    kernel_spans: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    """Core -> begin and end of the kernel's handlers since the last step of any own code."""
    leaving: dict[int, int] = field(default_factory=dict)
    """Core -> task that still runs, where the kernel names the next one before it switches."""
    completed_calls: dict[int, ObservedBenchmarkStep] = field(default_factory=dict)
    """Context -> the last call that a call of another function completed."""
    restarting: dict[int, int] = field(default_factory=dict)
    """Context -> function that will be started again, because an interrupt hit its first instruction."""

    def append_interval_marker_step(self, core: int, cycle: int, tag: int) -> None:
        """Appends the start or end of a measured interval. `tag` is twice the series' number, plus 1 for an end."""
        self.append_benchmark_code_step(
            ObservedBenchmarkStep(cycle, core, STOP if tag & 1 else START, self.step_owners[core], first=tag >> 1)
        )

    def append_switch_or_heap_write_step(self, core: int, cycle: int, ident: int, value: int) -> None:
        """Appends a switch to a new current task, or the write to a heap block's last word."""
        if ident == IDENT_CURRENT + core:
            self.append_task_switch(core, cycle, value)
        elif IDENT_FILL <= ident < IDENT_FILL + len(self.watching.blocks):
            block, size = self.watching.blocks[ident - IDENT_FILL]
            self.append_benchmark_code_step(
                ObservedBenchmarkStep(cycle, core, FILL, self.step_owners[core], first=block, second=size)
            )

    def append_step_outside_benchmark_code(self, step: ObservedBenchmarkStep) -> None:
        """Appends a step that is not of the benchmark's own code: a switch, a tick, an interrupt."""
        self.steps.append(step)
        self.last_steps[step.core] = step

    def append_benchmark_code_step(self, step: ObservedBenchmarkStep) -> None:
        """Appends a step of a task's or handler's own code, and computes the cycles of own code before it."""
        core = step.core
        context, last = self.contexts[core], self.last_steps.get(core)
        spans = self.kernel_spans.pop(core, None)
        if last is not None and not (last.kind == CALL and last.who == step.who and last.end_cycle is None):
            since = max(last.cycle, last.end_cycle or 0, self.resume_cycles.get(context, 0))
            step.own_cycles = step.cycle - since - (_sum_cycles_of_spans_after_cycle(since, spans) if spans else 0)
        self.last_own_steps[context] = step
        self.interrupted_starts.pop(context, None)
        self.steps.append(step)
        self.last_steps[core] = step

    def insert_pin_edge(self, core: int, cycle: int, level: int) -> None:
        """Inserts a pin edge into the steps."""
        at = next((at for at in reversed(range(len(self.steps))) if self.steps[at].kind not in {TICK, INTERRUPT}), 0)
        before = self.steps[at] if self.steps else None
        is_behind = before is not None and before.kind == STOP and cycle - before.cycle <= _TO_THE_PIN_CYCLES
        who = before.who if before is not None and is_behind else self.step_owners[core]
        self.steps.insert(
            at if is_behind else len(self.steps), ObservedBenchmarkStep(cycle, core, PIN, who, first=level)
        )

    def update_core_execution_context(self, core: int, *, is_handler: bool) -> None:
        """Updates which context (a task or the core's handlers) runs on a core."""
        current = self.current.get(core, 0)
        self.contexts[core], self.step_owners[core] = (-1 - core, HANDLER) if is_handler else (current, current)

    def append_kernel_call(self, core: int, cycle: int, index: int, first: int, second: int, behind: int) -> None:
        """Appends a call of a kernel function that the benchmark makes. Calls inside the kernel and repeated records of
        one call are left out.

        `index` is the function's number, `first` and `second` are arguments, and `behind` is the return address.
        """
        if self.watching.is_in_kernel(behind):
            return
        context = self.contexts[core]
        if self.restarting.pop(context, None) == self.watching.addresses[index]:
            return
        name = self.watching.functions[index]
        if name in self.watching.bracket_functions and context < 0:
            return
        if name in self.watching.completes and self.merge_call_with_preceding_call(context, name, behind):
            return
        for running in (context, self.leaving.get(core, context)):
            for before, at in self.calls.get(running, ()):
                if at == behind and before.name != name:
                    return  # an address calls one function: that one continues as this one, and does not return there
        step = ObservedBenchmarkStep(cycle, core, CALL, self.step_owners[core], name, first, second)
        self.append_benchmark_code_step(step)
        self.calls[context] = [(step, behind)]  # whatever it called before has returned

    def merge_call_with_preceding_call(self, context: int, name: str, behind: int) -> bool:
        """Merges a call of the function `name` with the call before it if both make up one service. Returns whether it
        did."""
        last = self.last_own_steps.get(context)
        begun = last is not None and last.kind == CALL and last.name in self.watching.completes[name]
        if last is None or not begun or last is self.completed_calls.get(context):
            return False
        last.end_cycle = None
        self.completed_calls[context] = last
        self.calls[context] = [(last, behind)]
        return True

    def end_kernel_call(self, core: int, cycle: int, address: int, value: int) -> None:
        """Ends the call in progress that returns to this address, with the returned value."""
        context = self.contexts[core]
        calls = self.calls.get(context)
        if calls and calls[-1][1] == address:
            step, _ = calls.pop()
            step.end_cycle = cycle
            if step is not self.completed_calls.get(context):
                step.result = value
            self.resume_cycles[context] = cycle

    def append_task_switch(self, core: int, cycle: int, task: int) -> None:
        """Appends a switch to the task with control block `task`, unless it already runs."""
        before = self.current.get(core, 0)
        if task == before:
            return
        self.current[core] = task
        self.update_core_execution_context(core, is_handler=self.contexts[core] < 0)
        if not self.handlers.get(core):
            self.leaving[core] = before
        self.append_step_outside_benchmark_code(
            ObservedBenchmarkStep(cycle, core, SWITCH, before, self.running_function(before), task)
        )

    def running_function(self, context: int) -> str:
        """Returns the name of the kernel function that a context is in, or an empty text. A call whose return has no
        probe counts until the context's next step."""
        for step, behind in reversed(self.calls.get(context, ())):
            if behind in self.probed_returns or self.last_own_steps.get(context) is step:
                return step.name
        return ""

    def append_tick_or_interrupt_step(self, core: int, cycle: int, number: int, recognised: int) -> None:
        """Appends a tick or interrupt, and notes the call whose first instruction it may have interrupted. `recognised`
        is the cycle of the exception's recognition."""
        last = self.last_steps.get(core)
        may_be_hit = (
            last is not None and last.kind == CALL and last.end_cycle is None and last.who == self.step_owners[core]
        )
        if last is not None and may_be_hit and abs(recognised - last.cycle) <= _BEGUN_ANEW_CYCLES:
            self.interrupted_starts[self.contexts[core]] = self.watching.addresses[
                self.watching.functions.index(last.name)
            ]
        if number >= _FIRST_OWN:
            self.append_step_outside_benchmark_code(
                ObservedBenchmarkStep(
                    cycle, core, TICK if number == SYSTICK else INTERRUPT, self.step_owners[core], first=number
                )
            )
            self.calls.pop(-1 - core, None)
        else:
            self.leaving.pop(core, None)
            self.kernel_spans.setdefault(core, []).append((recognised, recognised))
        self.handlers.setdefault(core, []).append(number)
        self.update_core_execution_context(core, is_handler=number >= _FIRST_OWN or self.contexts[core] < 0)

    def record_handler_return(self, core: int, cycle: int, number: int, address: int | None) -> None:
        """Records the return from an exception handler. `address` is where the interrupted code continues, None if
        another handler follows at once."""
        nested = self.handlers.get(core, [])
        while nested and nested.pop() != number:
            pass  # one that was entered before the first event has no entry here
        self.update_core_execution_context(core, is_handler=any(call >= _FIRST_OWN for call in nested))
        spans = self.kernel_spans.get(core)
        if number < _FIRST_OWN and spans:
            spans[-1] = (spans[-1][0], cycle)
        if address is None:
            return
        context = self.contexts[core]
        if self.interrupted_starts.get(context) == address:
            self.restarting[context] = address
        elif self.watching.resumes_in_thread and number >= _FIRST_OWN:
            return  # another exception returns to the interrupted code
        self.interrupted_starts.pop(context, None)


def _sum_cycles_of_spans_after_cycle(since: int, spans: Sequence[tuple[int, int]]) -> int:
    """Returns the cycles of those parts of the spans (begin, end) that are later than cycle `since`. The spans are in
    the order of time."""
    cycles = 0
    for begin, end in reversed(spans):
        if begin < end <= since:  # only the last span may have no end yet
            break
        cycles += max(0, end - max(begin, since))
    return cycles
