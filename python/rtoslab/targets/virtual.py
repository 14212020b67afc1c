"""Runs a benchmark image on the virtual board, from reset to its end record, and observes its window from outside.

Phases: set-up (until the image opens its window), window (statistics, profile and events on), sending (until the image
says it is done). Each has a limit in virtual time, so an image that hangs is an error after seconds.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rtoslab.base import RunError, SymbolError, without_thumb_bit
from rtoslab.catalogue import PAIR_CORES, Board, Kernel
from rtoslab.intake import compilers_named_in_image
from rtoslab.targets.benchmark_symbols import DONE_SYMBOL, SENDING_LIMIT_S, SETUP_LIMIT_S, WINDOW_SYMBOL
from rtoslab.targets.board import (
    apply_timing_settings_to_virtual_board,
    convert_simulator_errors,
    find_symbol_address,
    first_symbol_per_address,
    load_image_into_board,
    make_board_at_reset,
    pin_number_in_events,
)
from rtoslab.targets.board_state import (
    FLOAT_CONTEXTS,
    ISR_URGENCY,
    is_timing_setting_unchanged_by_write,
    read_board_settings,
    read_systick_period_in_cycles,
    timing_setting_registers,
)
from rtoslab.targets.core_view import end_symbol_address_of_both_images, make_single_core_board_view
from rtoslab.targets.current_task import (
    OmittedTaskPointerWriteInserter,
    TaskSwitchEventFilter,
    last_running_task_of_each_core,
)
from rtoslab.targets.event_kinds import (
    IDENT_CALL,
    IDENT_CURRENT,
    IDENT_KEEP,
    IDENT_MARK,
    IDENT_NESTING,
    IDENT_SETTING,
    IDENT_WINDOW,
)
from rtoslab.targets.events import EVENT
from rtoslab.targets.exceptions import FIRST_EXTERNAL, task_switching_exceptions
from rtoslab.targets.handlings import UNKNOWN, HandlerRunReader, attach_handler_probes
from rtoslab.targets.heap_pieces import count_free_heap_blocks
from rtoslab.targets.intervals import decode_measured_intervals_from_events
from rtoslab.targets.machine import VirtualBoardMachine
from rtoslab.targets.marks import IntervalMarkerAddress, read_interval_marker_addresses
from rtoslab.targets.observe import MeasurementWindowObservations, MeasurementWindowObserver
from rtoslab.targets.own_code import executed_benchmark_functions, instructions_from_markers_to_calls
from rtoslab.targets.own_floats import functions_with_float_code
from rtoslab.targets.profiles import (
    FunctionCycles,
    compiler_clone_addresses,
    count_blocking_calls,
    count_service_calls,
    cycles_by_function,
    load_of_each_core,
)
from rtoslab.targets.steps import MOST_EVENTS, MOST_LATENCY_EVENTS
from rtoslab.targets.task_words import current_task_addresses, idle_code_ranges, watch_idle_code
from rtoslab.targets.watch import StepRecorder

if TYPE_CHECKING:
    from rtoslab._sim import Stats, Stop
else:
    Stats = Any  # read back by its annotation (`store.evidence_file`), where it is JSON already

WINDOW_SLACK_S: Final = 1.0
CHUNK_CYCLES: Final = 2_000_000
CLOCK_TOLERANCE: Final = 1e-3
"""The tolerance of the clock that an image names, which may be rounded. A wrong factor of a PLL is further off."""
KEEP_SYMBOL: Final = "bench_keep"
TASKS_SYMBOL: Final = "tasks"
"""The runner's table of the benchmark's tasks (core/run/records.c)."""
URGENCY_SYMBOL: Final = "bench_isr_urgency"
"""Its value is what the port says of the urgency of interrupts that call the kernel."""

Progress = Callable[[str, float], None]
"""(phase, part of it done from 0 to 1)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class VirtualBenchmarkRunRequest:
    """The description of a benchmark run on a virtual board: the image, the board, the kernel, what to watch."""

    image: bytes
    name: str
    board: Board
    kernel: Kernel
    clock_hz: int
    """The clock that the image sets. Limits in virtual time are computed with it."""
    cores: int
    window_ms: int
    watched_services: tuple[str, ...] = ()
    settings: Mapping[str, int] = field(default_factory=dict)
    latency: bool = False
    """The image has marked intervals to observe."""
    handlers: bool = False
    """The kernel's own handlers are what is measured."""
    stamping_exception: int | None = None
    """The number of the exception whose events start stamped intervals. None: there are none."""
    sending_limit_s: float = SENDING_LIMIT_S
    """The limit for everything after the window."""
    core: int | None = None
    """The core that runs the image beside another image on the other core. None: there is no other image."""
    started: bytes | None = None
    """Of two images the one that the board starts with, which contains both."""
    sender: bytes | None = None
    """The image of the other core, where the intervals of series begin that end on this one. None: all begin here."""


