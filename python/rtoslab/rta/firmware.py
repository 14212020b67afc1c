"""The image that runs a task set. It is built once for a kernel, board and configuration, and its tables are filled in
afterwards.

Everything that changes from set to set is data in the image, so every copy has the same code at the same addresses, and
any copy may be flashed."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import unquote

from rtoslab.base import TaskSetCheckError
from rtoslab.catalogue import Benchmark, Board, Catalogue, CatalogueEntry, Kernel
from rtoslab.conformance import check_port_conformance
from rtoslab.images import BuiltImage, build_measurement_point_image
from rtoslab.intake import ElfFile, escape_to_one_line, read_text
from rtoslab.plan import (
    PAIR_SIGN,
    PlannedPoint,
    add_second_kernel_to_measurement,
    make_planned_point,
    split_kernel_pair_name,
)
from rtoslab.rta.kernel_pair import KERNELS, image_table_rows_of_core, image_with_embedded_image
from rtoslab.rta.rows import LATE_JOBS, InterruptLine, JobWorkSegment, TaskRow
from rtoslab.rta.taskset import TaskSetFeatureLevel
from rtoslab.targets import (
    FIRST_EXTERNAL,
    IDENT_CURRENT,
    IDENT_WINDOW,
    WINDOW_SYMBOL,
    VirtualBoardMachine,
    convert_simulator_errors,
    current_task_addresses,
    find_symbol_address,
    load_image_into_board,
    make_board_at_reset,
    make_single_core_board_view,
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
MAX_LATE_TICKS: Final = 255
TIMERS: Final = 4
"""The most timers of the kernel in a task set."""
_TIMER_HEAD: Final = struct.Struct("<2I")
_TIMER: Final = struct.Struct("<3I")
_TIMER_LEAD_TICKS: Final = 2
"""Ticks from the first releases that the image counts from to the start of its first timer."""
_FAN: Final = struct.Struct("<4B")
MAX_RECEIVERS: Final = 4
"""The most tasks that a task of the image releases."""
MESSAGES: Final = 8
"""The number of messages that a queue of the image holds."""
MAX_PARTS: Final = 6
INTERRUPT_LINES: Final = 3
MUTEXES: Final = 4


@dataclass(frozen=True)
class TaskSetFirmware:
    """The built image that runs task sets, with facts of its kernel and board."""

    point: PlannedPoint
    build: BuiltImage
    board: Board
    kernel: Kernel
    clock_hz: int
    tick_hz: int
    max_tasks: int
    priority_count: int
    deviations: Mapping[str, str]
    """The deviations of the kernel from the port contract, as it declares."""
    other_build: BuiltImage | None = None
    """The image of core 1, which `build` contains, if each core runs a kernel of its own. None: there is one kernel."""

    @property
    def tick_cycles(self) -> int:
        """Returns the number of clock cycles in a kernel tick."""
        return self.clock_hz // self.tick_hz

    @property
    def core_count(self) -> int:
        """Returns the number of cores of the image. Each task runs on one of them only."""
        return KERNELS if self.does_each_core_run_own_kernel else self.point.cores

    @property
    def does_each_core_run_own_kernel(self) -> bool:
        """Whether each core runs a kernel of its own (AMP)."""
        return self.other_build is not None

    @property
    def is_smp(self) -> bool:
        """Whether one kernel runs on several cores."""
        return self.point.cores > 1

    @property
    def as_single_core_firmware(self) -> TaskSetFirmware:
        """Returns the firmware of two kernels as that of one core alone, to draw task sets for it."""
        return replace(self, other_build=None)

    @property
    def kernel_name(self) -> str:
        """Returns the name of the kernel, or of both."""
        return (
            f"{self.kernel.id}{PAIR_SIGN}{self.point.beside}" if self.does_each_core_run_own_kernel else self.kernel.id
        )

    @property
    def supported_feature_level(self) -> int:
        """Returns what the image supports besides releases by the tick, as a value of `TaskSetFeatureLevel`."""
        return int(self.point.params.get("events", "0"))

    @property
    def can_interrupts_release_tasks(self) -> bool:
        """Whether the image supports tasks that interrupts release, and work in parts."""
        return self.supported_feature_level >= TaskSetFeatureLevel.INTERRUPTS

    @property
    def can_tasks_release_several_tasks(self) -> bool:
        """Whether the image supports tasks that release several tasks, or that several tasks release."""
        return self.supported_feature_level >= TaskSetFeatureLevel.FANS

    @property
    def supports_kernel_timers(self) -> bool:
        """Whether the image supports timers of the kernel."""
        return self.supported_feature_level >= TaskSetFeatureLevel.TIMERS

    @property
    def supports_task_releases(self) -> bool:
        """Whether the image supports tasks that other tasks release, and late releases by the tick."""
        return self.supported_feature_level >= TaskSetFeatureLevel.SENDS

    @property
    def interrupt_exception_numbers(self) -> tuple[int, ...]:
        """Returns the exception numbers of the image's interrupts, the most urgent first."""
        return tuple(
            FIRST_EXTERNAL + line for line in (self.board.irq.soft, self.board.irq.asynchronous, self.board.pins.in_irq)
        )

    def elf_image_with_task_table(self, rows: Sequence[TaskRow], lines: Sequence[InterruptLine] = ()) -> bytes:
        """Returns a copy of the ELF file that runs these tasks. `image_task_rows` makes rows that fit."""
        image = self.build.elf_path.read_bytes()
        if self.other_build is None:
            return self._fill_task_tables_in_elf(image, rows, lines)
        other = self.other_build.elf_path.read_bytes()
        filled = [
            self._fill_task_tables_in_elf(own, *image_table_rows_of_core(rows, lines, core))
            for core, own in enumerate((image, other))
        ]
        return image_with_embedded_image(*filled)

    def _fill_task_tables_in_elf(self, elf: bytes, rows: Sequence[TaskRow], lines: Sequence[InterruptLine]) -> bytes:
        """Returns a copy of an ELF file with these tasks and interrupts in its tables."""
        assert len(rows) <= self.max_tasks
        shift = first_release_delay_ticks(rows)
        table = [_ROW.pack(0, 0, 1, 0)] * (self.point.cores * self.max_tasks)
        for at, item in enumerate(rows):  # an index stands for one task, on whichever core
            packed = _ROW.pack(item.period_ticks, shift + item.offset_ticks, item.rounds, item.extra)
            if item.is_timer:  # its task only starts it
                packed = _ROW.pack(0, 0, 1, 0)
            table[item.core * self.max_tasks + at] = packed
        priorities = [row.priority for row in rows] + [0] * (self.max_tasks - len(rows))
        image = bytearray(elf)
        _replace_elf_object_bytes(image, "task_set_rows", b"".join(table))
        _replace_elf_object_bytes(image, "bench_program", bytes(priorities))
        if self.can_interrupts_release_tasks:
            _replace_elf_object_bytes(
                image, "task_set_events", b"".join(_encode_task_work_segments(row) for row in rows)
            )
            _replace_elf_object_bytes(
                image, "task_set_lines", b"".join(map(_pack_task_set_interrupt, lines)) or bytes(4)
            )
        if self.supports_task_releases:
            _replace_elf_object_bytes(image, "task_set_releases", b"".join(_pack_task_release(row) for row in rows))
        if self.can_tasks_release_several_tasks:
            further = (row.further_receivers + (0,) * (MAX_RECEIVERS - len(row.further_receivers)) for row in rows)
            _replace_elf_object_bytes(image, "task_set_fans", b"".join(_FAN.pack(*receivers) for receivers in further))
        if self.supports_kernel_timers:
            _replace_elf_object_bytes(image, "task_set_timers", _pack_task_set_timers(rows))
        return bytes(image)


