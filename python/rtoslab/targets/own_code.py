"""The benchmark's own code over a whole window: how often each instruction was executed, and which functions it called.

A proof that looks only at the first thousand rounds misses a loop that begins later. The profile counts every
instruction of every round. So these counts show an additional loop, a branch that is taken only now and then, and a
handler with additional work, wherever they are.
"""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from rtoslab.base import RunError
from rtoslab.catalogue import Kernel
from rtoslab.images import branch_target_address
from rtoslab.targets.board import convert_simulator_errors, simulator_module
from rtoslab.targets.marks import IntervalMarkerAddress
from rtoslab.targets.observe import ALL_CORES, BenchmarkFunction, EquallyExecutedCodeRange
from rtoslab.targets.profiles import APPLICATION, LIBRARY, PROFILE, function_category

SUPERVISOR_CALL: Final = "svc"
"""Stands for the function that an SVC instruction calls."""
INDIRECT: Final = "indirect"
"""Stands for the function that a call through a register calls: the instruction does not name it."""
_WIDE: Final = 0b11101 << 11
_BL: Final = 0xD000
_VENEER: Final = "_veneer"
_ELF: Final = b"\x7fELF"
_FIRMWARE: Final = re.compile(r"(^|/)firmware/(benchmarks|boards|chips|core|cpus|instruments|kernels)/|^port/")
"""Our build names its files so, wherever they are (-ffile-prefix-map): `port/` is a port outside the checkout. Another
build may put a folder before `firmware/`."""
_PORT: Final = re.compile(r"(^|/)firmware/kernels/|^port/")

Symbol = tuple[int, int, str]
"""Address, size in bytes, name."""


def executed_benchmark_functions(
    profiles: Mapping[int, bytes],
    symbols: Sequence[Symbol],
    kernel: Kernel,
    idling: Sequence[Symbol],
    image: bytes,
    read: Callable[[int, int], bytes],
) -> tuple[BenchmarkFunction, ...]:
    """Returns the benchmark's own functions that each core executed, and those of all cores together.

    Own is what was compiled from the firmware's files, but for a port's functions that do the kernel's work. `profiles`
    are the packed profiles by core. `idling` is (begin, end, name) of the code that idles outside a task. `read`
    returns the bytes of code at an address.
    """
    places = _SymbolIndex(symbols)
    ours = FirmwareCodeAddressRanges(image, with_port=kernel.services.get("tasks", True))
    together: dict[Symbol, Counter[int]] = defaultdict(Counter)
    spent: Counter[int] = Counter()
    functions: list[BenchmarkFunction] = []
    for core, data in sorted(profiles.items()):
        rows: dict[Symbol, Counter[int]] = defaultdict(Counter)
        cycles: Counter[int] = Counter()
        for address, executions, took in _unpack_profile_rows(data):
            place = places.find_function(address)
            if place is None or _is_in_idle_code(address, idling):
                continue
            if ours.contains_address(place[0]) and _is_benchmark_function(place[2], kernel):
                rows[place][address] += executions
                together[place][address] += executions
                cycles[address] += took
                spent[address] += took
        functions += [
            _make_benchmark_function(core, place, mine, cycles, places, read) for place, mine in sorted(rows.items())
        ]
    if len(profiles) > 1:
        functions += [
            _make_benchmark_function(ALL_CORES, place, mine, spent, places, read)
            for place, mine in sorted(together.items())
        ]
    return tuple(functions)


