"""Peaks of stacks against their sizes: the image runs once more, with free stack painted before each task's first run.

The lowest bytes are not painted but remembered: kernels keep marks of their own there, and look at them. If the painted
run differs by an instruction from the others, the firmware reads its free stack: then nothing is painted, and the
contents before and after are compared.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from rtoslab.base import ImageFileError, RunError, SymbolError
from rtoslab.catalogue import TaskControlBlockMembers
from rtoslab.diagnose.board_runs import FirmwareRunReplay, QuickImageRunObservations
from rtoslab.diagnose.diagnosis_findings import DiagnosisFinding
from rtoslab.diagnose.diagnosis_limits import Limits
from rtoslab.diagnose.kernel_services import DELETE
from rtoslab.diagnose.task_history import TaskExecutionHistory
from rtoslab.footprint import structure_member_offsets
from rtoslab.images import read_elf
from rtoslab.instruments import ObservedImage
from rtoslab.targets import (
    StructureMemberLayout,
    convert_simulator_errors,
    find_symbol_address,
    read_structure_member_text,
)

_PAINT: Final = 0x5A
_MARKS_BYTES: Final = 64
"""At the lower end: not painted."""
_LARGEST_BYTES: Final = 256 * 1024
_MAIN_SIZES: Final = ("__main_stack_bytes", "_Min_Stack_Size", "__STACK_SIZE", "__stack_size__", "Stack_Size")
_MAIN_LIMITS: Final = ("__StackBottom", "__StackLimit", "__stack_limit", "_sstack")
"""What linker scripts call the size of the main stack, and its lower end."""
MAIN: Final = "(main stack)"


@dataclass(frozen=True, slots=True)
class StackUse:
    """The peak use of a stack in a run."""

    task: str
    used_bytes: int
    size_bytes: int
    cycle: int
    """When the task was first chosen to run."""

    @property
    def percent_used(self) -> float:
        """Returns the peak use of the stack in percent of its size."""
        return 100 * self.used_bytes / self.size_bytes


@dataclass(frozen=True, slots=True)
class _ObservedStack:
    """A stack that is observed, with its address range and its content at the start."""

    task: str
    base: int
    end: int
    cycle: int
    before: bytes
    """Its content before the task's first run, paint included."""


@dataclass(frozen=True, slots=True)
class StackUses:
    """The peak use of all stacks that could be measured, and sentences about those that could not."""

    stacks: tuple[StackUse, ...]
    unseen: tuple[str, ...]
    """Sentences about those that could not."""


def measure_stack_peaks(
    subject: ObservedImage, overview: QuickImageRunObservations, history: TaskExecutionHistory
) -> StackUses:
    """Returns the peak use of each stack, from one or two more runs of the image. Raises RunError."""
    ends = _first_task_deletion_cycles(history, overview)
    run = _FilledStackRun(subject, overview, ends, paints=True)
    if not run.is_same:
        run = _FilledStackRun(subject, overview, ends, paints=False)
    return StackUses(tuple(sorted(run.stack_peak_uses(), key=lambda use: -use.percent_used)), tuple(run.unseen))


def _first_task_deletion_cycles(history: TaskExecutionHistory, overview: QuickImageRunObservations) -> dict[int, int]:
    """Returns the cycle at which each deleted task was first deleted, by control block."""
    ends: dict[int, int] = {}
    for call in history.calls:
        task = call.object or call.task
        if (
            call.service.does_serve_any_kernel_service(DELETE)
            and task
            and call.start > overview.first_runs.get(task, call.start)
        ):
            ends.setdefault(task, call.start)
    return ends


def find_full_stacks(uses: StackUses, limits: Limits) -> Iterator[DiagnosisFinding]:
    """Yields a finding for each stack whose peak use exceeds the user's limit in percent."""
    for use in uses.stacks:
        if use.percent_used < limits.stack_percent:
            continue
        is_over = use.used_bytes >= use.size_bytes
        title = (
            f"The stack of {use.task} was used to the last of its {use.size_bytes:,} bytes and may have overflowed."
            if is_over
            else f"{use.used_bytes:,} of the {use.size_bytes:,} bytes of the stack of {use.task} were used."
        )
        yield DiagnosisFinding(
            kind="stack",
            level="error" if is_over else "warning",
            title=title,
            cycle=use.cycle,
            who=(use.task,),
            facts={"used_bytes": use.used_bytes, "size_bytes": use.size_bytes},
        )