def _pack_task_set_interrupt(line: InterruptLine) -> bytes:
    """Returns an interrupt of a task set as the bytes that the image stores."""
    return _LINE.pack(1 + line.core, line.rounds, line.extra)


def first_release_delay_ticks(rows: Sequence[TaskRow]) -> int:
    """Returns by how many ticks the image delays all first releases, so that timers can expire with them.
    A timer first expires one period after its start.
    """
    return max((row.period_ticks for row in rows if row.is_timer), default=-_TIMER_LEAD_TICKS) + _TIMER_LEAD_TICKS


def _pack_task_set_timers(rows: Sequence[TaskRow]) -> bytes:
    """Returns the timers of a task set as the bytes that the image stores."""
    timers = [(at, row) for at, row in enumerate(rows) if row.is_timer]
    priority = timers[0][1].priority if timers else 0
    shift = first_release_delay_ticks(rows)
    packed = (_TIMER.pack(at, row.period_ticks, shift + row.offset_ticks - row.period_ticks) for at, row in timers)
    return _TIMER_HEAD.pack(len(timers), priority) + b"".join(packed)


def _pack_task_release(row: TaskRow) -> bytes:
    """Returns how a task is released and releases another one, as the bytes that the image stores."""
    late = bytes(row.late_ticks) or bytes(LATE_JOBS)
    return _RELEASE.pack(row.receiver, row.receiver_carrier, row.carrier, 0, late)