def _unpack_profile_rows(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Yields address, executions and cycles of each instruction of a packed profile."""
    records = np.frombuffer(data, dtype=PROFILE)
    yield from zip(*(records[name].tolist() for name in ("address", "executions", "cycles")), strict=True)


def _is_in_idle_code(address: int, idling: Sequence[Symbol]) -> bool:
    """Whether an address is in the code in which the kernel idles outside a task."""
    return any(begin <= address < end for begin, end, _ in idling)


def _is_benchmark_function(name: str, kernel: Kernel) -> bool:
    """Whether a function is the benchmark's own, and not the kernel's or a linker's veneer. A function whose name only
    looks like a library's is own."""
    return function_category(name, kernel) in {APPLICATION, LIBRARY} and not name.endswith(_VENEER)


class FirmwareCodeAddressRanges:
    """The address ranges of the code that was compiled from the firmware's files."""

    def __init__(self, image: bytes, *, with_port: bool = True) -> None:
        """Reads the image's debug information. An image that is no ELF file has none. `with_port` includes the code
        of the kernel's port, which does all of a kernel's work if there is no kernel."""
        with convert_simulator_errors(RunError):
            units = simulator_module().sources(image) if image.startswith(_ELF) else []
        ours = [(name, mine) for name, mine in units if _FIRMWARE.search(name)]
        ranges = sorted(function for name, mine in ours if with_port or not _PORT.search(name) for function in mine)
        self._starts = [start for start, _ in ranges]
        self._ends = [end for _, end in ranges]

    def contains_address(self, address: int) -> bool:
        """Whether the code at an address was compiled from a file of the firmware."""
        index = bisect_right(self._starts, address) - 1
        return index >= 0 and address < self._ends[index]


class _SymbolIndex:
    """Finds the functions of an image by address."""

    def __init__(self, symbols: Sequence[Symbol]) -> None:
        self._symbols = sorted(symbols)
        self._starts = [address for address, _, _ in self._symbols]

    def find_function(self, address: int) -> Symbol | None:
        """Returns the function (address, size, name) that contains an address. None outside functions."""
        index = bisect_right(self._starts, address) - 1
        if index < 0:
            return None
        start, size, _ = self._symbols[index]
        return self._symbols[index] if not size or address < start + size else None


def _make_benchmark_function(
    core: int,
    place: Symbol,
    executed: Mapping[int, int],
    cycles: Mapping[int, int],
    places: _SymbolIndex,
    read: Callable[[int, int], bytes],
) -> BenchmarkFunction:
    """Returns one of the benchmark's functions with its spans of equally often executed instructions, and its calls.
    `executed` and `cycles` are by address."""
    stretches: list[EquallyExecutedCodeRange] = []
    calls: Counter[str] = Counter()
    behind = -1
    for address, executions in sorted(executed.items()):
        code = read(address, 4)
        first = int.from_bytes(code[:2], "little")
        if stretches and address == behind and stretches[-1].executions == executions:
            last = stretches[-1]
            stretches[-1] = EquallyExecutedCodeRange(
                last.address, last.instructions + 1, executions, last.cycles + cycles[address]
            )
        else:
            stretches.append(EquallyExecutedCodeRange(address, 1, executions, cycles[address]))
        behind = address + (4 if first >= _WIDE else 2)
        called = _called_function_name(address, code, place, places)
        if called is not None:
            calls[called] += executions
    return BenchmarkFunction(core, place[2], executed.get(place[0], 0), tuple(stretches), tuple(sorted(calls.items())))


def _called_function_name(address: int, code: bytes, place: Symbol, places: _SymbolIndex) -> str | None:
    """Returns the name of the function that an instruction calls or jumps to. None if it stays in its own function,
    which is `place`.

    Encodings: ARMv6-M Architecture Reference Manual, A6.7.10 (B), A6.7.13 (BL), A6.7.14 (BLX), A6.7.15 (BX), A6.7.68
    (SVC).
    """
    first = int.from_bytes(code[:2], "little")
    if first >= _WIDE:
        target = branch_target_address(address, code)
        is_call = int.from_bytes(code[2:4], "little") & _BL == _BL
    elif first >> 8 == 0xDF:
        return SUPERVISOR_CALL
    elif first & 0xFF87 == 0x4780 or (first & 0xFF87 == 0x4700 and first >> 3 & 0xF != 14):
        return INDIRECT
    else:
        target, is_call = _short_branch_target(address, first), False
    if target is None:
        return None
    called = places.find_function(target)
    if called is None or (called == place and not is_call):
        return None
    return called[2].removeprefix("__").removesuffix(_VENEER) if called[2].endswith(_VENEER) else called[2]


def _short_branch_target(address: int, code: int) -> int | None:
    """Returns the target of a 16-bit branch instruction. None for every other instruction."""
    if code >> 11 == 0b11100:
        offset = (code & 0x7FF) << 1
        return address + 4 + (offset - 0x1000 if offset & 0x800 else offset)
    if code >> 12 == 0b1101 and code >> 8 & 0xF < 14:
        offset = (code & 0xFF) << 1
        return address + 4 + (offset - 0x200 if offset & 0x100 else offset)
    return None


def _branch_target(address: int, code: bytes) -> int | None:
    """Returns the target of a branch instruction, or of one that compares with zero and branches. None for every other
    instruction.

    Encodings: ARMv7-M Architecture Reference Manual, A7.7.12 (B), A7.7.21 (CBNZ, CBZ).
    """
    first = int.from_bytes(code[:2], "little")
    if first >= _WIDE:
        return branch_target_address(address, code)
    if first & 0xF500 == 0xB100:
        return address + 4 + ((first >> 9 & 1) << 6 | (first >> 3 & 0x1F) << 1)
    return _short_branch_target(address, first)


def _leaves(code: bytes) -> bool:
    """Whether an instruction jumps or returns on no condition: B, BX, POP or LDM with the PC, MOV or LDR to the PC.

    Encodings: ARMv7-M Architecture Reference Manual, A7.7.12, A7.7.20, A7.7.41, A7.7.43, A7.7.77, A7.7.99.
    """
    first, second = (int.from_bytes(code[at : at + 2], "little") for at in (0, 2))
    if first < _WIDE:
        return first >> 11 == 0b11100 or first & 0xFF87 in {0x4700, 0x4687} or first >> 8 == 0xBD
    if first & 0xF800 == 0xF000 and second & 0xD000 == 0x9000:
        return True
    if first & 0xFE50 == 0xE810:
        return bool(second & 0x8000)
    return (first & 0xFF7F == 0xF85F or first & 0xFFF0 in {0xF8D0, 0xF850}) and second >> 12 == 0xF


def instructions_from_markers_to_calls(
    own: Sequence[BenchmarkFunction],
    marks: Sequence[IntervalMarkerAddress],
    symbols: Sequence[Symbol],
    read: Callable[[int, int], bytes],
) -> int:
    """Returns the number of instructions between the marks of intervals and the calls that these measure, summed over
    all marks.

    The distance of a begin is the number of executed instructions up to the next call, and of an end that from the call
    before it. Without a call the distance is that to the next mark, or to the function's begin or end. Both ways follow
    the jumps of the code, because what is before a mark in memory may be executed after it. An instruction that was
    moved into an interval makes the sum larger, one that was moved out of it makes it smaller.
    """
    places = _SymbolIndex(symbols)
    at_marks = {mark.address for mark in marks}
    total = 0
    together = any(function.core == ALL_CORES for function in own)
    for function in own:
        if function.core != (ALL_CORES if together else 0):
            continue
        code = _ExecutedInstructionSequence(_find_executed_instructions(function, places, read))
        for mark in marks:
            if mark.address not in code:
                continue
            for instruction in (
                code.walk_instructions_backward(mark.address)
                if mark.is_end
                else code.walk_instructions_forward(mark.address)
            ):
                if (instruction.is_call and mark.is_end) or (
                    instruction.address in at_marks and instruction.address != mark.address
                ):
                    break
                total += 1
                if instruction.is_call:
                    break
    return total


class _Instruction(NamedTuple):
    """An executed instruction of one of the benchmark's functions."""

    address: int
    is_call: bool
    leaves: bool
    """Whether the next instruction in memory is never executed after it: it jumps or returns."""
    target: int | None
    """Where it branches to, if it names that."""


class _ExecutedInstructionSequence:
    """The executed instructions of a function, in the order in which one comes after another."""

    def __init__(self, instructions: Iterable[_Instruction]) -> None:
        self._code = list(instructions)
        self._places = {item.address: index for index, item in enumerate(self._code)}
        self._sources: dict[int, list[int]] = defaultdict(list)
        for item in self._code:
            if item.target is not None and not item.is_call:
                self._sources[item.target].append(item.address)

    def __contains__(self, address: int) -> bool:
        """Whether an instruction at this address was executed."""
        return address in self._places

    def walk_instructions_forward(self, address: int) -> Iterator[_Instruction]:
        """Yields the instructions from this address on. Follows jumps, but no branch that depends on a condition."""
        visited: set[int] = set()
        index: int | None = self._places[address]
        while index is not None and index < len(self._code) and index not in visited:
            visited.add(index)
            item = self._code[index]
            yield item
            index = self._places.get(item.target or 0) if item.leaves else index + 1

    def walk_instructions_backward(self, address: int) -> Iterator[_Instruction]:
        """Yields the instructions that are executed before this address, the last one first. If the previous
        instruction in memory jumps elsewhere, the walk continues at the first branch to this place."""
        visited: set[int] = set()
        index: int | None = self._places[address]
        while index is not None and index not in visited:
            visited.add(index)
            if index and not self._code[index - 1].leaves:
                index -= 1
            else:
                sources = self._sources[self._code[index].address]
                index = self._places[sources[0]] if sources else None
            if index is not None:
                yield self._code[index]


def _find_executed_instructions(
    function: BenchmarkFunction, places: _SymbolIndex, read: Callable[[int, int], bytes]
) -> Iterator[_Instruction]:
    """Yields the executed instructions of a function."""
    place = places.find_function(function.stretches[0].address)
    for part in function.stretches:
        address = part.address
        for _ in range(part.instructions):
            code = read(address, 4)
            is_call = place is not None and _called_function_name(address, code, place, places) is not None
            yield _Instruction(address, is_call, _leaves(code), _branch_target(address, code))
            address += 4 if int.from_bytes(code[:2], "little") >= _WIDE else 2
