"""The image that runs a task set. It is built once for a kernel, board and configuration, and its tables are filled in
afterwards.

Everything that changes from set to set is data in the image, so every copy has the same code at the same addresses, and
any copy may be flashed."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final
from urllib.parse import unquote

from rtoslab.base import TaskSetCheckError
from rtoslab.catalogue import Benchmark, Board, Catalogue, CatalogueEntry, Kernel
from rtoslab.conformance import examine_port
from rtoslab.images import BuiltImage, build_point_image
from rtoslab.intake import ElfFile, escape_to_one_line, read_text
from rtoslab.plan import Point, make_point
from rtoslab.rta.taskset import EventLevel
from rtoslab.targets import (
    FIRST_EXTERNAL,
    IDENT_CURRENT,
    IDENT_WINDOW,
    WINDOW_SYMBOL,
    VirtualMachine,
    convert_simulator_errors,
    current_task_addresses,
    find_address,
    load_image_into_board,
    make_board_at_reset,
    watch_idle_code,
)

WINDOW_MS: Final = 600_000
"""Longer than any check. The virtual board is stopped after the last tick of the check."""
_SENT_SYMBOL: Final = "task_set_sent"
"""The image has it if its tasks can release others."""
SETUP_CYCLES: Final = 50_000_000
_SETUP_STEPS: Final = 100
IDENT_BEGIN: Final = 1
"""Event: the work of a job begins. Its value is the task's index."""
IDENT_END: Final = 2
"""Event: the work of a job ends."""
IDENT_SENT: Final = 3
"""Event: a job's call that releases another task has returned."""
IDENT_LINE: Final = 128
"""Added to an interrupt's line where a handler's work begins or ends."""
_ROW: Final = struct.Struct("<4I")
_EVENTS: Final = struct.Struct("<BBH")
_PART: Final = struct.Struct("<IBBBB")
_LINE: Final = struct.Struct("<3I")
_RELEASE: Final = struct.Struct("<4B8s")
LATE_JOBS: Final = 8
"""The number of jobs after which the image repeats how late the tick releases a task."""
MAX_LATE_TICKS: Final = 255
TIMERS: Final = 4
"""The most timers of the kernel in a task set."""
_TIMER_HEAD: Final = struct.Struct("<2I")
_TIMER: Final = struct.Struct("<3I")
_TIMER_LEAD_TICKS: Final = 2
"""Ticks from the first releases that the image counts from to the start of its first timer."""
MESSAGES: Final = 8
"""The number of messages that a queue of the image holds."""
MAX_PARTS: Final = 6
INTERRUPT_LINES: Final = 3
MUTEXES: Final = 4


class PartProtection(IntEnum):
    """How a part of a job's work is protected: not at all, by a mutex, by a raised priority or by masked interrupts.
    The numbers are those of the image.
    """

    PLAIN = 0
    LOCKED = 1
    RAISED = 2
    MASKED = 3


class ReleaseCarrier(IntEnum):
    """The objects by which a task releases another one. The numbers are those of the image."""

    NONE = 0
    SEMAPHORE = 1
    MESSAGE = 2
    NOTIFICATION = 3


@dataclass(frozen=True, slots=True)
class WorkPart:
    """A part of a job's work, in rounds of the work loop and extra instructions.
    `argument`: the mutex's number if LOCKED, the image's priority if RAISED.
    """

    rounds: int
    extra: int
    protection: PartProtection = PartProtection.PLAIN
    argument: int = 0