def _encode_task_work_segments(row: TaskRow) -> bytes:
    """Returns the parts of a task's work as the bytes that the image stores."""
    parts = row.parts or (JobWorkSegment(row.rounds, row.extra),)
    packed = [_PART.pack(part.rounds, part.extra, part.protection, part.argument, 0) for part in parts]
    packed += [bytes(_PART.size)] * (MAX_PARTS - len(parts))
    return _EVENTS.pack(row.line, len(parts), 0) + b"".join(packed)


def build_task_set_firmware(
    catalogue: Catalogue, kernel: str, board: str, config: Mapping[str, str], *, events: int = 0, cores: int = 1
) -> TaskSetFirmware:
    """Builds the image that runs task sets. `events`: what it supports, as a value of `TaskSetFeatureLevel`.

    Raises BuildError, ConformanceError, or TaskSetCheckError where there is no such image.
    """
    if PAIR_SIGN in kernel:
        return _build_two_kernel_images(catalogue, kernel, board, config, events)
    benchmark = _benchmark_that_runs_task_sets(catalogue)
    kernel_entry, board_entry = catalogue.find_kernel(kernel), catalogue.find_board(board)
    if events >= TaskSetFeatureLevel.TIMERS and not _can_port_set_timer_task_priority(kernel_entry):
        raise TaskSetCheckError(
            f"{kernel}: the port cannot set the priority of the kernel's timer task, so no image can run a set with "
            "timers; choose another kernel, or analyse the set with --overheads."
        )
    if events >= TaskSetFeatureLevel.FANS and cores > 1:
        raise TaskSetCheckError(
            "On several cores no task of the image can release several tasks, or be released by several; check the set "
            "of each core by itself, or analyse it with --overheads."
        )
    settings = {**config, "param.events": str(int(events))} if events else config
    point = make_planned_point(benchmark, kernel_entry, board_entry, cores, WINDOW_MS, settings)
    if point.not_applicable is not None:
        raise TaskSetCheckError(f"The task set cannot be run: {point.not_applicable}.")
    if kernel_entry.facts.behaviour.switch_mode == "thread":
        raise TaskSetCheckError(
            f"{kernel_entry.facts.title} switches tasks in thread mode, and the cost of such switches cannot be "
            "fitted; analyse this set with --overheads, or check it with another kernel."
        )
    conformance = check_port_conformance(catalogue, point)
    conformance.require_port_conforms()
    built = build_measurement_point_image(catalogue, point)
    return TaskSetFirmware(
        point=point,
        build=built,
        board=board_entry.facts,
        kernel=kernel_entry.facts,
        clock_hz=point.clock_hz or board_entry.facts.clock.sys_hz,
        tick_hz=_tick_frequency_from_report(built, board_entry.facts, kernel_entry.facts, cores),
        max_tasks=benchmark.facts.tasks_per_core,
        priority_count=benchmark.facts.priorities,
        deviations=conformance.contract_deviation_reasons,
    )


def _build_two_kernel_images(
    catalogue: Catalogue, name: str, board: str, config: Mapping[str, str], events: int
) -> TaskSetFirmware:
    """Builds the images of two kernels, one for each core. Raises TaskSetCheckError if there are none."""
    first, second = (kernel.id for kernel, _, _ in split_kernel_pair_name(catalogue, name))
    if first != second:
        raise TaskSetCheckError(
            f"{name}: a set is analysed with one file of overheads, so both kernels must be the same; name one twice, "
            f"such as {first}{PAIR_SIGN}{first}."
        )
    if events >= TaskSetFeatureLevel.FANS:
        raise TaskSetCheckError(
            f"{name}: in the images of two kernels no task can release several tasks, or be released by several; check "
            "the set of each core by itself."
        )
    one_core = build_task_set_firmware(catalogue, first, board, config, events=events)
    point = add_second_kernel_to_measurement(catalogue, one_core.point, second, 0)
    if point.not_applicable is not None:
        raise TaskSetCheckError(f"The task set cannot be run: {point.not_applicable}.")
    other = build_measurement_point_image(catalogue, point.measurement_on_other_core())
    return replace(one_core, point=point, build=build_measurement_point_image(catalogue, point), other_build=other)