@dataclass(slots=True)
class RunOutput:
    """The output of a run of a benchmark image. On a real board only `uart` is filled."""

    uart: bytes
    failure: str | None = None
    """Why the run is void, if the target itself knows. The decoder may know more."""
    observed: MeasurementWindowObservations | None = None
    stats: Stats | None = None
    functions: tuple[FunctionCycles, ...] = ()
    warnings: tuple[str, ...] = ()


def run_virtual_benchmark(
    job: VirtualBenchmarkRunRequest, progress: Progress = lambda *_: None, machine: VirtualBoardMachine | None = None
) -> RunOutput:
    """Runs a benchmark image to its end on a virtual board and observes its measurement window (the time in which the
    benchmark counts). A failure of the image is in the output's `failure`, and raises nothing."""
    machine = machine or make_board_at_reset(job.board, cores=job.cores if job.core is None else PAIR_CORES)
    apply_timing_settings_to_virtual_board(machine, job.settings)
    started = job.started or job.image
    load_image_into_board(machine, started, job.name)
    if job.core is None:
        return _ObservedBenchmarkRun(job, machine, progress, None).run_benchmark_and_collect_output()
    shown = make_single_core_board_view(machine, job.core, job.image, started, job.name, job.board)
    return _ObservedBenchmarkRun(
        job, shown, progress, end_symbol_address_of_both_images(machine)
    ).run_benchmark_and_collect_output()


