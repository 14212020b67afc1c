"""Records a run's steps by probes on every function in which a service may end, and after each of its calls.

The warm-up, which runs the same code on the same objects as the window, shows where callers continue."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from rtoslab.base import RunError, without_thumb_bit
from rtoslab.catalogue import Argument, Kernel
from rtoslab.intake import ElfFile
from rtoslab.targets.board import convert_simulator_errors
from rtoslab.targets.call_arguments import CallArgumentCounter, NumericCallArguments
from rtoslab.targets.event_kinds import (
    IDENT_BEHIND,
    IDENT_CURRENT,
    IDENT_FILL,
    IDENT_FURTHER,
    IDENT_MARK,
    IDENT_SECOND,
    IDENT_STACKED,
    IDENT_SYMBOL,
    KIND_EXCEPTION_ENTER,
    KIND_EXEC,
    KIND_WRITE,
)
from rtoslab.targets.events import EVENT, sorted_distinct_values
from rtoslab.targets.held_blocks import count_allocated_blocks
from rtoslab.targets.kernel_code import make_kernel_address_predicate
from rtoslab.targets.machine import VirtualBoardMachine
from rtoslab.targets.observe import MeasurementWindowObservations
from rtoslab.targets.profiles import APPLICATION, LIBRARY, function_category
from rtoslab.targets.step_reader import decode_benchmark_steps_from_events, find_return_addresses
from rtoslab.targets.steps import ProbeTargetsByNumber
from rtoslab.targets.structures import KernelStructures

_WORD = 4
_HALF = np.uint64(32)
_PORT = "port_"
_MOST_BLOCKS = 16
_RARE = 20
_WHOLE = np.dtype((np.void, EVENT.itemsize))
"""An event as numpy copies it in one piece."""
_AT_ONCE = 8192
"""Events that are filtered together. A chunk of the window has many more than become steps."""
_BRACKETS = ("isr_enter", "isr_exit")
_TAKING = ("malloc", "pool_take")
_GIVING = ("free", "pool_give")
_TIMER_START = "timer_start"
_TIMER_STOP = "timer_stop"
_NOT_CALLED = ("tick", *_BRACKETS)
"""Services that no benchmark calls."""


def _functions_of_kernel_port(image: bytes) -> frozenset[str]:
    """Returns the functions of the kernel's port (port.c) in an image, which count as the kernel's. Functions of port.h
    count as the benchmark's, even if they are not inlined (-O0)."""
    try:
        symbols = list(ElfFile(image).symbols())
    except ValueError:
        return frozenset()
    return frozenset(symbol.name for symbol in symbols if symbol.name.startswith(_PORT) and not symbol.is_local)


def _has_numeric_argument(arguments: Iterable[Sequence[Argument]]) -> bool:
    """Whether a number is among the arguments."""
    return any(isinstance(word, int) for words in arguments for word in words)