@dataclass(frozen=True, slots=True)
class TaskRow:
    """One task in the image's task table: period, first release, work and priority.

    With parts, these are its work. With a line (from 1 on) its interrupt releases it, and `period_ticks` is any but 0.
    """

    period_ticks: int
    offset_ticks: int
    rounds: int
    extra: int
    priority: int
    line: int = 0
    parts: tuple[WorkPart, ...] = ()
    core: int = 0
    receiver: int = 0
    """The task that its jobs release at their ends, counted from 1. 0: none."""
    receiver_carrier: ReleaseCarrier = ReleaseCarrier.NONE
    carrier: ReleaseCarrier = ReleaseCarrier.NONE
    """How another task releases it. NONE: the tick or an interrupt does."""
    late_ticks: tuple[int, ...] = ()
    """How many ticks after its arrival the tick releases a job, by the job's number modulo LATE_JOBS. Empty: none."""
    is_timer: bool = False
    """Whether it is a timer of the kernel. `offset_ticks` is then the tick on which it first expires."""

    @property
    def is_tick_released(self) -> bool:
        """Whether the kernel's tick releases its jobs."""
        return not self.line and self.carrier is ReleaseCarrier.NONE

    def job_ticks(self, number: int) -> tuple[int, int]:
        """Returns the ticks of the arrival and of the release of a job, counted from the first releases of the set."""
        late = self.late_ticks or (0,)
        arrival = self.offset_ticks - late[0] + number * self.period_ticks
        return arrival, arrival + late[number % len(late)]

    def last_released_job(self, tick: int) -> int:
        """Returns the number of the last job that was released at this tick or before. -1 if none was."""
        late = self.late_ticks or (0,)
        number = (tick - self.offset_ticks + late[0]) // self.period_ticks
        return number if number < 0 or self.job_ticks(number)[1] <= tick else number - 1

    def is_released_at(self, tick: int) -> bool:
        """Whether the tick with this number releases a job."""
        number = self.last_released_job(tick)
        return self.is_tick_released and number >= 0 and self.job_ticks(number)[1] == tick

    @property
    def kernel_calls(self) -> int:
        """Returns the number of kernel calls in a job's work: before and after each protected part."""
        return 2 * sum(part.protection is not PartProtection.PLAIN for part in self.parts)


@dataclass(frozen=True, slots=True)
class InterruptLine:
    """An interrupt that the virtual board raises in a run: its handler's work and its times."""

    rounds: int = 0
    extra: int = 0
    raised: tuple[int, ...] = ()
    """The cycles of its raisings, counted from the tick of the first releases."""
    arrivals: tuple[int, ...] = ()
    """The arrivals that the raisings stand for, none after its raising."""


@dataclass(frozen=True)
class TaskSetFirmware:
    """The built image that runs task sets, with facts of its kernel and board."""

    point: Point
    build: BuiltImage
    board: Board
    kernel: Kernel
    clock_hz: int
    tick_hz: int
    max_tasks: int
    priority_count: int
    deviations: Mapping[str, str]
    """The deviations of the kernel from the port contract, as it declares."""

    @property
    def tick_cycles(self) -> int:
        """Returns the number of clock cycles in a kernel tick."""
        return self.clock_hz // self.tick_hz

    @property
    def core_count(self) -> int:
        """Returns the number of cores of the image. Each task runs on one of them only."""
        return self.point.cores

    @property
    def event_level(self) -> int:
        """Returns what the image supports besides releases by the tick, as a value of `EventLevel`."""
        return int(self.point.params.get("events", "0"))

    @property
    def has_events(self) -> bool:
        """Whether the image supports tasks that interrupts release, and work in parts."""
        return self.event_level >= EventLevel.INTERRUPTS

    @property
    def has_timers(self) -> bool:
        """Whether the image supports timers of the kernel."""
        return self.event_level >= EventLevel.TIMERS

    @property
    def has_sends(self) -> bool:
        """Whether the image supports tasks that other tasks release, and late releases by the tick."""
        return self.event_level >= EventLevel.SENDS

    @property
    def line_exceptions(self) -> tuple[int, ...]:
        """Returns the exception numbers of the image's interrupts, the most urgent first."""
        return tuple(
            FIRST_EXTERNAL + line for line in (self.board.irq.soft, self.board.irq.asynchronous, self.board.pins.in_irq)
        )

    def image_with_tasks(self, rows: Sequence[TaskRow], lines: Sequence[InterruptLine] = ()) -> bytes:
        """Returns a copy of the ELF file that runs these tasks. `task_rows` makes rows that fit."""
        assert len(rows) <= self.max_tasks
        shift = timer_shift_ticks(rows)
        table = [_ROW.pack(0, 0, 1, 0)] * (self.core_count * self.max_tasks)
        for at, item in enumerate(rows):  # an index stands for one task, on whichever core
            packed = _ROW.pack(item.period_ticks, shift + item.offset_ticks, item.rounds, item.extra)
            if item.is_timer:  # its task only starts it
                packed = _ROW.pack(0, 0, 1, 0)
            table[item.core * self.max_tasks + at] = packed
        priorities = [row.priority for row in rows] + [0] * (self.max_tasks - len(rows))
        image = bytearray(self.build.elf_path.read_bytes())
        _write_object(image, "task_set_rows", b"".join(table))
        _write_object(image, "bench_program", bytes(priorities))
        if self.has_events:
            _write_object(image, "task_set_events", b"".join(_pack_parts(row) for row in rows))
            _write_object(
                image, "task_set_lines", b"".join(_LINE.pack(1, line.rounds, line.extra) for line in lines) or bytes(4)
            )
        if self.has_sends:
            _write_object(image, "task_set_releases", b"".join(_pack_release(row) for row in rows))
        if self.has_timers:
            _write_object(image, "task_set_timers", _pack_timers(rows))
        return bytes(image)


