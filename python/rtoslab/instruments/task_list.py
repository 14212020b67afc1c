"""The tasks of a board that stands still, as a debugger shows them: name, state, core, registers.

They are read from the kernel's own lists, by `tasks.toml` in the kernel's folder and the image's debug information.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rtoslab.base import RtoslabError, RunError
from rtoslab.catalogue import Catalogue, CircularTaskLists, Kernel, KernelTasks, TaskChain, TaskTable
from rtoslab.instruments.image_kernel import find_image_kernel
from rtoslab.instruments.saved_registers import SuspendedTaskStack, registers_from_saved_frame
from rtoslab.intake import read_program_image
from rtoslab.targets import (
    StructureMemberLayout,
    SymbolIndex,
    TaskRow,
    VirtualBoardMachine,
    convert_simulator_errors,
    current_task_addresses,
    find_structure_members,
    read_structure_member_text,
)

if TYPE_CHECKING:
    from rtoslab._sim import Snapshot

_TASKS_MOST: Final = 256
"""The most tasks in a list. A longer list is not yet set up, or damaged."""
_POINTER_BYTES: Final = 4
_LOW_BYTE: Final = 0xFFFF_FF00


@dataclass(frozen=True, slots=True)
class _KernelStructure:
    """The members of a C structure of the kernel, with their places."""

    members: Mapping[str, StructureMemberLayout]

    def member_offset(self, member: str) -> int | None:
        """Returns the offset in bytes of a member of the C structure. None if there is no such member."""
        place = self.members.get(member)
        return None if place is None else place.offset

    @property
    def size_bytes(self) -> int:
        """Returns the size of the C structure in bytes, as far as its known members reach."""
        return max((place.offset + place.bytes for place in self.members.values()), default=0)


class KernelTaskLister:
    """Lists the tasks of an image's kernel for a debugger, from the kernel's own lists in memory."""

    def __init__(self, catalogue: Catalogue, image: Path, cpu: str, cores: int) -> None:
        """`cpu`: the board's architecture, as in board.toml."""
        self._cores = cores
        self._is_v6m = cpu.startswith("armv6")
        self._kernel: Kernel | None = find_image_kernel(catalogue, image, cpu)
        self._tasks = KernelTasks() if self._kernel is None else catalogue.find_kernel_tasks(self._kernel.id)
        block = self._kernel.memory.task_block if self._kernel is not None and self._kernel.memory else None
        self._block = block
        names = [block.type] if block is not None else []
        names += [name for ring in self._tasks.rings for name in (ring.head, ring.node)]
        names += [place.partition(":")[2].partition(".")[0] for chain in self._tasks.chains for place in chain.first]
        content = read_program_image(image) if self._kernel is not None else b""
        self._structures = find_structure_members(content, [name for name in names if name]) if content else {}

    @property
    def kernel_name(self) -> str | None:
        """Returns the title of the image's kernel. None if the image contains no known kernel."""
        return None if self._kernel is None else self._kernel.title

    def list_tasks_at_snapshot(self, snapshot: "Snapshot") -> list[TaskRow]:
        """Returns the tasks of a board at the moment of a snapshot. Empty before the kernel has any, and for an unknown
        kernel."""
        if self._kernel is None or self._block is None:
            return []
        return _TaskReader(
            snapshot.open(), self._kernel, self._tasks, self._structures, self._cores, self._is_v6m
        ).task_rows()


