"""Names for what a run gives as numbers: tasks, kernel objects, handlers, and the places of code with their callers."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from rtoslab.base import ImageFileError, SymbolError, without_thumb_bit
from rtoslab.diagnose.board_runs import FirmwareRunReplay, RecordedRunHistory
from rtoslab.diagnose.task_history import KernelCall, Task
from rtoslab.footprint import structure_member_offsets
from rtoslab.images import read_elf
from rtoslab.instruments import (
    DwarfCallerFinder,
    InlinedSourceLine,
    ObservedImage,
    find_source_lines,
    task_names_by_control_block,
)
from rtoslab.targets import (
    APPLICATION,
    FAULT_NAMES,
    FIRST_EXTERNAL,
    LIBRARY,
    NMI,
    PENDSV,
    SVCALL,
    SYSTICK,
    KernelStructures,
    SymbolIndex,
    function_category,
)

_FRAMES_SHOWN: Final = 3
_ASSEMBLER: Final = re.compile(r"\.[sS]:\d+$")
"""A line of the code that a kernel begins a task with. It is left out of call paths."""
_EXCEPTIONS: Final = {NMI: "NMI", **FAULT_NAMES, SVCALL: "SVCall", PENDSV: "PendSV", SYSTICK: "SysTick"}


@dataclass(frozen=True, slots=True)
class CallPathFunction:
    """A function on a call path."""

    function: str
    line: str
    """`file:line`. Empty where the image does not say."""
    is_kernel: bool
    is_interrupted: bool = False
    """An exception interrupted it. Else it called the function before it on the path."""

    def __str__(self) -> str:
        """Returns the function with its source line, for people."""
        return f"{self.function} ({self.line})" if self.line else self.function


class RunNameFinder:
    """Finds names for the numbers of one run: tasks, kernel objects, handlers, places in the code."""

    def __init__(self, subject: ObservedImage, run: RecordedRunHistory, replay: FirmwareRunReplay) -> None:
        self._subject = subject
        self._run = run
        self.replay = replay
        self._symbols = SymbolIndex(run.recording.symbols)
        self._frames = DwarfCallerFinder(subject.elf)
        self._structures, self.unseen = _make_kernel_structure_reader(subject)
        self._tasks = task_names_by_control_block(run.recording, [task for task in run.history.runs if task > 0])
        self._sources: dict[int, InlinedSourceLine] = {}
        self._words: dict[int, str] | None = None
        self._data = _image_variables_with_addresses(subject)
        entries = {task: self.function_name(entry) for task, entry in run.history.entries.items()}
        self._outermost = set(entries.values()) - {""}
        begun = Counter(name for task, name in entries.items() if not self.is_idle_task(task))
        self._trampolines = {name for name, count in begun.items() if count > 1}
        """Functions that several tasks begin with: mostly the kernel's."""

    def task_name(self, task: Task | None) -> str:
        """Returns the name of a task. If it has none, its control block's address as text. None is a handler."""
        if task is None:
            return "a handler"
        return self._tasks.get(task) or (f"thread {-task}" if task <= 0 else f"task {task:#x}")

    def handler_name(self, core: int, exception: int, entry: int | None = None) -> str:
        """Returns the name of the function that handles an exception, with the exception's name. `entry` is the
        function's address, if it is known."""
        name = _EXCEPTIONS.get(exception, f"interrupt {exception - FIRST_EXTERNAL}")
        if entry is None:
            table = self.replay.machine.registers(core)["vtor"]
            word = self.replay.read_word(table + 4 * exception)
            entry = None if word is None else without_thumb_bit(word)
        function = self.function_name(entry) if entry is not None else ""
        return f"{function} ({name})" if function else name

    def function_name(self, address: int) -> str:
        """Returns the name of the function that contains an address. Empty if there is none."""
        symbol = self._symbols.find_symbol(address)
        return "" if symbol is None else symbol[2]

    def kernel_object_name(self, address: int) -> str:
        """Returns the name of the variable that is a kernel object or points at it. If there is none, the object's
        address as text."""
        for start, size, name in self._data:
            if start <= address < start + size:
                return name if address == start else f"{name}+{address - start}"
        return self._pointer_variables().get(address) or f"{address:#010x}"

    def _pointer_variables(self) -> dict[int, str]:
        """Returns the names of the variables that may be pointers, by the address that they contain at the end of the
        run."""
        if self._words is None:
            machine = self._run.recording.machine
            self._words = {}
            for start, size, name in self._data:
                if size == 4 and start % 4 == 0:
                    value = int.from_bytes(machine.read(start, 4), "little")
                    self._words.setdefault(value, name)
        return self._words

    def call_path(self, core: int, cycle: int) -> list[CallPathFunction]:
        """Returns the functions that a core was in at a cycle, the innermost first, up to the task's first function."""
        machine = self.replay.go_to_cycle(cycle)
        path = self._frames.call_path(machine, core)
        places = find_source_lines(self._subject.elf, [address for address, _ in path if address not in self._sources])
        self._sources.update(places)
        frames: list[CallPathFunction] = []
        for address, is_interrupted in path:
            name = self.function_name(address) or f"{address:#010x}"
            line = self._sources[address].outer_line
            frame = CallPathFunction(name, line, self._is_kernel_function(name), is_interrupted)
            begins = name in self._trampolines or _ASSEMBLER.search(frame.line) is not None
            if begins and any(not inner.is_kernel for inner in frames):
                break
            frames.append(frame)
            if name in self._outermost:
                break  # beyond a task's first function is what the kernel put there
        return frames

    def source_line(self, address: int) -> str:
        """Returns the function and source line of the instruction at an address, as text."""
        source = find_source_lines(self._subject.elf, [address])[address]
        return str(
            CallPathFunction(self.function_name(address) or f"{address:#010x}", source.outer_line, is_kernel=False)
        )

    def _is_kernel_function(self, name: str) -> bool:
        """Whether a function belongs to the kernel."""
        kernel = self._subject.kernel
        return kernel is not None and function_category(name, kernel) not in {APPLICATION, LIBRARY}

    def application_call_path_text(self, frames: list[CallPathFunction]) -> str:
        """Returns a call path as text, from the application's innermost function outwards."""
        first = next((index for index, frame in enumerate(frames) if not frame.is_kernel), 0)
        shown = frames[first : first + _FRAMES_SHOWN]
        if not shown:
            return "an unknown place"
        outer = (f", {'which interrupted' if frame.is_interrupted else 'called from'} {frame}" for frame in shown[1:])
        return str(shown[0]) + "".join(outer)

    def application_call_site_text(self, call: KernelCall) -> str:
        """Returns the place of a kernel call in the application's code, as text. It is the handler for a handler's
        final tail call."""
        frames = self.call_path(call.core, call.start)
        if call.handler and all(frame.is_kernel for frame in frames):
            return self.handler_name(call.core, call.handler)
        return self.application_call_path_text(frames[1:] or frames)

    def interrupted_code_location_text(self, core: int, cycle: int) -> tuple[str, bool]:
        """Returns the place in the code where handlers interrupted a core's thread, as text, and whether it is
        application code."""
        frames = self.call_path(core, self._run.history.last_thread_mode_cycle(core, cycle))
        return self.application_call_path_text(frames), bool(frames) and not frames[0].is_kernel

    def task_priorities(self, tasks: Iterable[Task]) -> dict[Task, int]:
        """Returns the priorities of tasks at the present cycle of the replayed run. Greater numbers are more urgent."""
        kernel = self._subject.kernel
        blocks = [task for task in tasks if task > 0]
        if kernel is None or self._structures is None or not blocks:
            return {}
        numbers = self._structures.read_priorities(self.replay.read_word, blocks)
        return {task: -number if kernel.is_lowest_number_most_urgent else number for task, number in numbers.items()}

    def is_idle_task(self, task: Task) -> bool:
        """Whether a task is the kernel's idle task."""
        kernel = self._subject.kernel
        names = kernel.probes.idle_symbols if kernel and kernel.probes else ()
        return self.function_name(self._run.history.entries.get(task, 0)) in names