def timer_shift_ticks(rows: Sequence[TaskRow]) -> int:
    """Returns by how many ticks the image delays all first releases, so that timers can expire with them.
    A timer first expires one period after its start.
    """
    return max((row.period_ticks for row in rows if row.is_timer), default=-_TIMER_LEAD_TICKS) + _TIMER_LEAD_TICKS


def _pack_timers(rows: Sequence[TaskRow]) -> bytes:
    """Returns the timers of a task set as the bytes that the image stores."""
    timers = [(at, row) for at, row in enumerate(rows) if row.is_timer]
    priority = timers[0][1].priority if timers else 0
    shift = timer_shift_ticks(rows)
    packed = (_TIMER.pack(at, row.period_ticks, shift + row.offset_ticks - row.period_ticks) for at, row in timers)
    return _TIMER_HEAD.pack(len(timers), priority) + b"".join(packed)


def _pack_release(row: TaskRow) -> bytes:
    """Returns how a task is released and releases another one, as the bytes that the image stores."""
    late = bytes(row.late_ticks) or bytes(LATE_JOBS)
    return _RELEASE.pack(row.receiver, row.receiver_carrier, row.carrier, 0, late)


def _pack_parts(row: TaskRow) -> bytes:
    """Returns the parts of a task's work as the bytes that the image stores."""
    parts = row.parts or (WorkPart(row.rounds, row.extra),)
    packed = [_PART.pack(part.rounds, part.extra, part.protection, part.argument, 0) for part in parts]
    packed += [bytes(_PART.size)] * (MAX_PARTS - len(parts))
    return _EVENTS.pack(row.line, len(parts), 0) + b"".join(packed)


def build_firmware(
    catalogue: Catalogue, kernel: str, board: str, config: Mapping[str, str], *, events: int = 0, cores: int = 1
) -> TaskSetFirmware:
    """Builds the image that runs task sets. `events`: what it supports, as a value of `EventLevel`.

    Raises BuildError, ConformanceError, or TaskSetCheckError where there is no such image.
    """
    benchmark = _task_table_benchmark(catalogue)
    kernel_entry, board_entry = catalogue.find_kernel(kernel), catalogue.find_board(board)
    if events >= EventLevel.TIMERS and not _sets_timer_priority(kernel_entry):
        raise TaskSetCheckError(
            f"{kernel}: the port cannot set the priority of the kernel's timer task, so no image can run a set with "
            "timers; choose another kernel, or analyse the set with --overheads."
        )
    settings = {**config, "param.events": str(int(events))} if events else config
    if events and cores > 1:
        raise TaskSetCheckError(
            "On several cores, --check supports only tasks released by the tick, without interrupts, sections or "
            "masks; analyse this set with --overheads, or check its cores one by one."
        )
    point = make_point(benchmark, kernel_entry, board_entry, cores, WINDOW_MS, settings)
    if point.not_applicable is not None:
        raise TaskSetCheckError(f"The task set cannot be run: {point.not_applicable}.")
    if kernel_entry.facts.behaviour.switch_mode == "thread":
        raise TaskSetCheckError(
            f"{kernel_entry.facts.title} switches tasks in thread mode, and the cost of such switches cannot be "
            "fitted; analyse this set with --overheads, or check it with another kernel."
        )
    conformance = examine_port(catalogue, point)
    conformance.require_port_conforms()
    built = build_point_image(catalogue, point)
    return TaskSetFirmware(
        point=point,
        build=built,
        board=board_entry.facts,
        kernel=kernel_entry.facts,
        clock_hz=point.clock_hz or board_entry.facts.clock.sys_hz,
        tick_hz=_tick_hz(built, board_entry.facts, kernel_entry.facts, cores),
        max_tasks=benchmark.facts.tasks_per_core,
        priority_count=benchmark.facts.priorities,
        deviations=conformance.deviation_reasons,
    )


