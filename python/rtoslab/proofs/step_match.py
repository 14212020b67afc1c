"""Whether one step is what was wanted. See `course`."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from rtoslab.catalogue import Kernel
from rtoslab.proofs.evidence import Evidence
from rtoslab.proofs.expected_steps import ANY, ISR, LINES, OTHER, ExpectedStep
from rtoslab.targets import FIRST_EXTERNAL, HANDLER, Step
from rtoslab.targets import steps as seen

_WORD = 0xFFFF_FFFF
_GIVES = {"free": "malloc", "pool_give": "pool_take"}
"""Services that give a block back, and those that take it."""
_UNTOLD = ("item", "pointer")
"""Arguments of which it says enough that there is one: where a message lies."""


class Service:
    """A service of a kernel as it is seen to be called."""

    def __init__(self, kernel: Kernel, name: str) -> None:
        self._functions = frozenset(kernel.symbols.get(name, ()))
        self.told = kernel.observed_arguments(name)
        self.success = kernel.results.get(name)
        """What it gives when it is done. None: that is not told."""
        operands = list(enumerate(self.told[:2]))
        self._fixed = [(at, word & _WORD) for at, word in operands if isinstance(word, int)]
        self._untold = [at for at, word in operands if word in _UNTOLD]

    def is_called(self, step: Step) -> bool:
        """Whether a call may be one of it, by its function and by those arguments that must be so."""
        if step.name not in self._functions:
            return False
        if not self._fixed and not self._untold:
            return True
        operands = step.first, step.second
        return all(operands[at] == value for at, value in self._fixed) and all(operands[at] for at in self._untold)


@dataclass(slots=True)
class Names:
    """The meaning of the capitals of a round, and the heap blocks that are held."""

    values: dict[str, int] = field(default_factory=dict)
    blocks: dict[int, int] = field(default_factory=dict)
    """Address -> bytes."""
    unknown: list[int] = field(default_factory=list)
    """Bytes of blocks whose address is not known yet: the kernel's call gave a code, and the address elsewhere."""

    def copy(self) -> "Names":
        """So that a try can be given up."""
        return Names(dict(self.values), dict(self.blocks), list(self.unknown))

    def learn(self, tried: "Names") -> None:
        """Takes over the names that a finished attempt has learned."""
        self.values, self.blocks, self.unknown = tried.values, tried.blocks, tried.unknown

    def is_filled(self, block: int, size: int) -> bool:
        """Whether it is one that is held, of this size. One whose address was not known is known by it."""
        if block not in self.blocks and size in self.unknown:
            self.unknown.remove(size)
            self.blocks[block] = size
        return self.blocks.get(block) == size

    def is_given_back(self, block: int) -> bool:
        """Whether it was held. For an object of unknown address it tells whether there is one."""
        if self.blocks.pop(block, None) is not None:
            return True
        return bool(self.unknown) and self.unknown.pop() is not None

    def is_called(self, name: str, value: int) -> bool:
        """Whether `value` may be what `name` stands for: another name must not stand for it."""
        if name in self.values:
            return self.values[name] == value
        if value in self.values.values():
            return False
        self.values[name] = value
        return True


Test = Callable[[Step, Names], bool]


