"""The probes by which a run's steps are seen: on every function a service may end in, and after each of its calls.

The warm-up, which runs the same code on the same objects as the window, shows where callers continue."""

from collections import defaultdict
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from rtoslab.base import RunError, code_address
from rtoslab.catalogue import Kernel
from rtoslab.intake import Elf
from rtoslab.targets.board import simulator_errors
from rtoslab.targets.events import (
    EVENT,
    IDENT_BEHIND,
    IDENT_CURRENT,
    IDENT_FILL,
    IDENT_MARK,
    IDENT_SYMBOL,
    KIND_EXCEPTION_ENTER,
    KIND_EXEC,
    KIND_WRITE,
    distinct,
)
from rtoslab.targets.held_blocks import held_blocks
from rtoslab.targets.kernel_code import kernels_own
from rtoslab.targets.machine import VirtualMachine
from rtoslab.targets.observe import WindowObservations
from rtoslab.targets.profiles import APPLICATION, LIBRARY, kind_of
from rtoslab.targets.step_reader import find_steps, return_addresses
from rtoslab.targets.steps import Watching
from rtoslab.targets.structures import Structures

_WORD = 4
_HALF = np.uint64(32)
_PORT = "port_"
_MOST_BLOCKS = 16
_RARE = 20
_WHOLE = np.dtype((np.void, EVENT.itemsize))
"""An event as numpy copies it in one piece."""
_AT_ONCE = 8192
"""Events that are looked at together: a chunk of the window holds many more than steps are made of."""
_BRACKETS = ("isr_enter", "isr_exit")
_TAKING = ("malloc", "pool_take")
_GIVING = ("free", "pool_give")
_NOT_CALLED = ("tick", *_BRACKETS)
"""Services that no benchmark calls."""


def _port_functions(image: bytes) -> frozenset[str]:
    """Those of port.c, which are on the kernel's side. Those of port.h are the benchmark's, also where they are not
    inlined (-O0)."""
    try:
        symbols = list(Elf(image).symbols())
    except ValueError:
        return frozenset()
    return frozenset(symbol.name for symbol in symbols if symbol.name.startswith(_PORT) and not symbol.is_local)


