"""Compares one observed step with an expected one. `course` explains steps."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from rtoslab.catalogue import Kernel
from rtoslab.proofs.evidence import BenchmarkProofEvidence
from rtoslab.proofs.expected_steps import ANY, ISR, LINES, OTHER, ExpectedBenchmarkStep
from rtoslab.targets import FIRST_EXTERNAL, HANDLER, ObservedBenchmarkStep
from rtoslab.targets import steps as seen

_WORD = 0xFFFF_FFFF
_TAKING_SERVICES = {"free": "malloc", "pool_give": "pool_take"}
"""By service that gives a block back, the service that takes it."""
_POINTER_ARGUMENTS = ("item", "pointer")
"""Arguments that only need to be there: the address of a message."""


class KernelService:
    """A service of a kernel, with the functions and fixed arguments by which its calls are recognised."""

    def __init__(self, kernel: Kernel, name: str) -> None:
        self._functions = frozenset(kernel.symbols.get(name, ()))
        self.arguments_of_observed_call = kernel.arguments_of_observed_call(name)
        self.success = kernel.results.get(name)
        """The result of a successful call. None: the result does not show success."""
        operands = list(enumerate(self.arguments_of_observed_call[:2]))
        self._fixed = [(at, word & _WORD) for at, word in operands if isinstance(word, int)]
        self._nonzero = [at for at, word in operands if word in _POINTER_ARGUMENTS]

    def is_call_of_kernel_service(self, step: ObservedBenchmarkStep) -> bool:
        """Whether an observed call may be one of this kernel service, by its function and its fixed arguments."""
        if step.name not in self._functions:
            return False
        if not self._fixed and not self._nonzero:
            return True
        operands = step.first, step.second
        return all(operands[at] == value for at, value in self._fixed) and all(operands[at] for at in self._nonzero)


@dataclass(slots=True)
class PlaceholderBindings:
    """The values that the names (capital letters) in a benchmark's round are bound to, and the heap blocks that the
    benchmark holds."""

    values: dict[str, int] = field(default_factory=dict)
    blocks: dict[int, int] = field(default_factory=dict)
    """By address, the bytes of each block."""
    unlocated: list[int] = field(default_factory=list)
    """The sizes of blocks whose address is not known yet: the kernel's call returned a code, and stored the address
    elsewhere."""

    def copy_placeholder_bindings(self) -> "PlaceholderBindings":
        """Returns a copy of the bound names, which an attempt to match a round may change."""
        return PlaceholderBindings(dict(self.values), dict(self.blocks), list(self.unlocated))

    def replace_placeholder_bindings(self, tried: "PlaceholderBindings") -> None:
        """Takes over the bound names from a copy with which a round was matched."""
        self.values, self.blocks, self.unlocated = tried.values, tried.blocks, tried.unlocated

    def does_allocated_heap_block_match(self, block: int, size: int) -> bool:
        """Whether the benchmark has a heap block with this address and size.
        A block of that size without an address gets this one.
        """
        if block not in self.blocks and size in self.unlocated:
            self.unlocated.remove(size)
            self.blocks[block] = size
        return self.blocks.get(block) == size

    def remove_freed_block(self, block: int) -> bool:
        """Removes a freed heap block. Returns whether the benchmark held this block, or any block of unknown
        address."""
        if self.blocks.pop(block, None) is not None:
            return True
        return bool(self.unlocated) and self.unlocated.pop() is not None

    def bind_placeholder(self, name: str, value: int) -> bool:
        """Binds a round's name to `value` if it is unbound. Returns whether the name, and no other one, now has this
        value."""
        if name in self.values:
            return self.values[name] == value
        if value in self.values.values():
            return False
        self.values[name] = value
        return True


StepTest = Callable[[ObservedBenchmarkStep, PlaceholderBindings], bool]


class BenchmarkStepMatcher:
    """Compares observed steps of one core (calls, switches, marks) with the expected steps of a benchmark's round."""

    def __init__(self, evidence: BenchmarkProofEvidence, core: int) -> None:
        self._kernel = evidence.kernel.kernel_facts_for_architecture(evidence.board.cpu)
        self._board = evidence.board
        self.dispatches = self._kernel.behaviour.handler_entry == "kernel"
        """Whether the kernel's own code runs before a handler."""
        self._series = evidence.benchmark.latency_series_ids
        self._pin_measures = evidence.decoded.params.get("instrument") == "pin"
        indices = {task.index for task in evidence.decoded.tasks if task.core == core}
        self._tasks = {str(index): evidence.task_handle(core, index) or 0 for index in indices} or {"0": 0}
        ring = evidence.ring_of_tasks()
        self._tasks |= {
            str(index): block or 0
            for index, block in zip(ring, evidence.tasks_in_round_robin_order(core, ring), strict=True)
        }
        self._others = evidence.control_blocks_of_runner_tasks() - {None, 0}
        self._tasks = {index: block for index, block in self._tasks.items() if block not in self._others}
        self._numbers = [
            (task.priority, evidence.observed.priorities[task.handle])
            for task in evidence.decoded.tasks
            if evidence.observed is not None and task.handle in evidence.observed.priorities
        ]
        observed = evidence.observed
        mine = {str(task.index): task.handle for task in evidence.decoded.tasks if task.core == core}
        self._known_as: dict[str, Mapping[str, int | None]] = {
            "task": self._tasks,
            "task_priority": {item: observed.priorities.get(block) for item, block in mine.items()} if observed else {},
            "task_number": {item: observed.numbers.get(block) for item, block in mine.items()} if observed else {},
        }
        """By word of kernel.toml and task, the value by which the kernel's calls know the task."""
        probes = self._kernel.probes
        self._service = cache(lambda name: KernelService(self._kernel, name))
        irq = self._board.irq
        named = {"soft": irq.soft, "asynchronous": irq.asynchronous, "edge": self._board.pins.in_irq}
        self._lines = {name: FIRST_EXTERNAL + named[name] for name in LINES}
        """The exception number of each line of board.toml."""
        self._numbers_of_lines = frozenset(self._lines.values())
        self._inline_yield = probes is not None and self._kernel.symbols.get("yield") == (probes.switch_symbol,)

    def benchmark_steps_visible_to_probes(
        self, wanted_steps: Iterable[ExpectedBenchmarkStep]
    ) -> tuple[ExpectedBenchmarkStep, ...]:
        """Returns the steps of a round that the probes can see.
        An inlined yield shows only in the switch after it, and a pin's edge only where the pin is not the instrument.
        """
        visible: list[ExpectedBenchmarkStep] = []
        yields = False
        for step in wanted_steps:
            if step.kind == "call" and step.name == "yield" and self._inline_yield:
                yields = True
            elif step.kind != "pin" or not self._pin_measures:
                parts = self.benchmark_steps_visible_to_probes(step.parts)
                visible.append(replace(step, parts=parts, by_yield=yields and step.kind == "switch"))
                yields = False
        return tuple(visible)

    def is_step_unrelated_to_benchmark(self, step: ObservedBenchmarkStep) -> bool:
        """Whether an observed step belongs to the control task, or to an interrupt that is none of the benchmark's."""
        if step.kind == seen.SWITCH:
            return bool({step.who, step.first} & self._others)
        if step.kind == seen.INTERRUPT:
            return step.first not in self._numbers_of_lines
        if step.kind == seen.PIN:
            return self._pin_measures
        return step.who in self._others or (step.kind in {seen.START, seen.STOP} and step.first == 0)

    def make_benchmark_step_predicate(self, expected: ExpectedBenchmarkStep) -> StepTest:
        """Returns a function that tells whether an observed step is the expected one. The function binds the round's
        names."""
        is_expected_switch = self.make_predicate_for_expected_step(expected)
        if expected.kind == "call":
            return self._make_kernel_call_predicate(expected, is_expected_switch)
        if expected.kind == "either":
            parts = [self.make_benchmark_step_predicate(part) for part in expected.parts]
            return lambda step, names: any(part(step, names) for part in parts)
        if expected.kind == "fill":
            is_whose = self._make_actor_predicate(expected.who)
            return lambda step, names: (
                step.kind == seen.FILL
                and names.does_allocated_heap_block_match(step.first, step.second)
                and is_whose(step.who)
            )
        return lambda step, _: is_expected_switch(step)

    def make_predicate_for_expected_step(
        self, expected: ExpectedBenchmarkStep
    ) -> Callable[[ObservedBenchmarkStep], bool]:
        """Returns a function that tells whether a step can be the expected one, whatever values the round's names
        have."""
        if expected.kind == "either":
            parts = [self.make_predicate_for_expected_step(part) for part in expected.parts]
            return lambda step: any(part(step) for part in parts)
        if expected.kind in {"switch", "preempt"}:
            return self._make_task_switch_predicate(expected)
        kind, is_whose, is_so = (
            expected.kind,
            self._make_actor_predicate(expected.who or ANY),
            self._make_step_detail_predicate(expected),
        )
        return lambda step: step.kind == kind and is_so(step) and is_whose(step.who)

    def _make_step_detail_predicate(self, expected: ExpectedBenchmarkStep) -> Callable[[ObservedBenchmarkStep], bool]:
        """Returns a function that compares an observed step's function, pin level, interrupt line or series with the
        expected one."""
        match expected.kind:
            case "call":
                return self._service(expected.name).is_call_of_kernel_service
            case "pin":
                is_up = expected.name == "up"
                return lambda step: bool(step.first) == is_up
            case "interrupt":
                line = self._lines[expected.name]
                return lambda step: step.first == line
            case "start" | "stop":
                series = self._series.index(expected.name) if expected.name in self._series else None
                return lambda step: step.first == series
        return lambda _: True

    def describe_observed_step(self, step: ObservedBenchmarkStep) -> str:
        """Returns an observed step in words, for messages."""
        who = self._task_name(step.who)
        if step.kind == seen.CALL:
            gave = f" giving {step.result:#x}" if step.result is not None else ""
            return f"{who} called {step.name}({step.first:#x}, {step.second:#x}){gave}"
        if step.kind == seen.SWITCH:
            cause = f" out of {step.name}" if step.name else " out of no call"
            return f"a switch from {who} to {self._task_name(step.first)}{cause}"
        if step.kind in {seen.START, seen.STOP}:
            return f"{who}: {step.kind} {self._series[step.first]}"
        return f"{who}: {step.kind} {step.first:#x}"

    def _task_name(self, block: int) -> str:
        """Returns the name of the task with this control block, for messages."""
        if block == HANDLER:
            return "a handler"
        indices = [index for index, task in self._tasks.items() if task == block]
        return f"task {indices[0]}" if indices else "another task"

    def _make_actor_predicate(self, who: str) -> Callable[[int], bool]:
        """Returns a function that tells whether a control block belongs to the actor that a round names: a task, a
        handler, any."""
        if who == ISR:
            return lambda block: block == HANDLER
        if who == OTHER:
            known = {HANDLER, *self._tasks.values()}
            return lambda block: block not in known
        if who == ANY:
            return lambda _: True
        mine = self._tasks.get(who, -1)
        return lambda block: block == mine

    def _make_task_switch_predicate(self, expected: ExpectedBenchmarkStep) -> Callable[[ObservedBenchmarkStep], bool]:
        """Returns a function that tells whether an observed step is the expected switch."""
        is_from, is_to = self._make_actor_predicate(expected.who), self._make_actor_predicate(expected.name)
        is_any = expected.kind == "preempt" or expected.who in {OTHER, ANY}

        def is_expected_switch(step: ObservedBenchmarkStep) -> bool:
            """Whether the observed step is a switch to the expected task."""
            if step.kind != seen.SWITCH or not is_from(step.who) or not is_to(step.first):
                return False
            return is_any or (step.name == "") == expected.by_yield

        return is_expected_switch

    def _make_kernel_call_predicate(
        self, expected: ExpectedBenchmarkStep, may: Callable[[ObservedBenchmarkStep], bool]
    ) -> StepTest:
        """Returns a function that tells whether an observed step is the expected call. The function binds the round's
        names."""
        success, operands = self._service(expected.name).success, self._make_call_argument_predicates(expected)
        name, fails = expected.name, expected.fails

        def is_expected_call(step: ObservedBenchmarkStep, names: PlaceholderBindings) -> bool:
            """Whether the observed step is the expected call with the expected arguments."""
            if not may(step):
                return False
            for is_second, is_named in operands:
                if not is_named(step.second if is_second else step.first, names):
                    return False
            if not self._record_heap_block(step, name, names):
                return False
            return success is None or step.result is None or (step.result == success) != fails

        return is_expected_call

    def _make_call_argument_predicates(
        self, expected: ExpectedBenchmarkStep
    ) -> Sequence[tuple[int, Callable[[int, PlaceholderBindings], bool]]]:
        """Returns, for each argument that an expected call names, its position (0 or 1) and the function that compares
        it."""
        operands = self._service(expected.name).arguments_of_observed_call[:2]
        named = [
            (at, word) for at, word in enumerate(operands) if isinstance(word, str) and word not in _POINTER_ARGUMENTS
        ]
        return [
            (at, self._make_call_argument_predicate(pair, word))
            for (at, word), pair in zip(named, expected.operands, strict=False)
        ]

    def _make_call_argument_predicate(self, operand: str, word: str) -> Callable[[int, PlaceholderBindings], bool]:
        """Returns a function that compares an observed argument with an operand of the round. `word` is the argument's
        name in kernel.toml."""
        due: int | None
        if operand.isdecimal():
            due = int(operand)
        elif operand[0] == "P" and operand[1:].isdecimal() and self._numbers:
            abstract, number = self._numbers[0]
            due = number + (-1 if self._kernel.is_lowest_number_most_urgent else 1) * (int(operand[1:]) - abstract)
        elif word in self._known_as and operand[0] == "T" and operand[1:].isdecimal():
            due = self._known_as[word].get(operand[1:], -1)
        else:
            return lambda value, names: names.bind_placeholder(operand, value)
        return lambda value, _: value == due

    def _record_heap_block(self, step: ObservedBenchmarkStep, service: str, names: PlaceholderBindings) -> bool:
        """Records a heap block that a call allocates or frees.
        Returns False for one freed without having been allocated.
        A function that returns a code does not tell the block's address: the function that fills it does.
        """
        operands = (step.first, step.second)
        if service in _TAKING_SERVICES:
            return names.remove_freed_block(operands[self._kernel.index_of_service_call_argument(service, "block")])
        if service in _TAKING_SERVICES.values() and step.result is not None:
            size = operands[self._kernel.index_of_service_call_argument(service, "bytes")]
            if service not in self._kernel.results:
                names.blocks[step.result] = size
            elif step.result == self._kernel.results[service]:
                names.unlocated.append(size)
        return True
