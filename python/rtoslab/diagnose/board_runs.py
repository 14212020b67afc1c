"""Runs one image several times for a diagnosis, the same to the cycle.

`observe_first_run` is quick: it finds where start-up ends, the faults, the tasks. `record_run_history` sees every call,
switch and masked interval after start-up. `FirmwareRunReplay` stands at single cycles of the same run once more, for
call paths and memory.
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from rtoslab.base import RunError, SymbolError, UnmodelledFeatureWarning
from rtoslab.diagnose.kernel_services import ImageKernelServiceFunction, kernel_services_in_image
from rtoslab.diagnose.task_history import IDENT_ARGUMENTS, HistoryReader, TaskExecutionHistory
from rtoslab.instruments import (
    ObservationRequest,
    ObservedImage,
    ObservedMachine,
    ObservedRunRecording,
    ObservedRunSection,
    current_task_pointers,
    open_board_with_image,
    record_observed_run,
)
from rtoslab.targets import (
    EVENT,
    FIRST_EXTERNAL,
    IDENT_CURRENT,
    KIND_EXCEPTION_ENTER,
    KIND_EXCEPTION_EXIT,
    KIND_EXEC,
    KIND_WRITE,
    PENDSV,
    SVCALL,
    SYSTICK,
    Fault,
    VirtualBoardMachine,
    convert_simulator_errors,
    cores_in_default_handlers,
    fault_handler_entries,
    find_symbol_address,
    first_fault_handler_return_cycles,
    interrupt_controller_registers,
    priorities_of_enabled_interrupts,
    read_processor_fault,
    task_switching_exceptions,
    watch_idle_code,
)

_CHUNK_CYCLES: Final = 1_000_000
_IDENT_TOP: Final = 1
_FAULTS: Final = range(3, 7)
_SYST_CSR: Final = 0xE000_E010
_SYST_RVR: Final = 0xE000_E014
_SHPR3: Final = 0xE000_ED20
"""Armv7-M Architecture Reference Manual, DDI 0403E.e, B3.2 to B3.4; ARMv6-M has the same addresses."""
_SNAPSHOTS_MOST: Final = 64
_PARKED_LOOKS: Final = 32
_PARKED_STEP: Final = 97
_PARKED_BYTES: Final = 16
"""A loop that does nothing is no longer."""
_INTERVALS_MOST: Final = 2_000_000
"""As many masked intervals are kept whole: of 40 bytes each."""


@dataclass(slots=True)
class QuickImageRunObservations:
    """The observations of a first, quick run of an image. Times are cycles since reset."""

    start: int = 0
    """Where start-up ends: the first task runs, or, without a kernel, the first handler begins."""
    has_started: bool = False
    end: int = 0
    stop: str = ""
    detail: str = ""
    clock_hz: int = 0
    faults: list[tuple[int, int, int]] = field(default_factory=list)
    """Core, exception and first cycle of the handler."""
    returned: dict[tuple[int, int], int] = field(default_factory=dict)
    """Core and exception of the faults whose handler returned."""
    first_runs: dict[int, int] = field(default_factory=dict)
    """Control block of each task, and the cycle in which the kernel first named it as the running one."""
    tops: list[int] = field(default_factory=list)
    """Upper ends of stacks, as the kernel's own function was told them."""
    warnings: list[str] = field(default_factory=list)
    unhandled: str = ""
    priorities: dict[int, int] = field(default_factory=dict)
    """Of the interrupts that are enabled at the end: exception and priority."""
    instructions: tuple[int, ...] = ()
    tick_cycles: int | None = None
    """SysTick's period where it is driven by the core's clock."""

    @property
    def first_task_start_cycle(self) -> int:
        """Returns the cycle at which the kernel first named a task as running. Without tasks, the end of start-up."""
        return min(self.first_runs.values(), default=self.start)