class Matcher:
    """Knows one core's tasks and the kernel's facts."""

    def __init__(self, evidence: Evidence, core: int) -> None:
        self._kernel = evidence.kernel.for_cpu(evidence.board.cpu)
        self._board = evidence.board
        self.dispatches = self._kernel.behaviour.handler_entry == "kernel"
        """The kernel's own code runs before a handler."""
        self._series = evidence.benchmark.series_ids
        self._pin_measures = evidence.decoded.params.get("instrument") == "pin"
        indices = {task.index for task in evidence.decoded.tasks if task.core == core}
        self._tasks = {str(index): evidence.handle(core, index) or 0 for index in indices} or {"0": 0}
        self._others = evidence.controls() - {None, 0}
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
        """Word of kernel.toml -> task -> what the kernel's calls know it by."""
        probes = self._kernel.probes
        self._service = cache(lambda name: Service(self._kernel, name))
        irq = self._board.irq
        named = {"soft": irq.soft, "asynchronous": irq.asynchronous, "edge": self._board.pins.in_irq}
        self._lines = {name: FIRST_EXTERNAL + named[name] for name in LINES}
        """Line of board.toml -> exception number."""
        self._numbers_of_lines = frozenset(self._lines.values())
        self._inline_yield = probes is not None and self._kernel.symbols.get("yield") == (probes.switch_symbol,)

    def visible(self, wanted_steps: Iterable[ExpectedStep]) -> tuple[ExpectedStep, ...]:
        """Returns the visible part of a round: a yield that is no function of the kernel only by the switch after it,
        a pin's edge where it is not the instrument."""
        visible: list[ExpectedStep] = []
        yields = False
        for step in wanted_steps:
            if step.kind == "call" and step.name == "yield" and self._inline_yield:
                yields = True
            elif step.kind != "pin" or not self._pin_measures:
                parts = self.visible(step.parts)
                visible.append(replace(step, parts=parts, by_yield=yields and step.kind == "switch"))
                yields = False
        return tuple(visible)

    def is_others(self, step: Step) -> bool:
        """The control task, and interrupts that are none of a benchmark's."""
        if step.kind == seen.SWITCH:
            return bool({step.who, step.first} & self._others)
        if step.kind == seen.INTERRUPT:
            return step.first not in self._numbers_of_lines
        if step.kind == seen.PIN:
            return self._pin_measures
        return step.who in self._others or (step.kind in {seen.START, seen.STOP} and step.first == 0)

    def test(self, expected: ExpectedStep) -> Test:
        """Whether a step is the wanted one. The names may learn by it. Made once for thousands of steps."""
        may = self.may(expected)
        if expected.kind == "call":
            return self._calls(expected, may)
        if expected.kind == "either":
            parts = [self.test(part) for part in expected.parts]
            return lambda step, names: any(part(step, names) for part in parts)
        if expected.kind == "fill":
            is_whose = self._is(expected.who)
            return lambda step, names: (
                step.kind == seen.FILL and names.is_filled(step.first, step.second) and is_whose(step.who)
            )
        return lambda step, _: may(step)

    def may(self, expected: ExpectedStep) -> Callable[[Step], bool]:
        """Whether a step can be the wanted one, whatever the names stand for."""
        if expected.kind == "either":
            parts = [self.may(part) for part in expected.parts]
            return lambda step: any(part(step) for part in parts)
        if expected.kind in {"switch", "preempt"}:
            return self._switches(expected)
        kind, is_whose, is_so = expected.kind, self._is(expected.who or ANY), self._is_so(expected)
        return lambda step: step.kind == kind and is_so(step) and is_whose(step.who)

    def _is_so(self, expected: ExpectedStep) -> Callable[[Step], bool]:
        """Returns the test for a step of the expected kind."""
        match expected.kind:
            case "call":
                return self._service(expected.name).is_called
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

    def describe(self, step: Step) -> str:
        """A step in words."""
        who = self._name_of(step.who)
        if step.kind == seen.CALL:
            gave = f" giving {step.result:#x}" if step.result is not None else ""
            return f"{who} called {step.name}({step.first:#x}, {step.second:#x}){gave}"
        if step.kind == seen.SWITCH:
            cause = f" out of {step.name}" if step.name else " out of no call"
            return f"a switch from {who} to {self._name_of(step.first)}{cause}"
        if step.kind in {seen.START, seen.STOP}:
            return f"{who}: {step.kind} {self._series[step.first]}"
        return f"{who}: {step.kind} {step.first:#x}"

    def _name_of(self, block: int) -> str:
        if block == HANDLER:
            return "a handler"
        indices = [index for index, task in self._tasks.items() if task == block]
        return f"task {indices[0]}" if indices else "another task"

    def _is(self, who: str) -> Callable[[int], bool]:
        """Whether a control block is whom a round means."""
        if who == ISR:
            return lambda block: block == HANDLER
        if who == OTHER:
            known = {HANDLER, *self._tasks.values()}
            return lambda block: block not in known
        if who == ANY:
            return lambda _: True
        mine = self._tasks.get(who, -1)
        return lambda block: block == mine

    def _switches(self, expected: ExpectedStep) -> Callable[[Step], bool]:
        is_from, is_to = self._is(expected.who), self._is(expected.name)
        is_any = expected.kind == "preempt" or expected.who in {OTHER, ANY}

        def may(step: Step) -> bool:
            if step.kind != seen.SWITCH or not is_from(step.who) or not is_to(step.first):
                return False
            return is_any or (step.name == "") == expected.by_yield

        return may

    def _calls(self, expected: ExpectedStep, may: Callable[[Step], bool]) -> Test:
        success, operands = self._service(expected.name).success, self._operands(expected)
        name, fails = expected.name, expected.fails

        def test(step: Step, names: Names) -> bool:
            if not may(step):
                return False
            for is_second, is_named in operands:
                if not is_named(step.second if is_second else step.first, names):
                    return False
            if not self._block_is_so(step, name, names):
                return False
            return success is None or step.result is None or (step.result == success) != fails

        return test

    def _operands(self, expected: ExpectedStep) -> Sequence[tuple[int, Callable[[int, Names], bool]]]:
        """Which of a call's arguments a round names, each with its test."""
        operands = self._service(expected.name).told[:2]
        named = [(at, word) for at, word in enumerate(operands) if isinstance(word, str) and word not in _UNTOLD]
        return [(at, self._named(pair, word)) for (at, word), pair in zip(named, expected.operands, strict=False)]

    def _named(self, operand: str, word: str) -> Callable[[int, Names], bool]:
        due: int | None
        if operand.isdecimal():
            due = int(operand)
        elif operand[0] == "P" and operand[1:].isdecimal() and self._numbers:
            abstract, number = self._numbers[0]
            due = number + (-1 if self._kernel.urgent_first else 1) * (int(operand[1:]) - abstract)
        elif word in self._known_as and operand[0] == "T" and operand[1:].isdecimal():
            due = self._known_as[word].get(operand[1:], -1)
        else:
            return lambda value, names: names.is_called(operand, value)
        return lambda value, _: value == due

    def _block_is_so(self, step: Step, service: str, names: Names) -> bool:
        """Whether a taken block is noted, or a released one was taken before. A function that returns a code does not
        tell the block's address: the function that fills it does."""
        operands = (step.first, step.second)
        if service in _GIVES:
            return names.is_given_back(operands[self._kernel.argument_place(service, "block")])
        if service in _GIVES.values() and step.result is not None:
            size = operands[self._kernel.argument_place(service, "bytes")]
            if service not in self._kernel.results:
                names.blocks[step.result] = size
            elif step.result == self._kernel.results[service]:
                names.unknown.append(size)
        return True
