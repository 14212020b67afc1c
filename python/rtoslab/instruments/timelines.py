"""Tasks, handlers, kernel calls, spinlocks and pins in a section of the run, as spans on named tracks.

Nothing is compiled into the image for it: a switch is seen where a handler returns to another thread, a task's name is
read from its control block as a debugger reads it, calls are followed on the shadow stack."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from rtoslab.base import without_thumb_bit
from rtoslab.instruments.observed_machine import ObservedMachine
from rtoslab.instruments.session import (
    ObservationRequest,
    ObservedRunRecording,
    Progress,
    find_early_observation_end_reason,
    record_observed_run,
)
from rtoslab.instruments.subject import ObservedImage
from rtoslab.instruments.tasks import current_task_pointers, task_names_by_control_block
from rtoslab.targets import (
    IDENT_CURRENT,
    KIND_CALL,
    KIND_EXCEPTION_ENTER,
    KIND_EXCEPTION_EXIT,
    KIND_LOCK_BUSY,
    KIND_LOCK_FREE,
    KIND_LOCK_TAKEN,
    KIND_PIN,
    KIND_RETURN,
    KIND_THREAD,
    KIND_WRITE,
    first_symbol_per_address,
    unpack_events,
)

TASKS: Final = "tasks"
HANDLERS: Final = "interrupts"
CALLS: Final = "kernel calls"
WAITS: Final = "spinlock waits"
LOCKS: Final = "spinlocks"


@dataclass(frozen=True, slots=True)
class TimelineTrack:
    """A line of a timeline: a core, a task or a spinlock."""

    group: str
    name: str


@dataclass(frozen=True, slots=True)
class TimelineInterval:
    """Something that lasted for a time: a task's turn, a handler, a call, a held lock. Cycles since reset."""

    track: TimelineTrack
    name: str
    start: int
    end: int
    facts: Mapping[str, int | str] = field(default_factory=dict)
    ended: bool = True
    """False if it was still going on at the end of the observed span."""


@dataclass(frozen=True, slots=True)
class PinEdge:
    """A change of a pin's level, with its cycle."""

    cycle: int
    pin: str
    level: int


@dataclass(frozen=True, slots=True)
class Timeline:
    """What ran when in a section of an image's run: all spans and pin edges."""

    label: str
    clock_hz: int
    start: int
    end: int
    spans: tuple[TimelineInterval, ...]
    edges: tuple[PinEdge, ...]
    unhandled: str = ""
    """Sentences about cores that ended in a handler that nobody wrote."""
    cut: str = ""
    """Why it ended before its end, as a clause. Empty if it did not."""

    def spans_of_timeline_track(self, group: str, name: str) -> tuple[TimelineInterval, ...]:
        """Returns the spans of one track, by the track's group and name."""
        return tuple(span for span in self.spans if span.track == TimelineTrack(group, name))


def record_timeline(subject: ObservedImage, progress: Progress = lambda *_: None) -> Timeline:
    """Runs an image and returns its timeline: tasks, handlers, kernel calls, locks and pins. Raises RunError,
    ImageFileError, SymbolError."""
    services: dict[int, str] = {}
    words: dict[int, int] = {}

    def make_observation_request(machine: ObservedMachine) -> ObservationRequest:
        """Returns what the virtual board must record: kernel calls, tasks, locks, exceptions and pins."""
        kernel = subject.kernel
        names = sorted({name for many in kernel.symbols.values() for name in many}) if kernel else []
        calls = {}
        for name in names:
            address = machine.symbol(name)
            if address is not None and not name.startswith("isr_"):
                calls[without_thumb_bit(address)] = len(services)
                services[len(services)] = name
        words.update(current_task_pointers(machine, kernel, subject.cores))
        writes = {address: IDENT_CURRENT + core for core, address in words.items()}
        return ObservationRequest(calls=calls, writes=writes, threads_and_locks=True, exceptions=True, pins=True)

    recording = record_observed_run(subject, make_observation_request, progress)
    return _TimelineBuilder(recording, services, words).make_timeline()