class _ObservedBenchmarkRun:
    """A run of one benchmark image, with its probes and the readers of their events."""

    def __init__(
        self,
        job: VirtualBenchmarkRunRequest,
        machine: VirtualBoardMachine,
        progress: Progress,
        done_address: int | None,
    ) -> None:
        """`done_address`: the end of the run. None: that of the image."""
        self.job = job
        self.machine = machine
        self.progress = progress
        self.done_address = done_address
        self.uart = bytearray()
        self.observer: MeasurementWindowObserver | None = None
        self.current_words: dict[int, int] = {}
        self.nesting_words: dict[int, int] = {}
        self.current: dict[int, int] = {}
        self.events = bytearray()
        """The events of the window of a latency benchmark."""
        most = MOST_LATENCY_EVENTS if job.latency else MOST_EVENTS
        pin = pin_number_in_events(job.board.pins.out)
        self.watch = StepRecorder(machine, job.image, job.kernel, job.cores, pin, most)
        self.top_word: int | None = None
        self.handlers: HandlerRunReader | None = None
        self.values_that_mean_no_task = job.kernel.probes.values_that_mean_no_task if job.kernel.probes else frozenset()
        self.omitted_writes = OmittedTaskPointerWriteInserter(job.kernel, {})
        self.switches = TaskSwitchEventFilter(job.kernel)
        self.state: dict[str, int] = {}
        # Two cores of one kernel execute two to six times as slowly beside words that are watched. There only the state
        # as the window closes is compared.
        self.settings = timing_setting_registers(job.board) if job.cores == 1 else {}
        self.setting_writes: Counter[str] = Counter()
        self.tick_cycles: int | None = None
        self.task_words: tuple[int, ...] = ()

    def run_benchmark_and_collect_output(self) -> RunOutput:
        """Runs set-up, measurement window and sending, and returns the output. A failure is in the output."""
        output = RunOutput(b"")
        try:
            self._set_virtual_board_probes()
            self._run_to_measurement_window_state(1, "set-up", SETUP_LIMIT_S)
            self._begin_measurement_window_observation()
            self._run_to_measurement_window_state(2, "window", self.job.window_ms / 1000 + WINDOW_SLACK_S)
            self._finish_measurement_window_observations(output)
            self._run_until_benchmark_records_sent()
        except (RunError, SymbolError) as cause:
            output = RunOutput(b"", failure=str(cause))
        output.uart = bytes(self.uart)
        output.warnings = tuple(self.machine.warnings())
        return output

    def _set_virtual_board_probes(self) -> None:
        """Sets the probes for the whole run: on the window's state, the end of the run, watched kernel functions and
        interval marks."""
        with convert_simulator_errors(RunError):
            self.machine.watch_write(find_symbol_address(self.machine, WINDOW_SYMBOL), IDENT_WINDOW, True)
            done = find_symbol_address(self.machine, DONE_SYMBOL) if self.done_address is None else self.done_address
            self.machine.until(without_thumb_bit(done))
            for index, service in enumerate(self.job.watched_services):
                self._set_probes_at_kernel_service_end(IDENT_CALL + index, self.job.kernel.symbols.get(service, ()))
            self.watch.set_kernel_function_probes()
            # Before the window, too: a call that an exception cut off is seen twice.
            self.machine.trace_exceptions(True)
            self.nesting_words = self._critical_nesting_count_addresses()
            for core, address in self.nesting_words.items():
                self.machine.watch_write(address, IDENT_NESTING + core)
            for mark in self._interval_marker_addresses() if self.job.latency else ():
                self.machine.watch_exec(mark.address, IDENT_MARK + 2 * mark.series + mark.is_end)
            self._watch_sample_storing_function()
            for index, address in enumerate(self.settings):
                self.machine.watch_write(address, IDENT_SETTING + index)
            self.current_words = current_task_addresses(self.machine, self.job.kernel, self.job.cores)
            for core, address in self.current_words.items():
                self.machine.watch_write(address, IDENT_CURRENT + core)
            watch_idle_code(self.machine, self.job.kernel)
            if self.job.handlers:
                self.top_word = attach_handler_probes(self.machine, self.job.kernel)

    def _interval_marker_addresses(self) -> list[IntervalMarkerAddress]:
        """Returns the begin and end marks of the measured intervals. If messages come from the other core's image, the
        begins are in that image."""
        own = read_interval_marker_addresses(self.job.image, self.job.name)
        if self.job.sender is None:
            return list(own)
        other = read_interval_marker_addresses(self.job.sender, self.job.name)
        ends = [mark for mark in own if mark.is_end or mark.series == 0]
        return ends + [mark for mark in other if not mark.is_end and mark.series]

    def _watch_sample_storing_function(self) -> None:
        """Sets a probe on the runner's function that stores a sample."""
        keep_address = self.machine.symbol(KEEP_SYMBOL) if self.job.latency else None
        if keep_address is not None:
            self.machine.watch_call(without_thumb_bit(keep_address), IDENT_KEEP)

    def _set_probes_at_kernel_service_end(self, ident: int, names: tuple[str, ...]) -> None:
        """Sets probes with the number `ident` on the kernel functions (`names`) in which a service ends."""
        for name in names:  # none: nothing in the image calls it, and the proofs will say so
            whole = self.machine.symbol(name)
            for address in (
                [without_thumb_bit(whole)]
                if whole is not None
                else compiler_clone_addresses(name, self.machine.symbols())
            ):
                self.machine.watch_exec(address, ident)

    def _critical_nesting_count_addresses(self) -> dict[int, int]:
        """Returns, for each core, the address of the kernel's count of nested critical sections. Empty if the kernel
        has none."""
        critical = self.job.kernel.critical
        base = next(filter(None, map(self.machine.symbol, critical.nesting if critical else ())), None)
        if critical is None or base is None:
            return {}
        return {core: base + core * critical.stride_bytes for core in range(self.job.cores)}

    def _begin_measurement_window_observation(self) -> None:
        """Reads the board's state and starts all observations of the measurement window."""
        self._require_expected_core_clock()
        before = self.switches.filter_events(self._take_new_board_events(), is_end=True)
        self.setting_writes.clear()
        self.state = read_board_settings(self.machine, self.job.board, self.job.cores)
        self.tick_cycles = read_systick_period_in_cycles(self.machine)
        self.task_words = self._read_benchmark_task_table_words()
        self.machine.reset_stats()
        self.machine.profile(True)
        self.machine.trace_exceptions(True)
        now = {core: self._read_word(address) for core, address in self.current_words.items()}
        self.current = last_running_task_of_each_core(before, self.values_that_mean_no_task, now)
        opened = self.machine.cycle()
        depths = {core: (opened, self._read_word(word)) for core, word in self.nesting_words.items()}
        self.observer = MeasurementWindowObserver(self.job.watched_services, self.current, depths)
        self.watch.begin_measurement_window_recording(before, self.current)
        urgency = self.machine.symbol(URGENCY_SYMBOL)
        self.state |= {} if urgency is None else {ISR_URGENCY: urgency}
        self.state |= count_free_heap_blocks(self.machine, self.watch.read_word, self.job.image, self.job.kernel)
        if self.job.latency:
            self.machine.trace_pins(True)
        if self.job.handlers:
            top = UNKNOWN if self.top_word is None else self._read_word(self.top_word)
            switching = task_switching_exceptions(self.job.kernel)
            in_thread = self.job.kernel.behaviour.switch_mode == "thread"
            self.handlers = HandlerRunReader(now.get(0, 0), top, switching, in_thread=in_thread)

    def _read_benchmark_task_table_words(self) -> tuple[int, ...]:
        """Returns the words of the runner's table of tasks. Empty if the image has no table of this name, or several
        ones."""
        tables = {(address, size) for address, size, name in self.machine.symbols() if name == TASKS_SYMBOL}
        if len(tables) != 1:
            return ()
        ((address, size),) = tables
        return tuple(self._read_word(address + offset) for offset in range(0, size - 3, 4))

    def _require_expected_core_clock(self) -> None:
        """Raises RunError if the core's clock is not the expected one.
        Nothing else shows it: a board's clocks scale together.
        """
        by_registers, clocks = self.machine.clock_hz(), self.job.clock_hz
        if abs(by_registers - clocks) > CLOCK_TOLERANCE * clocks:
            raise RunError(
                f"The image set the core to {by_registers} Hz by the board's registers but is built for {clocks} "
                "Hz; correct its clock set-up, or the clock of the build."
            )

    def _finish_measurement_window_observations(self, output: RunOutput) -> None:
        """Ends the observations of the measurement window and stores them in `output`."""
        assert self.observer is not None
        stats = self.machine.stats()
        self._pass_events_to_readers(is_end=True)
        cores = range(self.job.cores)
        profiles = {core: self.machine.take_profile(core) for core in cores}
        self.machine.profile(False)
        output.stats = {"cores": stats["cores"][: self.job.cores], "locks": stats["locks"]}
        output.observed = self.observer.window_observations(
            {core: dict(stats["cores"][core]["exceptions"]) for core in cores}
        )
        idling = idle_code_ranges(self.machine, self.job.kernel)
        symbols = self.machine.symbols()
        output.functions = cycles_by_function(profiles, symbols, self.job.kernel, idling)
        read = self.machine.read
        output.observed.own = executed_benchmark_functions(
            profiles, symbols, self.job.kernel, idling, self.job.image, read
        )
        if self.job.latency:
            own = output.observed.own
            output.observed.call_distance = instructions_from_markers_to_calls(
                own, self._interval_marker_addresses(), symbols, read
            )
        output.observed.compiler = compilers_named_in_image(self.job.image)
        if any(name.startswith("fpu") for name in self.state):
            output.observed.own_floats = functions_with_float_code(self.job.image)
        output.observed.calls = count_service_calls(output.functions, self.job.kernel)
        slept = {core: stats["cores"][core]["sleep_cycles"] for core in cores}
        whole = {core: stats["cores"][core]["cycles"] for core in cores}
        output.observed.loads = load_of_each_core(output.functions, slept, whole)
        self.watch.store_recorded_benchmark_steps(output.observed)
        floats = any(stats["cores"][core]["float_frames"] for core in cores)
        output.observed.state = dict(sorted({**self.state, FLOAT_CONTEXTS: int(floats)}.items()))
        closing = read_board_settings(self.machine, self.job.board, self.job.cores)
        output.observed.closing_state = {
            name: value for name, value in closing.items() if value != self.state.get(name)
        }
        output.observed.setting_writes = dict(sorted(self.setting_writes.items()))
        output.observed.tick_cycles = self.tick_cycles
        output.observed.task_words = (self.task_words, self._read_benchmark_task_table_words())
        output.observed.waits = count_blocking_calls(output.functions, self.job.kernel, cores)
        self.machine.trace_exceptions(False)
        if self.job.latency:
            self.machine.trace_pins(False)
            pin = pin_number_in_events(self.job.board.pins.out)
            stamping = self.job.stamping_exception
            intervals = decode_measured_intervals_from_events(
                bytes(self.events), self.job.watched_services, self.current, pin, stamping, self._find_deferred_tick()
            )
            output.observed.intervals = intervals
        self.observer = None
        if self.handlers is not None:
            output.observed.handled = self.handlers.runs

    def _find_deferred_tick(self) -> int | None:
        """Returns the number of the exception in which the kernel does a tick's work, if SysTick's handler does not."""
        probes = self.job.kernel.probes
        line = probes.tick_lines.get(self.job.board.chip) if probes is not None else None
        return None if line is None else FIRST_EXTERNAL + line

    def _pass_events_to_readers(self, *, is_end: bool = False) -> None:
        """Passes the board's new events to all readers."""
        assert self.observer is not None
        seen = self._take_new_board_events()
        if self.handlers is not None:
            self.handlers.add_events(seen)
        fresh = self.switches.filter_events(seen, is_end=is_end)
        self.observer.add_events(fresh)
        self.watch.add_events(fresh)
        if self.job.latency:
            self.events += fresh

    def _take_new_board_events(self) -> bytes:
        """Returns the new events. Further arguments of calls, and writes of clock and cache settings, are counted and
        removed.

        Not counted are writes that leave the setting as it was when the window opened, if the register also contains
        bits of the running task.
        """
        taken = self.watch.call_arguments.extract_further_call_argument_events(self.machine.take_events())
        packed = self.omitted_writes.filter_events(taken)
        if not self.settings:
            return packed
        events = np.frombuffer(packed, dtype=EVENT)
        numbers = events["id"].astype(np.int32) - IDENT_SETTING
        is_setting = (numbers >= 0) & (numbers < len(self.settings))
        if not is_setting.any():
            return packed
        names = list(self.settings.values())
        written = zip(numbers[is_setting].tolist(), events["value"][is_setting].tolist(), strict=True)
        self.setting_writes.update(
            names[number]
            for number, word in written
            if not is_timing_setting_unchanged_by_write(names[number], word, self.state)
        )
        return events[~is_setting].tobytes()

    def _run_to_measurement_window_state(self, state: int, phase: str, limit_s: float) -> None:
        """Runs until the image sets its window to this state (1 opened, 2 closed). Raises RunError if it ends, hangs or
        sets another state."""
        while True:
            stop = self._run_to_watched_write_or_end(phase, limit_s)
            if stop["reason"] == "until":
                raise RunError(f"The image ended during its {phase}, before the end of the measured window.")
            window = self._read_word(find_symbol_address(self.machine, WINDOW_SYMBOL))
            if window == state:
                return
            if window != 0:
                raise RunError(f"The image set its window state to {window} during its {phase}.")

    def _run_until_benchmark_records_sent(self) -> None:
        """Runs until the image has sent all its records. Raises RunError if it opens another window."""
        while self._run_to_watched_write_or_end("sending", self.job.sending_limit_s)["reason"] != "until":
            if self._read_word(find_symbol_address(self.machine, WINDOW_SYMBOL)) == 1:
                raise RunError("The image began a second window, but this version measures one.")

    def _run_to_watched_write_or_end(self, phase: str, limit_s: float) -> "Stop":
        """Runs until a watched word is written or the image ends, within a limit of virtual time. Raises RunError for
        any other end."""
        start = self.machine.cycle()
        limit = int(limit_s * self.job.clock_hz)
        while (spent := self.machine.cycle() - start) < limit:
            with convert_simulator_errors(RunError):
                stop = self.machine.run(min(CHUNK_CYCLES, limit - spent))
            self.uart += self.machine.take_uart()
            if self.observer is not None and stop["reason"] != "watch":
                self._pass_events_to_readers()
            self.progress(phase, min(1.0, spent / limit))
            if stop["reason"] in {"watch", "until"}:
                return stop
            if stop["reason"] != "cycles":
                raise RunError(f"The virtual board stopped during {phase} ({stop['reason']}): {stop['detail']}")
        raise RunError(
            f"The image did not complete its {phase} within {limit_s:g} s of virtual time; "
            f"{self._current_functions_of_cores()}"
        )

    def _current_functions_of_cores(self) -> str:
        """Returns the function in which each core is, as the end of an error sentence."""
        names = {address: (size, name) for address, size, name in first_symbol_per_address(self.machine.symbols())}
        parts = []
        for core in range(self.job.cores):
            pc = self.machine.registers(core).get("pc", 0)
            inside = next(
                (name for address, (size, name) in names.items() if address <= pc < address + max(size, 2)),
                "no function",
            )
            parts.append(f"core {core} was at {pc:#010x} in {inside}")
        return ", ".join(parts) + "."

    def _read_word(self, address: int) -> int:
        """Returns a word of the board's memory."""
        return int.from_bytes(self.machine.read(address, 4), "little")