class _TaskReader:
    """Reads the tasks of a kernel from the memory of one halted board."""

    def __init__(
        self,
        machine: VirtualBoardMachine,
        kernel: Kernel,
        tasks: KernelTasks,
        structures: Mapping[str, Mapping[str, StructureMemberLayout]],
        cores: int,
        is_v6m: bool,
    ) -> None:
        assert kernel.memory is not None
        assert kernel.memory.task_block is not None
        self._machine = machine
        self._kernel = kernel
        self._tasks = tasks
        self._facts = kernel.memory.task_block
        self._structures = {name: _KernelStructure(members) for name, members in structures.items()}
        self._block = self._structures.get(self._facts.type, _KernelStructure({}))
        self._cores = cores
        self._frames = tasks.frames_v6m or tasks.frames if is_v6m else tasks.frames
        self._sizes = {name: (address, size) for address, size, name in machine.symbols()}
        self._code = SymbolIndex(machine.symbols())

    def task_rows(self) -> list[TaskRow]:
        """Returns a row for each task, for the debugger, running tasks first."""
        running = self._running_tasks()
        states = dict.fromkeys(running, "running")
        for block, state in self._tasks_in_lists():
            states.setdefault(block, state)
            if len(states) > _TASKS_MOST:
                return []
        return [
            (
                block,
                self._describe_task(block, state),
                running.get(block),
                [] if block in running else self._registers_of_task(block),
            )
            for block, state in states.items()
        ]

    def _running_tasks(self) -> dict[int, int]:
        """Returns the core of each running task, by the task's control block."""
        words: dict[int, int] = {}
        with suppress(RtoslabError):
            smp = self._cores > 1 and self._kernel.probes is not None and self._kernel.probes.current_task_smp
            words = current_task_addresses(self._machine, self._kernel, self._cores if smp else 1)
        if not words:
            with suppress(RtoslabError):
                words = current_task_addresses(self._machine, self._kernel, 1)
        none = self._kernel.probes.values_that_mean_no_task if self._kernel.probes is not None else frozenset()
        running: dict[int, int] = {}
        for core, address in words.items():
            block = self._read_word(address)
            if block and block not in none and self._read_word(block) is not None:
                running.setdefault(block, core)
        return running

    def _tasks_in_lists(self) -> Iterator[tuple[int, str]]:
        """Yields the control block of each task in the kernel's lists, with its state, such as `ready`."""
        for ring in self._tasks.rings:
            for head, state in ring.heads.items():
                for address in self._kernel_list_head_addresses(
                    head, self._structures.get(ring.head, _KernelStructure({})).size_bytes
                ):
                    yield from ((block, state) for block in self._tasks_in_circular_list(ring, address))
        for chain in self._tasks.chains:
            for first, state in chain.first.items():
                yield from ((block, state) for block in self._tasks_in_linked_list(chain, first))
        for table in self._tasks.tables:
            yield from ((block, "") for block in self._tasks_in_table(table))

    def _kernel_list_head_addresses(self, name: str, size: int) -> Iterator[int]:
        """Yields the addresses of the list heads in a variable, which may be an array of heads of `size` bytes.
        `name[0]` is only the first."""
        name, only, _ = name.partition("[0]")
        address, held = self._sizes.get(name, (0, 0))
        if address and size:
            count = 1 if only else max(1, held // size)
            yield from (address + size * place for place in range(min(count, _TASKS_MOST)))

    def _tasks_in_circular_list(self, ring: CircularTaskLists, head: int) -> Iterator[int]:
        """Yields the control blocks of the tasks in the circular list with this head."""
        first = self._member_offset(ring.head, ring.first)
        end = 0 if ring.end is None else self._member_offset(ring.head, ring.end, inside=True)
        following = self._member_offset(ring.node, ring.next)
        owner = self._member_offset(ring.node, ring.owner) if ring.owner else None
        inside = self._member_offset(self._facts.type, ring.inside, inside=True) if ring.inside else None
        if first is None or end is None or following is None or (owner is None and inside is None):
            return
        node, seen = self._read_word(head + first), 0
        while node and node != head + end and seen < _TASKS_MOST:
            block = self._read_word(node + owner) if owner is not None else node - (inside or 0)
            if not block:
                return
            yield block
            node, seen = self._read_word(node + following), seen + 1

    def _tasks_in_linked_list(self, chain: TaskChain, first: str) -> Iterator[int]:
        """Yields the control blocks of the tasks in a list that links the control blocks themselves. `first` names the
        variable."""
        following = self._block.member_offset(chain.next)
        symbol, _, member = first.partition(":")
        structure, _, name = member.partition(".")
        offset = self._member_offset(structure, name) if member else 0
        address = self._sizes.get(symbol, (0, 0))[0]
        if following is None or offset is None or not address:
            return
        block = begin = self._read_word(address + offset)
        for _ in range(_TASKS_MOST):
            if not block:
                return
            yield block
            block = self._read_word(block + following)
            if block == begin:
                return

    def _tasks_in_table(self, table: TaskTable) -> Iterator[int]:
        """Yields the control blocks of the tasks in an array of pointers."""
        base: int | None
        count: int | None
        base, size_bytes = self._sizes.get(table.table, (0, 0))
        count = size_bytes // _POINTER_BYTES
        if table.count is not None:
            base = self._read_word(base)
            count = self._read_word(self._sizes.get(table.count, (0, 0))[0])
        if base and count and count <= _TASKS_MOST:
            blocks = (self._read_word(base + _POINTER_BYTES * place) for place in range(count))
            yield from (block for block in blocks if block)

    def _member_offset(self, structure: str, member: str | None, *, inside: bool = False) -> int | None:
        """Returns the offset in bytes of a C structure's member. None if there is none. With `inside`, the member may
        be a structure, which begins where its first member does."""
        members = self._structures.get(structure, _KernelStructure({})).members
        if member is None:
            return None
        if member in members:
            return members[member].offset
        within = [place.offset for name, place in members.items() if inside and name.startswith(f"{member}.")]
        return min(within, default=None)

    def _describe_task(self, block: int, state: str) -> str:
        """Returns a text on the task with this control block for the debugger: name, state, priority."""
        name = self._task_name(block) or f"0x{block:08x}"
        urgency = self._member_value(block, self._facts.priority)
        parts = [state] if state else []
        if urgency is not None and self._facts.priority is not None:
            parts.append(f"priority {_signed_priority(urgency, self._block.members[self._facts.priority])}")
        return f"{name} [{', '.join(parts)}]" if parts else name

    def _task_name(self, block: int) -> str:
        """Returns the name of the task with this control block. Empty if it has none."""
        names = (*self._tasks.names, self._facts.name)
        name = next((member for member in names if member in self._block.members), "")
        return read_structure_member_text(self._block.members, name, block, self._read_bytes)

    def _read_bytes(self, address: int, count: int) -> bytes:
        """Returns bytes of the board's memory. Empty where there is none."""
        with suppress(RunError), convert_simulator_errors(RunError):
            return self._machine.read(address, count)
        return b""

    def _registers_of_task(self, block: int) -> list[tuple[str, int]]:
        """Returns name and value of the registers with which a task will continue. Empty if its saved frame is
        unknown."""
        pointer = self._member_value(block, self._tasks.frame_pointer or self._facts.stack_pointer)
        if not pointer:
            return []
        low = self._member_value(block, self._tasks.exc_return)
        task = SuspendedTaskStack(
            pointer, self._stack_addresses(block), None if low is None else _LOW_BYTE | low & 0xFF
        )
        registers = registers_from_saved_frame(task, self._frames, self._read_word, self._is_function_address)
        if registers:
            for register, member in self._tasks.in_block.items():
                value = self._member_value(block, member)
                if value is not None:
                    registers[register] = value
            # No task's own: the core has one. gdb wants it on its way through an exception's frame.
            registers["msp"] = self._machine.registers(0)["msp"]
        return list(registers.items())

    def _stack_addresses(self, block: int) -> range:
        """Returns the address range of the stack of the task with this control block. Empty if it is unknown."""
        begin = self._member_value(block, self._facts.stack)
        size = self._member_value(block, self._facts.bytes)
        words = self._member_value(block, self._facts.words)
        length = size if size is not None else 4 * (words or 0)
        return range(begin, begin + length) if begin and length else range(0)

    def _is_function_address(self, address: int) -> bool:
        """Whether an address is in a function of the image."""
        return self._code.find_symbol(address) is not None

    def _member_value(self, block: int, member: str | None) -> int | None:
        """Returns the value of a member of a task's control block. None if there is no such member."""
        place = self._block.members.get(member or "")
        return None if place is None else place.read_member(self._read_word, block)

    def _read_word(self, address: int) -> int | None:
        """Returns a 32-bit word of the board's memory. None where there is none."""
        if not address:
            return None
        with suppress(RunError), convert_simulator_errors(RunError):
            return int.from_bytes(self._machine.read(address, 4), "little")
        return None


def _signed_priority(urgency: int, place: StructureMemberLayout) -> int:
    """Returns a priority as a signed number: values in the upper half of the member's range are negative.

    The priorities of a kernel are in the upper half of the range only if they are negative.
    """
    return urgency - (1 << 8 * place.bytes) if urgency >> (8 * place.bytes - 1) else urgency