def _can_port_set_timer_task_priority(kernel: CatalogueEntry[Kernel]) -> bool:
    """Whether a kernel's port can set the priority of the kernel's timer task."""
    header = kernel.folder / "services" / "timer" / "port_timer.h"
    return header.is_file() and "#define PORT_TIMER_TASK_PRIORITY 1" in read_text(
        header, "the port of timers", TaskSetCheckError
    )


def _benchmark_that_runs_task_sets(catalogue: Catalogue) -> CatalogueEntry[Benchmark]:
    """Returns the benchmark whose image runs task sets."""
    benchmarks = [benchmark for benchmark in catalogue.benchmarks.values() if benchmark.facts.task_table]
    if len(benchmarks) != 1:
        raise TaskSetCheckError(
            f"{len(benchmarks)} benchmarks have task_table = true; exactly one in firmware/benchmarks/ must have it."
        )
    return benchmarks[0]


def _tick_frequency_from_report(built: BuiltImage, board: Board, kernel: Kernel, cores: int) -> int:
    """Returns the frequency of the kernel's tick, which the image reports as it starts."""
    machine = boot_machine_to_task_set_start(built.elf_path.read_bytes(), board, kernel, cores)
    match = re.search(rb"name=tick_hz value=(\d+)", machine.take_uart())
    if match is None:
        raise TaskSetCheckError(
            f"The image {built.elf_path} does not state its tick_hz; build it from this checkout's firmware."
        )
    return int(match[1])


def boot_to_task_set_start(firmware: TaskSetFirmware, image: bytes) -> VirtualBoardMachine:
    """Runs a task set's image on a virtual board up to the start of the task set, and sets the probes.
    Raises TaskSetCheckError if the window never opens.
    """
    other = firmware.other_build.elf_path.read_bytes() if firmware.other_build else None
    return boot_machine_to_task_set_start(image, firmware.board, firmware.kernel, firmware.core_count, other)


def boot_machine_to_task_set_start(
    image: bytes, board: Board, kernel: Kernel, cores: int = 1, other_image: bytes | None = None
) -> VirtualBoardMachine:
    """Runs the image on a virtual board up to the start of the task set, and sets the probes.
    `other_image` has the symbols of core 1's image, if that is another one.
    Raises TaskSetCheckError if the window never opens.
    """
    machine = make_board_at_reset(board, cores=cores)
    load_image_into_board(machine, image, "the image")
    views = [machine]
    if other_image is not None:
        images = enumerate((image, other_image))
        views = [make_single_core_board_view(machine, core, own, image, "the image", board) for core, own in images]
    with convert_simulator_errors(TaskSetCheckError):
        windows = [_set_kernel_observation_probes(view, kernel, cores // len(views)) for view in views]
        for _ in range(_SETUP_STEPS):
            machine.run(SETUP_CYCLES)
            if all(
                int.from_bytes(view.read(window, 4), "little") == 1 for view, window in zip(views, windows, strict=True)
            ):
                machine.take_events()
                return machine
    lines = machine.take_uart().decode("ascii", "replace").splitlines()
    reason = next(
        (escape_to_one_line(unquote(line)[:160]) for line in lines if " error " in line or " fault " in line), "nothing"
    )
    raise TaskSetCheckError(f"The image did not begin its measured window, with the message: {reason}.")


def _set_kernel_observation_probes(machine: VirtualBoardMachine, kernel: Kernel, cores: int) -> int:
    """Sets the probes of a kernel's image, and returns the address of the word that says that its window is open."""
    window = find_symbol_address(machine, WINDOW_SYMBOL)
    machine.watch_write(window, IDENT_WINDOW, True)
    machine.watch_exec(find_symbol_address(machine, "task_set_begin"), IDENT_BEGIN)
    machine.watch_exec(find_symbol_address(machine, "task_set_end"), IDENT_END)
    if machine.symbol(_SENT_SYMBOL) is not None:
        machine.watch_exec(find_symbol_address(machine, _SENT_SYMBOL), IDENT_SENT)
    for core, word in current_task_addresses(machine, kernel, cores).items():
        machine.watch_write(word, IDENT_CURRENT + core)
    watch_idle_code(machine, kernel)
    return window


def _replace_elf_object_bytes(image: bytearray, symbol: str, data: bytes) -> None:
    """Replaces the first bytes of an object in the ELF file."""
    try:
        elf = ElfFile(bytes(image))
        table_symbol = next((elf_symbol for elf_symbol in elf.symbols() if elf_symbol.name == symbol), None)
    except ValueError as cause:
        raise TaskSetCheckError(
            f"The image cannot be read as an ELF image ({cause}); delete its folder and build it again."
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