class _TimelineBuilder:
    """Builds the spans of a timeline from recorded events, in order of time."""

    def __init__(self, recording: ObservedRunRecording, services: Mapping[int, str], words: Mapping[int, int]) -> None:
        """`services`: number of a call probe -> kernel service. `words`: core -> address of the kernel's current-task
        variable."""
        self.recording = recording
        self.services = services
        self.start, self.end = recording.start_cycle, recording.end_cycle
        self.spans: list[TimelineInterval] = []
        self.edges: list[PinEdge] = []
        self.current = {core: recording.words_at_start.get(address, 0) for core, address in words.items()}
        blocks = {value for _, value, _, _, kind, *_ in unpack_events(recording.events) if kind == KIND_WRITE}
        probes = recording.subject.kernel.probes if recording.subject.kernel else None
        self.values_that_mean_no_task = probes.values_that_mean_no_task if probes else frozenset()
        self.names = task_names_by_control_block(
            recording, {*self.current.values(), *blocks} - self.values_that_mean_no_task
        )
        self.functions = {address: name for address, _, name in first_symbol_per_address(recording.symbols)}
        self.running: dict[int, tuple[str, int]] = {}
        """Core -> the task it runs, since when."""
        self.handlers: dict[int, list[tuple[str, int, int]]] = {core: [] for core in range(recording.subject.cores)}
        self.calls: dict[TimelineTrack, list[tuple[int, int, int]]] = {}
        """Calls in progress: identifier, start, first argument."""
        self.held: dict[int, tuple[int, int]] = {}
        self.waiting: dict[tuple[int, int], int] = {}

    def make_timeline(self) -> Timeline:
        """Returns the timeline made of all recorded events."""
        steps = {
            KIND_WRITE: self._handle_current_task_write, KIND_THREAD: self._handle_task_switch,
            KIND_EXCEPTION_ENTER: self._handle_exception_entry, KIND_EXCEPTION_EXIT: self._handle_exception_return,
            KIND_CALL: self._handle_kernel_call, KIND_RETURN: self._handle_kernel_return,
            KIND_LOCK_BUSY: self._handle_lock_wait_begin, KIND_LOCK_TAKEN: self._handle_lock_taken,
            KIND_LOCK_FREE: self._handle_lock_released,
            KIND_PIN: self._handle_pin_change,
        }  # fmt: skip
        for cycle, value, pc, ident, kind, core, _ in unpack_events(self.recording.events):
            if kind in steps and (cycle >= self.start or kind in {KIND_THREAD, KIND_PIN}):
                steps[kind](core, cycle, ident, value, pc)
        self._end_open_timeline_spans()
        self.spans.sort(key=lambda span: (span.start, -span.end, span.track.group, span.track.name))
        subject = self.recording.subject
        return Timeline(
            subject.label, self.recording.clock_hz, self.start, self.end, tuple(self.spans), tuple(self.edges),
            self.recording.unhandled, find_early_observation_end_reason(self.recording),
        )  # fmt: skip

    def _add_timeline_interval(
        self, track: TimelineTrack, name: str, start: int, end: int, *, ended: bool = True, **facts: int | str
    ) -> None:
        """Adds a span from cycle `start` to `end`, cut to the observed section. `facts` are shown with it."""
        start = max(start, self.start)
        if end > start:
            self.spans.append(TimelineInterval(track, name, start, end, facts, ended))

    def _handle_current_task_write(self, core: int, cycle: int, ident: int, value: int, pc: int) -> None:  # noqa: ARG002
        """Handles a write to the kernel's pointer to the current task. `value` is the task's control block."""
        on = ident - IDENT_CURRENT
        if value not in self.values_that_mean_no_task:
            self.current[on] = value
        elif on in self.running:
            self._add_timeline_interval(TimelineTrack(f"core {on}", TASKS), *self.running.pop(on), cycle)

    def _handle_task_switch(self, core: int, cycle: int, ident: int, value: int, pc: int) -> None:  # noqa: ARG002
        """Handles a task switch: ends one task's span and begins another's."""
        name = self.names.get(self.current.get(core, 0)) or f"thread {value} ({self.functions.get(pc, hex(pc))})"
        before = self.running.get(core)
        if before is not None and before[0] != name:
            self._add_timeline_interval(TimelineTrack(f"core {core}", TASKS), before[0], before[1], cycle)
        if before is None or before[0] != name:
            self.running[core] = (name, cycle)

    def _handle_exception_entry(self, core: int, cycle: int, ident: int, value: int, pc: int) -> None:
        """Handles the entry to an exception handler. `value` are the cycles since the exception's recognition."""
        name = self.functions.get(pc, f"exception {ident}")
        self.handlers.setdefault(core, []).append((name, cycle, value))

    def _handle_exception_return(self, core: int, cycle: int, ident: int, value: int, pc: int) -> None:  # noqa: ARG002
        """Handles the end of an exception handler."""
        if self.handlers.get(core):
            name, start, latency = self.handlers[core].pop()
            self._add_timeline_interval(
                TimelineTrack(f"core {core}", HANDLERS), name, start, cycle, exception=ident, entry_cycles=latency
            )

    def _timeline_track_of_kernel_call(self, core: int) -> TimelineTrack:
        """Returns the track on which a kernel call is shown: that of the handler or the task that made it."""
        if self.handlers.get(core):
            return TimelineTrack(f"core {core}", HANDLERS)
        return TimelineTrack(TASKS, self.running.get(core, (f"core {core}", 0))[0])

    def _handle_kernel_call(self, core: int, cycle: int, ident: int, value: int, pc: int) -> None:  # noqa: ARG002
        """Handles a call of a kernel function. `ident` is its number, `value` its first argument."""
        self.calls.setdefault(self._timeline_track_of_kernel_call(core), []).append((ident, cycle, value))

    def _handle_kernel_return(self, core: int, cycle: int, ident: int, value: int, pc: int) -> None:  # noqa: ARG002
        """Handles the return of a kernel function. `value` is its result."""
        track = self._timeline_track_of_kernel_call(core)
        open_calls = self.calls.get(track, [])
        while open_calls:
            call, start, argument = open_calls.pop()
            self._add_timeline_interval(
                track, self.services[call], start, cycle, r0=f"{argument:#x}", returned=f"{value:#x}"
            )
            if call == ident:
                return

    def _handle_lock_wait_begin(self, core: int, cycle: int, ident: int, value: int, pc: int) -> None:  # noqa: ARG002
        """Handles the begin of a wait for a spinlock."""
        self.waiting.setdefault((ident, core), cycle)

    def _handle_lock_taken(self, core: int, cycle: int, ident: int, value: int, pc: int) -> None:  # noqa: ARG002
        """Handles a spinlock that was taken."""
        since = self.waiting.pop((ident, core), None)
        if since is not None:
            self._add_timeline_interval(TimelineTrack(f"core {core}", WAITS), self._spinlock_name(ident), since, cycle)
        self.held[ident] = (core, cycle)

    def _handle_lock_released(self, core: int, cycle: int, ident: int, value: int, pc: int) -> None:  # noqa: ARG002
        """Handles a spinlock that was released."""
        if ident in self.held:
            owner, since = self.held.pop(ident)
            self._add_timeline_interval(TimelineTrack(LOCKS, self._spinlock_name(ident)), f"core {owner}", since, cycle)

    def _handle_pin_change(self, core: int, cycle: int, ident: int, value: int, pc: int) -> None:  # noqa: ARG002
        """Handles a level change of a pin."""
        self.edges.append(PinEdge(max(cycle, self.start), pin_name(self.recording.subject.board.chip, ident), value))

    def _spinlock_name(self, number: int) -> str:
        """Returns the kernel's name for the spinlock with this number."""
        kernel = self.recording.subject.kernel
        return (kernel.locks if kernel else {}).get(number, f"spinlock {number}")

    def _end_open_timeline_spans(self) -> None:
        """Adds the spans that have not ended at the end of the run."""
        for core, (name, since) in self.running.items():
            self._add_timeline_interval(TimelineTrack(f"core {core}", TASKS), name, since, self.end, ended=False)
        for core, stack in self.handlers.items():
            for name, since, _ in reversed(stack):
                self._add_timeline_interval(TimelineTrack(f"core {core}", HANDLERS), name, since, self.end, ended=False)
        for track, calls in self.calls.items():
            for ident, since, argument in reversed(calls):
                self._add_timeline_interval(
                    track, self.services[ident], since, self.end, ended=False, r0=f"{argument:#x}"
                )
        for (ident, core), since in self.waiting.items():
            self._add_timeline_interval(
                TimelineTrack(f"core {core}", WAITS), self._spinlock_name(ident), since, self.end, ended=False
            )
        for ident, (core, since) in self.held.items():
            self._add_timeline_interval(
                TimelineTrack(LOCKS, self._spinlock_name(ident)), f"core {core}", since, self.end, ended=False
            )


def pin_name(chip: str, number: int) -> str:
    """Returns a pin's name: GP7 on an RP2040, PA5 on an STM32, with 16 pins to a port."""
    return f"GP{number}" if chip == "rp2040" else f"P{chr(ord('A') + number // 16)}{number % 16}"