def observe_first_run(subject: ObservedImage) -> QuickImageRunObservations:
    """Runs an image quickly to its end or a number of cycles, and returns its tasks, interrupts and faults. Raises
    RunError, SymbolError."""
    machine = open_board_with_image(subject)
    overview = QuickImageRunObservations()
    words = current_task_pointers(machine, subject.kernel, subject.cores)
    for core, address in words.items():
        machine.watch_write(address, IDENT_CURRENT + core)
    block = subject.kernel.memory.task_block if subject.kernel and subject.kernel.memory else None
    if block is not None and block.top_call and machine.symbol(block.top_call) is not None:
        machine.watch_exec(find_symbol_address(machine, block.top_call), _IDENT_TOP)
    machine.trace_exceptions(True)
    probes = subject.kernel.probes if subject.kernel else None
    reader = _DiagnosisOverviewEventReader(
        overview, subject, probes.values_that_mean_no_task if probes else frozenset(), bool(words)
    )
    # The length counts from where start-up ends.
    while (left := overview.start + subject.stretch.cycles - machine.cycle()) > 0:
        with convert_simulator_errors(RunError):
            stop = machine.run(min(_CHUNK_CYCLES, left))
        reader.add_events(machine.take_events())
        machine.take_uart()
        overview.stop, overview.detail = stop["reason"], stop["detail"]
        if stop["reason"] not in {"cycles", "watch"}:
            break
    overview.end, overview.clock_hz = machine.cycle(), machine.clock_hz()
    overview.warnings = list(machine.warnings())
    overview.unhandled = " ".join(cores_in_default_handlers(machine, subject.cores))
    overview.priorities = _interrupt_priorities(machine, subject)
    overview.tick_cycles = _systick_period_cycles(machine)
    overview.instructions = _instructions_by_core(machine, subject.cores)
    return overview


class _DiagnosisOverviewEventReader:
    """Adds the events of a diagnosed run to its overview."""

    def __init__(
        self, overview: QuickImageRunObservations, subject: ObservedImage, no_task: frozenset[int], has_tasks: bool
    ) -> None:
        """`no_task`: values of the kernel's current-task variable that name no task. `has_tasks`: whether this variable
        is known."""
        self._overview = overview
        self._no_task = no_task
        self._has_tasks = has_tasks
        switching = task_switching_exceptions(subject.kernel) if subject.kernel else frozenset()
        self._switching = sorted({SVCALL, PENDSV, *switching})

    def add_events(self, raw: bytes) -> None:
        """Adds the next chunk of packed events to the overview."""
        overview = self._overview
        overview.faults += fault_handler_entries(raw)
        overview.returned |= first_fault_handler_return_cycles(raw)
        events = np.frombuffer(raw, dtype=EVENT)
        tops = (events["kind"] == KIND_EXEC) & (events["id"] == _IDENT_TOP)
        overview.tops += events["value"][tops].tolist()
        writes = events[(events["kind"] == KIND_WRITE) & (events["id"] >= IDENT_CURRENT)]
        for block, cycle in zip(writes["value"].tolist(), writes["cycle"].tolist(), strict=True):
            if block and block not in self._no_task:
                overview.first_runs.setdefault(block, cycle)
        if not overview.has_started:
            self._look_for_end_of_start_up(events)

    def _look_for_end_of_start_up(self, events: "np.ndarray[tuple[int], np.dtype[np.void]]") -> None:
        """Sets the cycle at which start-up ends, if it is among these events."""
        if self._has_tasks:
            first = min(self._overview.first_runs.values(), default=None)
            starts = (events["kind"] == KIND_EXCEPTION_EXIT) & np.isin(events["id"], self._switching)
            starts &= events["cycle"] >= (first if first is not None else np.iinfo(np.uint64).max)
        else:
            starts = (events["kind"] == KIND_EXCEPTION_ENTER) & ~np.isin(events["id"], list(_FAULTS))
        cycles = events["cycle"][starts]
        if len(cycles):
            self._overview.start, self._overview.has_started = int(cycles.min()), True


def _interrupt_priorities(machine: VirtualBoardMachine, subject: ObservedImage) -> dict[int, int]:
    """Returns the priority byte of each enabled interrupt of core 0, by exception number."""
    lines = subject.board.irq.lines
    words = machine.read_registers(0, interrupt_controller_registers(lines))
    priorities = {
        FIRST_EXTERNAL + line: level for line, level in priorities_of_enabled_interrupts(words, lines).items()
    }
    system, control = machine.read_registers(0, [_SHPR3, _SYST_CSR])
    if (control or 0) & 2:
        priorities[SYSTICK] = (system or 0) >> 24
    return priorities


def _systick_period_cycles(machine: VirtualBoardMachine) -> int | None:
    """Returns the period of SysTick in cycles. None if it is off or has another clock than the core."""
    control, reload = machine.read_registers(0, [_SYST_CSR, _SYST_RVR])
    return reload + 1 if control is not None and reload and control & 7 == 7 else None


