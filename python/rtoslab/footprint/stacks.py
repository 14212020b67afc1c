"""Observes on the virtual board how much of its stack each task used, and what the kernel took from its pool.

The image is not touched: the run stops when the kernel first names a task as the running one, before the task runs, and
the host paints what lies below its first context. Afterwards it looks how far the paint is gone. The kernel's own fill
would not do: it is in the registers of a fresh task too, and is pushed again. A peak of this run, no bound.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from rtoslab.base import RunError
from rtoslab.catalogue import Catalogue, TaskControlBlockMembers
from rtoslab.footprint.control_blocks import structure_member_offsets
from rtoslab.footprint.programs import BuiltFootprintProgram
from rtoslab.targets import (
    EVENT,
    KIND_EXEC,
    StructureMemberLayout,
    VirtualBoardMachine,
    convert_simulator_errors,
    current_task_addresses,
    find_memory_word_address,
    find_symbol_address,
    load_image_into_board,
    make_board_at_reset,
    read_structure_member_text,
)

PAINT: Final = 0x5A
RUN_S: Final = 0.025
"""The virtual time of a run: some ticks, so that interrupts are seen on the stacks, at whatever depth they hit."""
_MAIN_STACK_BYTES: Final = 2048
_CURRENT, _TOP = 1, 2


@dataclass(frozen=True, slots=True)
class StackPeakUse:
    """The greatest use of a stack in a run: `used_bytes` of `size_bytes`, with the interrupted context."""

    task: str
    used_bytes: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class ObservedStackRun:
    """The use of the tasks' stacks and of the kernel's memory pool in a run of an image."""

    stacks: tuple[StackPeakUse, ...]
    """The tasks that ran, by name, and `(main stack)`: start-up and interrupt handlers."""
    pool_used_bytes: int | None
    """Peak of what the kernel took from its heap, or its port from the array that stands for one. None: not seen."""
    pool_bytes: int
    """The size of that heap or array: part of bss, and chosen, not needed. 0 if it is not seen."""
    pool_unseen_reason: str = ""
    """Why the pool is not seen."""
    has_pool: bool = True
    """False where the image has no such heap or array at all: then data and bss are all of its memory."""


@dataclass(frozen=True, slots=True)
class _StackAddressRange:
    """The addresses of a task's stack."""

    task: str
    base: int
    end: int


def observe_stack_use(catalogue: Catalogue, program: BuiltFootprintProgram) -> ObservedStackRun:
    """Runs an image on the virtual board. Returns how much of each stack and of the kernel's memory pool it used.

    Raises RunError if it locks up.
    """
    run = _StackObserver(catalogue, program)
    run.run_to_main_and_fill_stack()
    run.run_and_fill_task_stacks()
    return run.read_stack_and_pool_use()