class _FilledStackRun:
    """A run of the image in which the free part of each stack is filled with a pattern, to find the peak use."""

    def __init__(
        self, subject: ObservedImage, overview: QuickImageRunObservations, ends: Mapping[int, int], *, paints: bool
    ) -> None:
        self._subject = subject
        self._ends = ends
        self._over: dict[int, StackUse] = {}
        """Tasks that were deleted, by their control blocks."""
        self._overview = overview
        self._paints = paints
        self._replay = FirmwareRunReplay(subject)
        self._stacks: dict[int, _ObservedStack] = {}
        """By their control blocks. 0: the main stack."""
        self.unseen: list[str] = []
        self._observe_main_stack()
        self._observe_task_stacks_to_run_end()
        machine = self._replay.go_to_cycle(overview.end)
        counted = tuple(core["instructions"] for core in machine.stats()["cores"][: subject.cores])
        self.is_same = counted == overview.instructions

    def stack_peak_uses(self) -> list[StackUse]:
        """Returns the peak use of each observed stack."""
        return [*self._over.values(), *map(self._peak_use_of_stack, self._stacks.values())]

    def _peak_use_of_stack(self, stack: _ObservedStack) -> StackUse:
        """Returns the peak use of one stack: from its lowest changed byte to its end."""
        now = self._replay.machine.read(stack.base, stack.end - stack.base)
        first = next((at for at, (old, new) in enumerate(zip(stack.before, now, strict=True)) if old != new), None)
        used = 0 if first is None else stack.end - stack.base - first
        return StackUse(stack.task, used, stack.end - stack.base, stack.cycle)

    def _observe_main_stack(self) -> None:
        """Runs the image to `main` and starts to observe the main stack."""
        machine = self._replay.machine
        top = machine.registers(0)["sp"]
        if machine.symbol("main") is not None:
            machine.until(find_symbol_address(machine, "main"))
            with convert_simulator_errors(RunError):
                machine.run(max(1, self._overview.end))
            machine.take_events()
        pointer = machine.registers(0)["sp"]
        bottom = self._main_stack_bottom(top)
        if bottom is None:
            self.unseen.append(
                "main stack: the image does not state its size; define one of the symbols "
                f"{', '.join((*_MAIN_SIZES, *_MAIN_LIMITS))}."
            )
        elif bottom < pointer <= top:
            self._fill_free_stack_with_pattern(0, MAIN, bottom, top, pointer)

    def _main_stack_bottom(self, top: int) -> int | None:
        """Returns the lowest address of the main stack, from the linker's symbols. None if the image has none of them.
        `top` is the upper end."""
        try:
            constants = read_elf(self._subject.elf).constants
        except ImageFileError:
            return None
        limits = [constants[name] for name in _MAIN_LIMITS if name in constants]
        limits += [top - constants[name] for name in _MAIN_SIZES if name in constants]
        return next((limit for limit in limits if 0 < top - limit <= _LARGEST_BYTES), None)

    def _observe_task_stacks_to_run_end(self) -> None:
        """Runs the image to its end, and observes each task's stack from the task's first run to its deletion."""
        kernel = self._subject.kernel
        if kernel is None:
            return
        block = kernel.memory.task_block if kernel.memory else None
        if block is None:
            self.unseen.append(f"stacks of tasks: kernel.toml of {kernel.title} describes no control block.")
            return
        try:
            members = structure_member_offsets(self._subject.elf, block.type)
        except SymbolError as cause:
            self.unseen.append(f"stacks of tasks: {cause}")
            return
        begins = [(cycle, True, address) for address, cycle in self._overview.first_runs.items()]
        ends = [(cycle, False, address) for address, cycle in self._ends.items()]
        for cycle, begins_here, address in sorted([*begins, *ends]):
            self._replay.go_to_cycle(cycle)
            if begins_here:
                self._start_observing_stack(address, block, members)
            elif address in self._stacks:
                self._over[address] = self._peak_use_of_stack(self._stacks.pop(address))

    def _start_observing_stack(
        self, address: int, block: TaskControlBlockMembers, members: Mapping[str, StructureMemberLayout]
    ) -> None:
        """Starts to observe the stack of the task whose control block is at `address`. `members` are the places of the
        block's members."""
        name = self._task_name(address, block, members)
        base, pointer = (self._member_value(address, members, member) for member in (block.stack, block.stack_pointer))
        end = self._find_stack_end(address, base, block, members)
        if base is None or pointer is None or end is None or not 0 < end - base <= _LARGEST_BYTES:
            self.unseen.append(f"stack of {name}: the control block does not contain its size.")
        elif base < pointer <= end:
            self._fill_free_stack_with_pattern(address, name, base, end, pointer)
        else:
            self.unseen.append(f"stack of {name}: it ran before the kernel registered it.")

    def _find_stack_end(
        self,
        address: int,
        base: int | None,
        block: TaskControlBlockMembers,
        members: Mapping[str, StructureMemberLayout],
    ) -> int | None:
        """Returns the address after the end of a task's stack, whose lowest address is `base`. None if it is
        unknown."""
        if base is None:
            return None
        if block.bytes or block.words:
            size = self._member_value(address, members, block.bytes or block.words or "")
            return None if size is None else base + size * (1 if block.bytes else 4)
        tops = [top for top in self._overview.tops if top > base]
        return min(tops) + block.top_offset_bytes if tops else None

    def _member_value(self, address: int, members: Mapping[str, StructureMemberLayout], name: str) -> int | None:
        """Returns the value of a member of the control block at `address`. None if there is no such member."""
        return members[name].read_member(self._replay.read_word, address) if name in members else None

    def _task_name(
        self, address: int, block: TaskControlBlockMembers, members: Mapping[str, StructureMemberLayout]
    ) -> str:
        """Returns a task's name, or its address if it has none."""
        text = ""
        with suppress(SymbolError), convert_simulator_errors(SymbolError):
            text = read_structure_member_text(members, block.name, address, self._replay.machine.read)
        return text or f"task {address:#x}"

    def _fill_free_stack_with_pattern(self, block: int, task: str, base: int, end: int, pointer: int) -> None:
        """Fills the free part of a stack with a pattern and stores its content. `block` is the task's control block,
        `pointer` its stack pointer."""
        machine = self._replay.machine
        try:
            with convert_simulator_errors(SymbolError):
                low = base + _MARKS_BYTES
                if self._paints and low < pointer:
                    machine.write(low, bytes([_PAINT]) * (pointer - low))
                content = machine.read(base, end - base)
        except SymbolError:
            self.unseen.append(f"stack of {task}: it is not in the board's memory.")
            return
        self._stacks[block] = _ObservedStack(task, base, end, machine.cycle(), content)
