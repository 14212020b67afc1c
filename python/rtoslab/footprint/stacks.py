"""How much of its stack each task has used, and what the kernel took from its pool: seen on the virtual board.

The image is not touched: the run stops when the kernel first names a task as the running one, before the task runs, and
the host paints what lies below its first context. Afterwards it looks how far the paint is gone. The kernel's own fill
would not do: it is in the registers of a fresh task too, and is pushed again. A peak of this run, no bound.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from rtoslab.base import RunError
from rtoslab.catalogue import Catalogue, TaskBlock
from rtoslab.footprint.control_blocks import members_of
from rtoslab.footprint.programs import BuiltProgram
from rtoslab.targets import (
    EVENT,
    KIND_EXEC,
    MemberPlace,
    VirtualMachine,
    current_task_addresses,
    find_address,
    find_word_address,
    load_image,
    make_machine,
    simulator_errors,
)

PAINT: Final = 0x5A
RUN_S: Final = 0.025
"""The virtual time of a run: some ticks, so that interrupts are seen on the stacks, at whatever depth they hit."""
_MAIN_STACK_BYTES: Final = 2048
_CURRENT, _TOP = 1, 2
_NAME_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class StackPeak:
    """`used_bytes` of `size_bytes`, the interrupted context included."""

    task: str
    used_bytes: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class StackRun:
    """The observations of a run of the image."""

    stacks: tuple[StackPeak, ...]
    """The tasks that ran, by name, and `(main stack)`: start-up and interrupt handlers."""
    pool_used_bytes: int | None
    """Peak of what the kernel took from its heap, or its port from the array that stands for one. None: not seen."""
    pool_bytes: int
    """That heap's or array's size: part of bss, and chosen, not needed. 0 if it is not to be seen."""
    pool_unseen: str = ""
    """Why it is not."""
    has_pool: bool = True
    """False where the image has no such heap or array at all: then data and bss are all of its memory."""


@dataclass(frozen=True, slots=True)
class _Stack:
    task: str
    base: int
    end: int


def see(catalogue: Catalogue, weighed: BuiltProgram) -> StackRun:
    """Runs the image for RUN_S. Raises RunError if it locks up."""
    run = _Run(catalogue, weighed)
    run.start()
    run.finish()
    return run.look()


class _Run:
    def __init__(self, catalogue: Catalogue, weighed: BuiltProgram) -> None:
        self.weighed = weighed
        self.board = catalogue.board(weighed.point.board).facts
        self.kernel = catalogue.kernel(weighed.point.kernel).facts
        self.stacks: dict[int, _Stack] = {}
        """Keyed by the address of the control block. 0: the main stack."""
        self.tops: list[int] = []
        self.machine = make_machine(self.board, cores=weighed.point.cores)
        load_image(self.machine, weighed.build.elf.read_bytes(), weighed.build.elf.name)

    def start(self) -> None:
        """Runs to main(), where memory is cleared and the main stack is still unused.

        A kernel with a start-up of its own has no such stack: there main() runs on a task's."""
        self.machine.until(find_address(self.machine, "main"))
        self._run(self._cycles())
        if self.kernel.owns_start:
            return
        top = self.weighed.footprint.constants["__main_stack_top"]
        size = self.weighed.footprint.constants.get("__main_stack_bytes", _MAIN_STACK_BYTES)
        self._paint(0, _Stack("(main stack)", top - size, top), self.machine.registers(0)["sp"])

    def finish(self) -> None:
        """The rest of the time, with a stop at each new task."""
        block = self.kernel.memory.task_block if self.kernel.memory else None
        words = current_task_addresses(self.machine, self.kernel, self.weighed.point.cores).values() if block else ()
        no_task = self.kernel.probes.no_task if self.kernel.probes else frozenset()
        for word in words:
            self.machine.watch_write(word, _CURRENT, True)
        if block and block.top_call:
            self.machine.watch_exec(find_address(self.machine, block.top_call), _TOP)
        members = members_of(self.weighed.build.elf, block.type) if block else {}
        end = self.machine.cycle() + self._cycles()
        while (left := end - self.machine.cycle()) > 0:
            stopped = self._run(left)
            events = np.frombuffer(self.machine.take_events(), dtype=EVENT)
            self.tops += [int(event["value"]) for event in events if event["kind"] == KIND_EXEC and event["id"] == _TOP]
            for address in (_word(self.machine, word) for word in words if stopped == "watch"):
                if address and address not in {*self.stacks, *no_task} and block:
                    first = _word(self.machine, address + members[block.stack_pointer].offset)
                    self._paint(address, self._stack(address, block, members), first)

    def _stack(self, address: int, block: TaskBlock, members: dict[str, MemberPlace]) -> _Stack:
        base = _word(self.machine, address + members[block.stack].offset)
        if block.bytes:
            end = base + _word(self.machine, address + members[block.bytes].offset)
        elif block.words:
            end = base + 4 * _word(self.machine, address + members[block.words].offset)
        else:
            end = min(top for top in self.tops if top > base) + block.top_offset_bytes
        name = members[block.name]
        where = address + name.offset if name.is_array else _word(self.machine, address + name.offset)
        read = self.machine.read(where, _NAME_BYTES) if where else b""
        text = read.partition(b"\0")[0].decode("ascii", errors="replace")
        return _Stack(text or f"task {address:#x}", base, end)

    def _paint(self, block: int, stack: _Stack, until: int) -> None:
        self.machine.write(stack.base, bytes([PAINT]) * (until - stack.base))
        self.stacks[block] = stack

    def look(self) -> StackRun:
        """How far the paint is gone, and what is left of the pool."""
        peaks = [StackPeak(stack.task, self._used(stack), stack.end - stack.base) for stack in self.stacks.values()]
        return StackRun(tuple(sorted(peaks, key=lambda peak: peak.task)), *self._pool())

    def _used(self, stack: _Stack) -> int:
        painted = self.machine.read(stack.base, stack.end - stack.base)
        return len(painted.lstrip(bytes([PAINT])))

    def _pool(self) -> tuple[int | None, int, str, bool]:
        facts = self.kernel.memory
        if facts is None:
            return None, 0, "its kernel.toml does not say where the kernel takes memory from", True
        if not (facts.pool_free_symbol or facts.pool_used_symbol):
            return None, 0, f"no word of the image tells how much of {facts.pool_symbol} is taken", True
        size = next((size for _, size, name in self.machine.symbols() if name == facts.pool_symbol), 0)
        if not size:
            return None, 0, f"the image has no {facts.pool_symbol}, which pool_symbol in its kernel.toml names", False
        if facts.pool_free_symbol:
            return size - _word(self.machine, find_word_address(self.machine, facts.pool_free_symbol)), size, "", True
        return _word(self.machine, find_word_address(self.machine, facts.pool_used_symbol or "")), size, "", True

    def _cycles(self) -> int:
        return int(RUN_S * (self.weighed.point.clock_hz or self.board.clock.sys_hz))

    def _run(self, cycles: int) -> str:
        with simulator_errors(RunError):
            stop = self.machine.run(cycles)
        if stop["reason"] not in {"cycles", "until", "watch"}:
            raise RunError(f"{self.weighed.point.label} stopped ({stop['reason']}): {stop['detail']}")
        return stop["reason"]


def _word(machine: VirtualMachine, address: int) -> int:
    return int.from_bytes(machine.read(address, 4), "little")