def _sets_timer_priority(kernel: CatalogueEntry[Kernel]) -> bool:
    """Whether a kernel's port can set the priority of the kernel's timer task."""
    header = kernel.folder / "services" / "timer" / "port_timer.h"
    return header.is_file() and "#define PORT_TIMER_TASK_PRIORITY 1" in read_text(
        header, "the port of timers", TaskSetCheckError
    )


def _task_table_benchmark(catalogue: Catalogue) -> CatalogueEntry[Benchmark]:
    """Returns the benchmark whose image runs task sets."""
    benchmarks = [benchmark for benchmark in catalogue.benchmarks.values() if benchmark.facts.task_table]
    if len(benchmarks) != 1:
        raise TaskSetCheckError(
            f"{len(benchmarks)} benchmarks have task_table = true; exactly one in firmware/benchmarks/ must have it."
        )
    return benchmarks[0]


def _tick_hz(built: BuiltImage, board: Board, kernel: Kernel, cores: int) -> int:
    """Returns the frequency of the kernel's tick, which the image reports as it starts."""
    machine = start_machine(built.elf_path.read_bytes(), board, kernel, cores)
    match = re.search(rb"name=tick_hz value=(\d+)", machine.take_uart())
    if match is None:
        raise TaskSetCheckError(
            f"The image {built.elf_path} does not state its tick_hz; build it from this checkout's firmware."
        )
    return int(match[1])


def start_machine(image: bytes, board: Board, kernel: Kernel, cores: int = 1) -> VirtualMachine:
    """Runs the image on a virtual board up to the start of the task set, and sets the probes.
    Raises TaskSetCheckError if the window never opens.
    """
    machine = make_board_at_reset(board, cores=cores)
    load_image_into_board(machine, image, "the image")
    with convert_simulator_errors(TaskSetCheckError):
        window = find_address(machine, WINDOW_SYMBOL)
        machine.watch_write(window, IDENT_WINDOW, True)
        machine.watch_exec(find_address(machine, "task_set_begin"), IDENT_BEGIN)
        machine.watch_exec(find_address(machine, "task_set_end"), IDENT_END)
        if machine.symbol(_SENT_SYMBOL) is not None:
            machine.watch_exec(find_address(machine, _SENT_SYMBOL), IDENT_SENT)
        for core, word in current_task_addresses(machine, kernel, cores).items():
            machine.watch_write(word, IDENT_CURRENT + core)
        watch_idle_code(machine, kernel)
        for _ in range(_SETUP_STEPS):
            machine.run(SETUP_CYCLES)
            if int.from_bytes(machine.read(window, 4), "little") == 1:
                machine.take_events()
                return machine
    lines = machine.take_uart().decode("ascii", "replace").splitlines()
    reason = next(
        (escape_to_one_line(unquote(line)[:160]) for line in lines if " error " in line or " fault " in line), "nothing"
    )
    raise TaskSetCheckError(f"The image did not begin its measured window, with the message: {reason}.")


def _write_object(image: bytearray, symbol: str, data: bytes) -> None:
    """Replaces the first bytes of an object in the ELF file."""
    try:
        elf = ElfFile(bytes(image))
        table_symbol = next((elf_symbol for elf_symbol in elf.symbols() if elf_symbol.name == symbol), None)
    except ValueError as cause:
        raise TaskSetCheckError(
            f"The image is a damaged ELF file ({cause}); delete its folder and build it again."
        ) from None
    if table_symbol is None:
        raise TaskSetCheckError(f"The image has no symbol {symbol}; build it from this checkout's firmware.")
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
    raise TaskSetCheckError(f"{symbol} has no initial value in the image; build it from this checkout's firmware.")