class StepRecorder:
    """Records the steps (calls, switches, marks) of a benchmark: sets probes on the kernel's functions, and stores the
    window's first events."""

    def __init__(
        self, machine: VirtualBoardMachine, image: bytes, kernel: Kernel, cores: int, pin: int, most_events: int
    ) -> None:
        """`image`: the ELF file. `pin`: the number of the measurement pin. `most_events`: how many events of the window
        are stored."""
        self._machine = machine
        self._image = image
        self._kernel = kernel
        self._cores = cores
        self._pin = pin
        self._most_events = most_events
        self._functions: dict[str, int] = {}
        self._raw = bytearray()
        self._current: dict[int, int] = {}
        self._meanings = ProbeTargetsByNumber((), (), (), (), lambda _: False)
        self._at_open = MeasurementWindowObservations()
        self._ports = _functions_of_kernel_port(image)
        self.call_arguments = CallArgumentCounter()

    def set_kernel_function_probes(self) -> None:
        """Sets a probe on each kernel function that a service may call, before the image runs. The function that
        switches tasks gets none."""
        switch = self._kernel.probes.switch_symbol if self._kernel.probes else None
        names = {name for service, item in self._kernel.symbols.items() if service not in _NOT_CALLED for name in item}
        for name in sorted((names | self._kernel.completes.keys()) - {switch}):
            address = self._machine.symbol(name)
            if address is not None:
                self._machine.watch_call(
                    without_thumb_bit(address),
                    IDENT_SYMBOL + len(self._functions),
                    self._kernel.is_third_argument_recorded(name),
                )
                stated = self._find_numeric_call_arguments(name)
                self.call_arguments.add_function_with_stated_arguments(stated)
                if stated.has_further_call_arguments:
                    self._machine.watch_further_arguments(
                        without_thumb_bit(address), IDENT_FURTHER + len(self._functions)
                    )
                if stated.has_argument_on_stack:
                    self._machine.watch_stacked_arguments(
                        without_thumb_bit(address), IDENT_STACKED + len(self._functions)
                    )
                if stated.has_second_event:
                    self._machine.watch_call(without_thumb_bit(address), IDENT_SECOND + len(self._functions), False)
                self._functions[name] = without_thumb_bit(address)

    def _find_numeric_call_arguments(self, function: str) -> NumericCallArguments:
        """Returns which arguments of a kernel function kernel.toml states as numbers."""
        services = [service for service, names in self._kernel.symbols.items() if function in names]
        seconds = [self._kernel.arguments.get(service, ())[1:2] for service in services]
        further = [self._kernel.further_arguments.get(service, ()) for service in services]
        second = _has_numeric_argument(seconds)
        third, fourth, fifth, sixth = (
            _has_numeric_argument([words[at : at + 1] for words in further]) for at in range(4)
        )
        has_second_event = second and self._kernel.is_third_argument_recorded(function)
        return NumericCallArguments(second, third, fourth, fifth, sixth, has_second_event)

    def begin_measurement_window_recording(self, before: bytes, current: Mapping[int, int]) -> None:
        """Starts the recording as the measurement window opens. `before` are the events so far, and `current` is the
        running task of each core."""
        self.call_arguments.reset_call_counts()
        names, addresses = tuple(self._functions), tuple(self._functions.values())
        own = make_kernel_address_predicate(self._machine.symbols(), self._is_kernel_function)
        learned = ProbeTargetsByNumber(names, addresses, (), (), own)
        behind = tuple(find_return_addresses(before, learned))
        for index, address in enumerate(behind):
            with convert_simulator_errors(RunError):
                self._machine.watch_return(address, IDENT_BEHIND + index)
        blocks = self._find_reused_heap_blocks(before, own)
        for index, (block, size) in enumerate(blocks):
            with convert_simulator_errors(RunError):
                self._machine.watch_write((block + size - _WORD) & ~3, IDENT_FILL + index)
        brackets = frozenset(name for bracket in _BRACKETS for name in self._kernel.symbols.get(bracket, ()))
        completes = {name: frozenset(begun) for name, begun in self._kernel.completes.items()}
        in_thread = self._kernel.behaviour.switch_mode == "thread"
        self._meanings = ProbeTargetsByNumber(
            names, addresses, behind, blocks, own, self._pin, brackets, completes, in_thread
        )
        self._current = dict(current)
        structures = KernelStructures(self._image, self._kernel)
        blocks_of_tasks = self._tasks_run_so_far(before) | set(current.values())
        self._at_open.priorities = structures.read_priorities(self.read_word, blocks_of_tasks)
        self._at_open.numbers = structures.read_task_ids_by_control_block(self.read_word, blocks_of_tasks)
        self._at_open.objects_at_open = structures.read_kernel_object_members(
            self.read_word, self._first_arguments_by_kernel_function(before)
        )
        self._at_open.heap_blocks = self._count_allocated_heap_blocks(before)
        self._at_open.timers_started = self._find_started_timers(before)

    def _find_started_timers(self, before: bytes) -> frozenset[int]:
        """Returns the timers that the benchmark has started and not stopped, by the events so far."""
        events = np.frombuffer(before, dtype=EVENT)
        calls = events[(events["kind"] == KIND_EXEC) & (events["id"] >= IDENT_SYMBOL) & (events["id"] < IDENT_BEHIND)]
        calls = calls[self._is_outside_kernel(calls["pc"])]
        starts, stops = (
            self._mask_of_calls_with_service_arguments(calls, service) for service in (_TIMER_START, _TIMER_STOP)
        )
        started: set[int] = set()
        for start, stop, first, second in zip(starts, stops, calls["value"], calls["zero"], strict=True):
            if start:
                started.add(int((first, second)[self._kernel.index_of_service_call_argument(_TIMER_START, "object")]))
            elif stop:
                started.discard(
                    int((first, second)[self._kernel.index_of_service_call_argument(_TIMER_STOP, "object")])
                )
        return frozenset(started)

    def _count_allocated_heap_blocks(self, before: bytes) -> int:
        """Returns the number of heap blocks that the benchmark holds, by the events so far."""
        events = np.frombuffer(before, dtype=EVENT)
        calls = events[(events["kind"] == KIND_EXEC) & (events["id"] >= IDENT_SYMBOL) & (events["id"] < IDENT_BEHIND)]
        calls = calls[self._is_outside_kernel(calls["pc"])]
        taking, giving = (calls[self._mask_of_kernel_service_calls(calls, services)] for services in (_TAKING, _GIVING))
        return count_allocated_blocks(taking, giving, events[events["kind"] == KIND_EXCEPTION_ENTER])

    def _mask_of_kernel_service_calls(self, events: NDArray[np.void], services: tuple[str, ...]) -> NDArray[np.bool_]:
        """Returns a mask of the events that are calls of these kernel services."""
        names = {name for service in services for name in self._kernel.symbols.get(service, ())}
        idents = [IDENT_SYMBOL + index for index, name in enumerate(self._functions) if name in names]
        return np.asarray(np.isin(events["id"], idents), dtype=np.bool_)

    def _mask_of_calls_with_service_arguments(self, events: NDArray[np.void], service: str) -> NDArray[np.bool_]:
        """Returns a mask of the events that are calls of a kernel service, with the numbers that kernel.toml states as
        its arguments: some functions do different things by them."""
        mask = self._mask_of_kernel_service_calls(events, (service,))
        for column, word in zip(("value", "zero"), self._kernel.arguments_of_observed_call(service), strict=False):
            if isinstance(word, int):
                mask = mask & (events[column] == word)
        return mask

    def _is_kernel_function(self, name: str) -> bool:
        """Whether a function belongs to the kernel or its port."""
        return name in self._ports or function_category(name, self._kernel) not in {APPLICATION, LIBRARY}

    def add_events(self, raw: bytes) -> None:
        """Stores the events of the next chunk that make steps of the benchmark, up to the limit."""
        events = np.frombuffer(raw, dtype=EVENT)
        most = self._most_events * EVENT.itemsize
        for first in range(0, len(events), _AT_ONCE):
            left = most - len(self._raw)
            if left <= 0:
                return
            some = events[first : first + _AT_ONCE]
            self._raw += some.view(_WHOLE)[self._benchmark_step_event_mask(some)].tobytes()[:left]

    def _benchmark_step_event_mask(self, events: NDArray[np.void]) -> NDArray[np.bool_]:
        """Returns a mask of the events that make steps of the benchmark. Calls that the kernel makes of its own
        functions are not among them."""
        ident, kind = events["id"], events["kind"]
        known = (kind == KIND_EXEC) & (ident >= IDENT_MARK)
        is_call = known & (ident >= IDENT_SYMBOL) & (ident < IDENT_BEHIND)
        known[is_call] = self._is_outside_kernel(events["pc"][is_call])
        task = (kind == KIND_WRITE) & (ident >= IDENT_CURRENT) & (ident < IDENT_CURRENT + self._cores)
        fill = (kind == KIND_WRITE) & (ident >= IDENT_FILL) & (ident < IDENT_FILL + _MOST_BLOCKS)
        fill[fill] = self._is_outside_kernel(events["pc"][fill])  # a heap may keep its lists where blocks were
        return np.asarray(known | task | fill | (kind > KIND_WRITE), dtype=np.bool_)

    def _is_outside_kernel(self, pcs: NDArray[np.void]) -> NDArray[np.bool_]:
        """Returns a mask of the addresses that are outside the kernel's functions."""
        places, which = np.unique(pcs, return_inverse=True)
        outside = np.array(
            [not self._meanings.is_in_kernel(without_thumb_bit(int(place))) for place in places], dtype=np.bool_
        )
        return np.asarray(outside[which], dtype=np.bool_)

    def store_recorded_benchmark_steps(self, observed: MeasurementWindowObservations) -> None:
        """Writes the recorded steps, and the kernel's objects as the window opened, to `observed`."""
        observed.steps = decode_benchmark_steps_from_events(bytes(self._raw), self._meanings, self._current)
        observed.steps_cut = len(self._raw) >= self._most_events * EVENT.itemsize
        observed.priorities = self._at_open.priorities
        observed.numbers = self._at_open.numbers
        observed.objects_at_open = self._at_open.objects_at_open
        observed.heap_blocks = self._at_open.heap_blocks
        observed.timers_started = self._at_open.timers_started
        observed.call_arguments = self.call_arguments.count_calls_from_outside(
            self._functions, self._meanings.is_in_kernel, self.read_word
        )

    def _tasks_run_so_far(self, before: bytes) -> set[int]:
        """Returns the control blocks of the tasks that have run so far. `before` are the packed events."""
        events = np.frombuffer(before, dtype=EVENT)
        writes = (events["kind"] == KIND_WRITE) & (events["id"] >= IDENT_CURRENT)
        mine = writes & (events["id"] < IDENT_CURRENT + self._cores)
        return {int(block) for block in sorted_distinct_values(events["value"][mine])}

    def _first_arguments_by_kernel_function(self, before: bytes) -> dict[str, set[int]]:
        """Returns the first arguments of each kernel function's calls so far, by function. `before` are the packed
        events."""
        events = np.frombuffer(before, dtype=EVENT)
        calls = (events["kind"] == KIND_EXEC) & (events["id"] >= IDENT_SYMBOL) & (events["id"] < IDENT_BEHIND)
        names = tuple(self._functions)
        addresses: dict[str, set[int]] = defaultdict(set)
        for both in sorted_distinct_values(
            events["id"][calls].astype(np.uint64) << _HALF | events["value"][calls]
        ).tolist():
            addresses[names[(both >> 32) - IDENT_SYMBOL]].add(both & 0xFFFF_FFFF)
        return addresses

    def _find_reused_heap_blocks(
        self, before: bytes, is_in_kernel: Callable[[int], bool]
    ) -> tuple[tuple[int, int], ...]:
        """Returns address and size of the heap blocks used so far. Empty unless each block was freed before the next
        was taken."""
        names = tuple(self._functions)
        taking, giving = (frozenset(self._kernel.symbols.get(service, ())) for service in ("malloc", "free"))
        idents = [IDENT_SYMBOL + index for index, name in enumerate(names) if name in taking | giving]
        if not idents:
            return ()
        events = np.frombuffer(before, dtype=EVENT)
        events = events[(events["kind"] == KIND_EXEC) & np.isin(events["id"], idents)]
        blocks: set[tuple[int, int]] = set()
        calls = nested = 0  # one that an interrupt hits is seen twice
        sizes: dict[int, int] = {}
        bytes_at = self._kernel.index_of_service_call_argument("malloc", "bytes")
        for ident, value, pc, core, more in events[["id", "value", "pc", "core", "zero"]].tolist():
            name = names[ident - IDENT_SYMBOL]
            if name in taking and not is_in_kernel(without_thumb_bit(pc)):
                calls += 1
                nested += core in sizes
                sizes[core] = (value, more)[bytes_at]
            elif name in giving and not is_in_kernel(without_thumb_bit(pc)):
                size = sizes.pop(core, 0)
                if size >= _WORD:
                    blocks.add((value, size))
        return tuple(sorted(blocks)) if len(blocks) <= _MOST_BLOCKS and nested * _RARE <= calls else ()

    def read_word(self, address: int) -> int | None:
        """Returns a word of the board's memory. None where there is no memory."""
        try:
            with convert_simulator_errors(RunError):
                return int.from_bytes(self._machine.read(address, 4), "little")
        except RunError:
            return None