class _StackObserver:
    """Runs an image with its tasks' stacks filled with a pattern, and reads how much of the pattern is gone."""

    def __init__(self, catalogue: Catalogue, program: BuiltFootprintProgram) -> None:
        self.program = program
        self.board = catalogue.find_board(program.point.board).facts
        self.kernel = catalogue.find_kernel(program.point.kernel).facts
        self.stacks: dict[int, _StackAddressRange] = {}
        """Keyed by the address of the control block. 0: the main stack."""
        self.tops: list[int] = []
        self.machine = make_board_at_reset(self.board, cores=program.point.cores)
        load_image_into_board(self.machine, program.build.elf_path.read_bytes(), program.build.elf_path.name)

    def run_to_main_and_fill_stack(self) -> None:
        """Runs to main(), and fills the main stack, which is still unused, with the pattern.

        A kernel with a start-up of its own has no such stack: there main() runs on a task's.
        """
        self.machine.until(find_symbol_address(self.machine, "main"))
        self._run_machine(self._image_run_duration_cycles())
        if self.kernel.owns_start:
            return
        top = self.program.footprint.constants["__main_stack_top"]
        size = self.program.footprint.constants.get("__main_stack_bytes", _MAIN_STACK_BYTES)
        self._fill_stack_with_pattern(
            0, _StackAddressRange("(main stack)", top - size, top), self.machine.registers(0)["sp"]
        )

    def run_and_fill_task_stacks(self) -> None:
        """Runs the image. Whenever the kernel first names a new task, this task's stack is filled with the pattern."""
        block = self.kernel.memory.task_block if self.kernel.memory else None
        words = current_task_addresses(self.machine, self.kernel, self.program.point.cores).values() if block else ()
        no_task = self.kernel.probes.values_that_mean_no_task if self.kernel.probes else frozenset()
        for word in words:
            self.machine.watch_write(word, _CURRENT, True)
        if block and block.top_call:
            self.machine.watch_exec(find_symbol_address(self.machine, block.top_call), _TOP)
        members = structure_member_offsets(self.program.build.elf_path, block.type) if block else {}
        end = self.machine.cycle() + self._image_run_duration_cycles()
        while (left := end - self.machine.cycle()) > 0:
            stopped = self._run_machine(left)
            events = np.frombuffer(self.machine.take_events(), dtype=EVENT)
            self.tops += [int(event["value"]) for event in events if event["kind"] == KIND_EXEC and event["id"] == _TOP]
            for address in (_read_word(self.machine, word) for word in words if stopped == "watch"):
                if address and address not in {*self.stacks, *no_task} and block:
                    self._fill_stack_of_new_task(address, block, members)

    def _fill_stack_of_new_task(
        self, address: int, block: TaskControlBlockMembers, members: dict[str, StructureMemberLayout]
    ) -> None:
        """Fills the unused part of a new task's stack.

        A kernel may make a task of the code that starts it. This task has no stack of its own yet, but uses the main
        stack, so nothing is filled.
        """
        stack = self._read_stack_range(address, block, members)
        if stack.base:
            self._fill_stack_with_pattern(
                address, stack, _read_word(self.machine, address + members[block.stack_pointer].offset)
            )

    def _read_stack_range(
        self, address: int, block: TaskControlBlockMembers, members: dict[str, StructureMemberLayout]
    ) -> _StackAddressRange:
        """Returns the addresses of a task's stack, as its control block at `address` has them."""
        base = _read_word(self.machine, address + members[block.stack].offset)
        if block.bytes:
            end = base + _read_word(self.machine, address + members[block.bytes].offset)
        elif block.words:
            end = base + 4 * _read_word(self.machine, address + members[block.words].offset)
        else:
            end = min(top for top in self.tops if top > base) + block.top_offset_bytes
        text = read_structure_member_text(members, block.name, address, self.machine.read)
        return _StackAddressRange(text or f"task {address:#x}", base, end)

    def _fill_stack_with_pattern(self, block: int, stack: _StackAddressRange, until: int) -> None:
        """Fills a stack with the pattern up to the address `until`. `block`: the address of the task's control
        block."""
        with convert_simulator_errors(RunError):
            self.machine.write(stack.base, bytes([PAINT]) * (until - stack.base))
        self.stacks[block] = stack

    def read_stack_and_pool_use(self) -> ObservedStackRun:
        """Returns how much of each stack was used (where the pattern is gone), and how much of the pool."""
        peaks = [
            StackPeakUse(stack.task, self._used_stack_bytes(stack), stack.end - stack.base)
            for stack in self.stacks.values()
        ]
        return ObservedStackRun(tuple(sorted(peaks, key=lambda peak: peak.task)), *self._read_kernel_memory_pool_use())

    def _used_stack_bytes(self, stack: _StackAddressRange) -> int:
        """Returns how many bytes of a stack were used. They begin where the pattern ends."""
        painted = self.machine.read(stack.base, stack.end - stack.base)
        return len(painted.lstrip(bytes([PAINT])))

    def _read_kernel_memory_pool_use(self) -> tuple[int | None, int, str, bool]:
        """Returns the used bytes and the size of the kernel's memory pool, why they could not be seen, and whether
        there is a pool."""
        facts = self.kernel.memory
        if facts is None:
            return None, 0, "its kernel.toml does not state where the kernel allocates memory", True
        if not (facts.pool_free_symbol or facts.pool_used_symbol):
            return None, 0, f"no variable of the image contains how much of {facts.pool_symbol} is used", True
        size = next((size for _, size, name in self.machine.symbols() if name == facts.pool_symbol), 0)
        if not size:
            return None, 0, f"the image has no {facts.pool_symbol}, which pool_symbol in its kernel.toml names", False
        if facts.pool_free_symbol:
            return (
                size - _read_word(self.machine, find_memory_word_address(self.machine, facts.pool_free_symbol)),
                size,
                "",
                True,
            )
        return (
            _read_word(self.machine, find_memory_word_address(self.machine, facts.pool_used_symbol or "")),
            size,
            "",
            True,
        )

    def _image_run_duration_cycles(self) -> int:
        """Returns for how many cycles the image runs."""
        return int(RUN_S * (self.program.point.clock_hz or self.board.clock.sys_hz))

    def _run_machine(self, cycles: int) -> str:
        """Runs at most this many cycles. Returns why the board stopped: `cycles`, `until` or `watch`. Raises RunError
        for other reasons."""
        with convert_simulator_errors(RunError):
            stop = self.machine.run(cycles)
        if stop["reason"] not in {"cycles", "until", "watch"}:
            raise RunError(f"{self.program.point.label} stopped ({stop['reason']}): {stop['detail']}")
        return stop["reason"]


def _read_word(machine: VirtualBoardMachine, address: int) -> int:
    """Returns the 32-bit word at an address of the board's memory."""
    return int.from_bytes(machine.read(address, 4), "little")