def _make_kernel_structure_reader(subject: ObservedImage) -> tuple[KernelStructures | None, list[str]]:
    """Returns the reader of the kernel's structures in the image, None if priorities cannot be read. In that case, a
    sentence says why."""
    kernel = subject.kernel
    if kernel is None:
        return None, []
    block = kernel.memory.task_block if kernel.memory else None
    if block is None or block.priority is None:
        return None, [
            (f"priority inversions: kernel.toml of {kernel.title} does not state where a task's priority is stored.")
        ]
    try:
        members = structure_member_offsets(subject.elf, block.type)
        structures = KernelStructures(subject.image, kernel)
    except SymbolError as cause:
        return None, [f"priority inversions: the priorities of tasks are not known. {cause}"]
    if block.priority not in members:
        return None, [f"priority inversions: the struct {block.type} of the image has no {block.priority}."]
    return structures, []


def _image_variables_with_addresses(subject: ObservedImage) -> list[tuple[int, int, str]]:
    """Returns the variables of the image: address, size in bytes and name."""
    try:
        image = read_elf(subject.elf)
    except ImageFileError:
        return []
    pool = subject.kernel.memory.pool_symbol if subject.kernel and subject.kernel.memory else ""
    return [
        (symbol.address, symbol.size, symbol.name)
        for symbol in image.symbols
        if not symbol.is_function and symbol.name != pool
    ]