class StepsWatch:
    """Sets the probes and keeps the first events of the window."""

    def __init__(
        self, machine: VirtualMachine, image: bytes, kernel: Kernel, cores: int, pin: int, most_events: int
    ) -> None:
        self._machine = machine
        self._image = image
        self._kernel = kernel
        self._cores = cores
        self._pin = pin
        self._most_events = most_events
        self._functions: dict[str, int] = {}
        self._raw = bytearray()
        self._current: dict[int, int] = {}
        self._watching = Watching((), (), (), (), lambda _: False)
        self._told = WindowObservations()
        self._ports = _port_functions(image)

    def attach(self) -> None:
        """Before the image runs: one probe a function. A yield that ends in the switch's own handler shows nothing."""
        switch = self._kernel.probes.switch_symbol if self._kernel.probes else None
        names = {name for service, item in self._kernel.symbols.items() if service not in _NOT_CALLED for name in item}
        for name in sorted((names | self._kernel.completes.keys()) - {switch}):
            address = self._machine.symbol(name)
            if address is not None:
                self._machine.watch_call(
                    code_address(address), IDENT_SYMBOL + len(self._functions), self._is_third_needed(name)
                )
                self._functions[name] = code_address(address)

    def _is_third_needed(self, function: str) -> bool:
        """Whether the third argument says more than the second, as that of an allocator which gives a code."""
        services = (service for service, names in self._kernel.symbols.items() if function in names)
        return any(len(self._kernel.arguments.get(item, ())) > 2 for item in services)

    def open(self, before: bytes, current: Mapping[int, int]) -> None:
        """Notes that the window opens. `before`: the events so far; `current`: core -> running task."""
        names, addresses = tuple(self._functions), tuple(self._functions.values())
        own = kernels_own(self._machine.symbols(), self._is_kernels)
        learned = Watching(names, addresses, (), (), own)
        behind = tuple(return_addresses(before, learned))
        for index, address in enumerate(behind):
            with simulator_errors(RunError):
                self._machine.watch_return(address, IDENT_BEHIND + index)
        blocks = self._blocks_filled(before, own)
        for index, (block, size) in enumerate(blocks):
            with simulator_errors(RunError):
                self._machine.watch_write((block + size - _WORD) & ~3, IDENT_FILL + index)
        brackets = frozenset(name for bracket in _BRACKETS for name in self._kernel.symbols.get(bracket, ()))
        completes = {name: frozenset(begun) for name, begun in self._kernel.completes.items()}
        self._watching = Watching(names, addresses, behind, blocks, own, self._pin, brackets, completes)
        self._current = dict(current)
        structures = Structures(self._image, self._kernel)
        blocks_of_tasks = self._blocks(before) | set(current.values())
        self._told.priorities = structures.priorities(self.word, blocks_of_tasks)
        self._told.numbers = structures.numbers(self.word, blocks_of_tasks)
        self._told.objects_at_open = structures.objects(self.word, self._called_addresses(before))
        self._told.heap_blocks = self._blocks_held(before)

    def _blocks_held(self, before: bytes) -> int:
        events = np.frombuffer(before, dtype=EVENT)
        calls = events[(events["kind"] == KIND_EXEC) & (events["id"] >= IDENT_SYMBOL) & (events["id"] < IDENT_BEHIND)]
        calls = calls[self._is_outside(calls["pc"])]
        taking, giving = (calls[self._is_of(calls, services)] for services in (_TAKING, _GIVING))
        return held_blocks(taking, giving, events[events["kind"] == KIND_EXCEPTION_ENTER])

    def _is_of(self, events: NDArray[np.void], services: tuple[str, ...]) -> NDArray[np.bool_]:
        names = {name for service in services for name in self._kernel.symbols.get(service, ())}
        idents = [IDENT_SYMBOL + index for index, name in enumerate(self._functions) if name in names]
        return np.asarray(np.isin(events["id"], idents), dtype=np.bool_)

    def _is_kernels(self, name: str) -> bool:
        return name in self._ports or kind_of(name, self._kernel) not in {APPLICATION, LIBRARY}

    def feed(self, raw: bytes) -> None:
        """The window's events, in the order of time."""
        events = np.frombuffer(raw, dtype=EVENT)
        most = self._most_events * EVENT.itemsize
        for first in range(0, len(events), _AT_ONCE):
            left = most - len(self._raw)
            if left <= 0:
                return
            some = events[first : first + _AT_ONCE]
            self._raw += some.view(_WHOLE)[self._of_steps(some)].tobytes()[:left]

    def _of_steps(self, events: NDArray[np.void]) -> NDArray[np.bool_]:
        """Which events make steps. Most calls are the kernel's of its own functions."""
        ident, kind = events["id"], events["kind"]
        known = (kind == KIND_EXEC) & (ident >= IDENT_MARK)
        is_call = known & (ident >= IDENT_SYMBOL) & (ident < IDENT_BEHIND)
        known[is_call] = self._is_outside(events["pc"][is_call])
        task = (kind == KIND_WRITE) & (ident >= IDENT_CURRENT) & (ident < IDENT_CURRENT + self._cores)
        fill = (kind == KIND_WRITE) & (ident >= IDENT_FILL) & (ident < IDENT_FILL + _MOST_BLOCKS)
        fill[fill] = self._is_outside(events["pc"][fill])  # a heap may keep its lists where blocks were
        return np.asarray(known | task | fill | (kind > KIND_WRITE), dtype=np.bool_)

    def _is_outside(self, pcs: NDArray[np.void]) -> NDArray[np.bool_]:
        """Which of the instructions are none of the kernel's."""
        places, which = np.unique(pcs, return_inverse=True)
        outside = np.array(
            [not self._watching.is_kernels(code_address(int(place))) for place in places], dtype=np.bool_
        )
        return np.asarray(outside[which], dtype=np.bool_)

    def close(self, observed: WindowObservations) -> None:
        """Puts in what was seen."""
        observed.steps = find_steps(bytes(self._raw), self._watching, self._current)
        observed.steps_cut = len(self._raw) >= self._most_events * EVENT.itemsize
        observed.priorities = self._told.priorities
        observed.numbers = self._told.numbers
        observed.objects_at_open = self._told.objects_at_open
        observed.heap_blocks = self._told.heap_blocks

    def _blocks(self, before: bytes) -> set[int]:
        """Every task that has run so far."""
        events = np.frombuffer(before, dtype=EVENT)
        writes = (events["kind"] == KIND_WRITE) & (events["id"] >= IDENT_CURRENT)
        mine = writes & (events["id"] < IDENT_CURRENT + self._cores)
        return {int(block) for block in distinct(events["value"][mine])}

    def _called_addresses(self, before: bytes) -> dict[str, set[int]]:
        events = np.frombuffer(before, dtype=EVENT)
        calls = (events["kind"] == KIND_EXEC) & (events["id"] >= IDENT_SYMBOL) & (events["id"] < IDENT_BEHIND)
        names = tuple(self._functions)
        addresses: dict[str, set[int]] = defaultdict(set)
        for both in distinct(events["id"][calls].astype(np.uint64) << _HALF | events["value"][calls]).tolist():
            addresses[names[(both >> 32) - IDENT_SYMBOL]].add(both & 0xFFFF_FFFF)
        return addresses

    def _blocks_filled(self, before: bytes, is_kernels: Callable[[int], bool]) -> tuple[tuple[int, int], ...]:
        """Address and size of the heap blocks used so far, where each is given back before the next one is taken."""
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
        bytes_at = self._kernel.argument_place("malloc", "bytes")
        for ident, value, pc, core, more in events[["id", "value", "pc", "core", "zero"]].tolist():
            name = names[ident - IDENT_SYMBOL]
            if name in taking and not is_kernels(code_address(pc)):
                calls += 1
                nested += core in sizes
                sizes[core] = (value, more)[bytes_at]
            elif name in giving and not is_kernels(code_address(pc)):
                size = sizes.pop(core, 0)
                if size >= _WORD:
                    blocks.add((value, size))
        return tuple(sorted(blocks)) if len(blocks) <= _MOST_BLOCKS and nested * _RARE <= calls else ()

    def word(self, address: int) -> int | None:
        """Reads a word of the board's memory. None: there is none."""
        try:
            with simulator_errors(RunError):
                return int.from_bytes(self._machine.read(address, 4), "little")
        except RunError:
            return None
