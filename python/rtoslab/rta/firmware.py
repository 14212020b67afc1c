"""The image that runs a task set: built once for a kernel, board and configuration, its tables filled in afterwards.

The parts that change from set to set are data in the image, so every copy has the same code at the same addresses, and
any of them may be flashed."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final
from urllib.parse import unquote

from rtoslab.base import CheckError
from rtoslab.catalogue import Benchmark, Board, Catalogue, Entry, Kernel
from rtoslab.conformance import examine_port
from rtoslab.images import BuiltImage, build_point_image
from rtoslab.intake import Elf, one_line
from rtoslab.plan import Point, one_point
from rtoslab.targets import (
    FIRST_EXTERNAL,
    IDENT_CURRENT,
    IDENT_WINDOW,
    WINDOW_SYMBOL,
    VirtualMachine,
    current_task_addresses,
    find_address,
    load_image,
    make_machine,
    simulator_errors,
    watch_idling,
)

WINDOW_MS: Final = 600_000
"""Longer than any check. The virtual board is stopped when enough was seen."""
SETUP_CYCLES: Final = 50_000_000
_SETUP_STEPS: Final = 100
IDENT_BEGIN: Final = 1
"""The work of a job begins, and ends. The event's value is the task's index."""
IDENT_END: Final = 2
IDENT_LINE: Final = 128
"""Added to the index where the work is a handler's, of the line after it."""
_ROW: Final = struct.Struct("<4I")
_EVENTS: Final = struct.Struct("<BBH")
_PART: Final = struct.Struct("<IBBBB")
_LINE: Final = struct.Struct("<3I")
MOST_PARTS: Final = 6
LINES: Final = 3
RESOURCES: Final = 4


class Around(IntEnum):
    """The surroundings of a part of a job's work, numbered as in the image."""

    PLAIN = 0
    LOCKED = 1
    RAISED = 2
    MASKED = 3


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a job's work. `what`: the mutex's number if LOCKED, the image's priority if RAISED."""

    rounds: int
    extra: int
    around: Around = Around.PLAIN
    what: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """One task of the image: a period and first release in ticks, its work as the image counts it, its priority.

    With parts, these are its work. With a line (from 1 on) its interrupt releases it, and `period_ticks` is any but 0.
    """

    period_ticks: int
    offset_ticks: int
    rounds: int
    extra: int
    priority: int
    line: int = 0
    parts: tuple[Part, ...] = ()
    core: int = 0

    @property
    def calls(self) -> int:
        """Returns the calls in the midst of the work: before and after each part that is not plain."""
        return 2 * sum(part.around is not Around.PLAIN for part in self.parts)


@dataclass(frozen=True, slots=True)
class Line:
    """An interrupt that the virtual board raises: its handler's work, 0 rounds for none, and when."""

    rounds: int = 0
    extra: int = 0
    raised: tuple[int, ...] = ()
    """Cycles from the tick of the first releases."""
    arrivals: tuple[int, ...] = ()
    """The same, of what it stands for: each not after its raising."""


@dataclass(frozen=True)
class Firmware:
    """A built image, and what its run must be told."""

    point: Point
    build: BuiltImage
    board: Board
    kernel: Kernel
    clock_hz: int
    tick_hz: int
    most_tasks: int
    priorities: int
    deviations: Mapping[str, str]
    """The deviations of the kernel from the port contract, as it declares."""

    @property
    def tick_cycles(self) -> int:
        """Returns the core clock's cycles in a tick."""
        return self.clock_hz // self.tick_hz

    @property
    def cores(self) -> int:
        """Returns the number of cores of the image. Each task is at home on one."""
        return self.point.cores

    @property
    def events(self) -> bool:
        """Whether tasks may be released by interrupts, and work in parts."""
        return self.point.params.get("events") == "1"

    @property
    def lines(self) -> tuple[int, ...]:
        """Exception numbers of the image's interrupts, the most urgent first."""
        return tuple(
            FIRST_EXTERNAL + line for line in (self.board.irq.soft, self.board.irq.asynchronous, self.board.pins.in_irq)
        )

    def image(self, rows: Sequence[Row], lines: Sequence[Line] = ()) -> bytes:
        """A copy of the ELF file that runs these tasks. The rows must fit: see `CheckError` of `check`."""
        assert len(rows) <= self.most_tasks
        table = [_ROW.pack(0, 0, 1, 0)] * (self.cores * self.most_tasks)
        for at, item in enumerate(rows):  # an index stands for one task, on whichever core
            packed = _ROW.pack(item.period_ticks, item.offset_ticks, item.rounds, item.extra)
            table[item.core * self.most_tasks + at] = packed
        priorities = [row.priority for row in rows] + [0] * (self.most_tasks - len(rows))
        image = bytearray(self.build.elf.read_bytes())
        _write(image, "task_set_rows", b"".join(table))
        _write(image, "bench_program", bytes(priorities))
        if self.events:
            _write(image, "task_set_events", b"".join(_events(row) for row in rows))
            _write(
                image, "task_set_lines", b"".join(_LINE.pack(1, line.rounds, line.extra) for line in lines) or bytes(4)
            )
        return bytes(image)


