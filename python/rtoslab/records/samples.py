"""The report of a benchmark image as typed values with units. `decode` makes them. No proof has been judged yet."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReportedImageIdentity:
    """The identity that the image reports."""

    run: str
    bench: str
    kernel: str
    board: str
    cores: int
    clock_hz: int
    window_us: int
    timer_hz: int
    manifest: int


@dataclass(frozen=True, slots=True)
class FirmwareTaskReport:
    """One task under test, as the image reports it."""

    core: int
    index: int
    name: str
    priority: int
    handle: int
    stack_bytes: int


@dataclass(frozen=True, slots=True)
class EmptyMeasurement:
    """Repeated empty measurements, which show the overhead of the instrument. In the unit named."""

    name: str
    core: int
    unit: str
    repeats: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MeasuredWindow:
    """A measured time window, in ticks of the board's timer."""

    n: int
    open_ticks: int
    close_ticks: int


@dataclass(frozen=True, slots=True)
class MeasurementWindowCounter:
    """One counter's values at the start and the end of a window. Its count is `close - open`."""

    n: int
    core: int
    index: int
    name: str
    open: int
    close: int

    @property
    def count_in_window(self) -> int:
        """Returns how much the counter grew during the window."""
        return self.close - self.open


@dataclass(frozen=True, slots=True)
class ReportedCheck:
    """A value that the firmware reports about itself, for a proof."""

    name: str
    core: int
    value: int


@dataclass(frozen=True, slots=True)
class HeapReport:
    """The size and use of the kernel's heap at the end of a run."""

    size_bytes: int
    peak_bytes: int
    allocations: int | None
    """None if the kernel does not count them."""


@dataclass(frozen=True, slots=True)
class StackReport:
    """The size and use of a task's stack at the end of a run."""

    core: int
    index: int
    used_bytes: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class MetricSamples:
    """The raw samples of one metric."""

    metric: str
    n: int
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DecodedRun:
    """The whole, undamaged report of a benchmark image. `proofs` judges it."""

    begin: ReportedImageIdentity
    params: dict[str, str]
    tasks: tuple[FirmwareTaskReport, ...]
    rulers: tuple[EmptyMeasurement, ...]
    windows: tuple[MeasuredWindow, ...]
    counts: tuple[MeasurementWindowCounter, ...]
    checks: tuple[ReportedCheck, ...]
    heap: HeapReport | None
    stacks: tuple[StackReport, ...]
    samples: tuple[MetricSamples, ...]
    skipped_bytes: int
    """Bytes before the begin record (terminal noise)."""

    def window_s(self, n: int) -> float:
        """Returns the length of measurement window `n` in seconds."""
        window = next(window for window in self.windows if window.n == n)
        return (window.close_ticks - window.open_ticks) / self.begin.timer_hz