def _instructions_by_core(machine: VirtualBoardMachine, cores: int) -> tuple[int, ...]:
    """Returns the number of instructions that each core has executed."""
    return tuple(core["instructions"] for core in machine.stats()["cores"][:cores])


@dataclass(frozen=True, slots=True)
class RecordedRunHistory:
    """A run in which everything after start-up was recorded: the history of its tasks, calls and handlers."""

    recording: ObservedRunRecording
    history: TaskExecutionHistory
    services: Mapping[int, ImageKernelServiceFunction]


def record_run_history(subject: ObservedImage, overview: QuickImageRunObservations) -> RecordedRunHistory:
    """Runs an image again and records its tasks, calls and handlers from the first task on."""
    services: dict[int, ImageKernelServiceFunction] = {}
    words: dict[int, int] = {}
    levels = sorted(set(overview.priorities.values()))

    def make_observation_request(machine: ObservedMachine) -> ObservationRequest:
        """Sets probes on the kernel's functions and returns what else the virtual board must record."""
        if subject.kernel is not None:
            services.update(kernel_services_in_image(subject.kernel, machine.symbol))
        words.update(current_task_pointers(machine, subject.kernel, subject.cores))
        if words and subject.kernel is not None:
            watch_idle_code(machine, subject.kernel)
        for index, service in services.items():
            machine.watch_call(service.address, IDENT_ARGUMENTS + index, service.has_third)
        return ObservationRequest(
            priorities=tuple(levels),
            keep_intervals=_INTERVALS_MOST if levels else 0,
            calls={service.address: index for index, service in services.items()},
            writes={address: IDENT_CURRENT + core for core, address in words.items()},
            threads_and_locks=True,
            exceptions=True,
        )

    start = overview.first_task_start_cycle
    stretch = ObservedRunSection(start=str(start), cycles=max(1, overview.end - start))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnmodelledFeatureWarning)  # the overview has them
        recording = record_observed_run(replace(subject, expected=None, stretch=stretch), make_observation_request)
    return RecordedRunHistory(recording, HistoryReader(recording, services, words).read_history(), services)


class FirmwareRunReplay:
    """A repetition of an image's run, which can be moved to any cycle to read memory and call paths there."""

    def __init__(self, subject: ObservedImage) -> None:
        self.machine = open_board_with_image(subject)
        self._snapshots = [(self.machine.cycle(), self.machine.snapshot())]
        self._spacing = _CHUNK_CYCLES

    def go_to_cycle(self, cycle: int) -> VirtualBoardMachine:
        """Moves the run to a cycle, or to the first instruction after it. Returns the board in that state."""
        if cycle < self.machine.cycle():
            self.machine.restore(next(board for taken, board in reversed(self._snapshots) if taken <= cycle))
        while (left := cycle - self.machine.cycle()) > 0:
            with convert_simulator_errors(RunError):
                stop = self.machine.run(min(left, self._spacing))
            self.machine.take_events()
            if stop["reason"] not in {"cycles", "watch"}:
                break
            if self.machine.cycle() >= self._snapshots[-1][0] + self._spacing:
                self._store_snapshot()
        return self.machine

    def _store_snapshot(self) -> None:
        """Stores a snapshot of the board for a later return. Drops every second snapshot when there are many."""
        self._snapshots.append((self.machine.cycle(), self.machine.snapshot()))
        if len(self._snapshots) > _SNAPSHOTS_MOST:
            self._snapshots = self._snapshots[::2]
            self._spacing *= 2

    def is_in_endless_empty_loop(self, core: int) -> bool:
        """Whether a core executes nothing but an endless empty loop. Runs on for some cycles to find out."""
        registers = self.machine.registers(core)
        first = registers.pop("pc")
        for _ in range(_PARKED_LOOKS):
            with convert_simulator_errors(RunError):
                self.machine.run(_PARKED_STEP)
            now = self.machine.registers(core)
            if abs(now.pop("pc") - first) > _PARKED_BYTES or now != registers:
                return False
        return True

    def read_fault_at_handler_entry(self, core: int, exception: int, cycle: int) -> Fault:
        """Returns the fault whose handler begins in this cycle, with the state of its core."""
        return read_processor_fault(self.go_to_cycle(cycle), core, exception, cycle)

    def read_word(self, address: int) -> int | None:
        """Returns a 32-bit word of memory at the run's present cycle. None where there is no memory."""
        try:
            with convert_simulator_errors(SymbolError):
                return int.from_bytes(self.machine.read(address, 4), "little")
        except (SymbolError, OverflowError):
            return None