def _events(row: Row) -> bytes:
    parts = row.parts or (Part(row.rounds, row.extra),)
    packed = [_PART.pack(part.rounds, part.extra, part.around, part.what, 0) for part in parts]
    packed += [bytes(_PART.size)] * (MOST_PARTS - len(parts))
    return _EVENTS.pack(row.line, len(parts), 0) + b"".join(packed)


def make_firmware(
    catalogue: Catalogue, kernel: str, board: str, config: Mapping[str, str], *, events: bool = False, cores: int = 1
) -> Firmware:
    """Builds the image for so many cores, with what `events` need if asked for. Raises BuildError, ConformanceError,
    CheckError where it cannot be had."""
    benchmark = _table_benchmark(catalogue)
    kernel_entry, board_entry = catalogue.kernel(kernel), catalogue.board(board)
    settings = {**config, "param.events": "1"} if events else config
    if events and cores > 1:
        raise CheckError(
            "On several cores the image has tasks that the tick releases, no interrupts, sections or masks; analyse "
            "such a set with --overheads, or check its cores one by one."
        )
    point = one_point(benchmark, kernel_entry, board_entry, cores, WINDOW_MS, settings)
    if point.not_applicable is not None:
        raise CheckError(f"No task set can be run here: {point.not_applicable}.")
    conformance = examine_port(catalogue, point)
    conformance.require()
    built = build_point_image(catalogue, point)
    return Firmware(
        point=point,
        build=built,
        board=board_entry.facts,
        kernel=kernel_entry.facts,
        clock_hz=point.clock_hz or board_entry.facts.clock.sys_hz,
        tick_hz=_tick_hz(built, board_entry.facts, kernel_entry.facts, cores),
        most_tasks=benchmark.facts.tasks_per_core,
        priorities=benchmark.facts.priorities,
        deviations=conformance.deviations,
    )


def _table_benchmark(catalogue: Catalogue) -> Entry[Benchmark]:
    benchmarks = [benchmark for benchmark in catalogue.benchmarks.values() if benchmark.facts.task_table]
    if len(benchmarks) != 1:
        raise CheckError(
            f"{len(benchmarks)} benchmarks say task_table = true; one of firmware/benchmarks/ must, no other."
        )
    return benchmarks[0]


def _tick_hz(built: BuiltImage, board: Board, kernel: Kernel, cores: int) -> int:
    """Returns the tick's frequency, as the image reports it before anything else."""
    machine = start(built.elf.read_bytes(), board, kernel, cores)
    match = re.search(rb"name=tick_hz value=(\d+)", machine.take_uart())
    if match is None:
        raise CheckError(f"The image {built.elf} does not say its tick_hz; build it from this checkout's firmware.")
    return int(match[1])


def start(image: bytes, board: Board, kernel: Kernel, cores: int = 1) -> VirtualMachine:
    """A virtual board as its window opens, with the probes of `trace` set. Raises CheckError if it never does."""
    machine = make_machine(board, cores=cores)
    load_image(machine, image, "the image")
    with simulator_errors(CheckError):
        window = find_address(machine, WINDOW_SYMBOL)
        machine.watch_write(window, IDENT_WINDOW, True)
        machine.watch_exec(find_address(machine, "task_set_begin"), IDENT_BEGIN)
        machine.watch_exec(find_address(machine, "task_set_end"), IDENT_END)
        for core, word in current_task_addresses(machine, kernel, cores).items():
            machine.watch_write(word, IDENT_CURRENT + core)
        watch_idling(machine, kernel)
        for _ in range(_SETUP_STEPS):
            machine.run(SETUP_CYCLES)
            if int.from_bytes(machine.read(window, 4), "little") == 1:
                machine.take_events()
                return machine
    lines = machine.take_uart().decode("ascii", "replace").splitlines()
    why = next((one_line(unquote(line)[:160]) for line in lines if " error " in line or " fault " in line), "nothing")
    raise CheckError(f"The image did not open its window; what it said of it: {why}.")


def _write(image: bytearray, symbol: str, data: bytes) -> None:
    """Replaces the first bytes of an object by their place in the file."""
    try:
        elf = Elf(bytes(image))
        table_symbol = next((elf_symbol for elf_symbol in elf.symbols() if elf_symbol.name == symbol), None)
    except ValueError as cause:
        raise CheckError(f"The image is a damaged ELF file ({cause}); delete its folder and build it again.") from None
    if table_symbol is None:
        raise CheckError(f"The image has no symbol {symbol}; build it from this checkout's firmware.")
    for segment in elf.segments:
        start = segment.address
        if (
            start <= table_symbol.value
            and table_symbol.value + table_symbol.size <= start + segment.file_bytes
            and len(data) <= table_symbol.size
        ):
            at = segment.offset + table_symbol.value - start
            image[at : at + len(data)] = data
            return
    raise CheckError(f"{symbol} is not stored in the image; build it from this checkout's firmware.")
