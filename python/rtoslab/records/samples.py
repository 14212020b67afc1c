"""The report of a benchmark image as typed values with units. `decode` makes them. No proof has been judged yet."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Begin:
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
class Task:
    """One task under test, as the image reports it."""

    core: int
    index: int
    name: str
    priority: int
    handle: int
    stack_bytes: int


@dataclass(frozen=True, slots=True)
class Ruler:
    """Repeated empty measurements, which show the overhead of the instrument. In the unit named."""

    name: str
    core: int
    unit: str
    repeats: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Window:
    """A measured time window, in ticks of the board's timer."""

    n: int
    open_ticks: int
    close_ticks: int


@dataclass(frozen=True, slots=True)
class Count:
    """One counter's values at the start and the end of a window. Its count is `close - open`."""

    n: int
    core: int
    index: int
    name: str
    open: int
    close: int

    @property
    def count(self) -> int:
        """Returns how much the counter grew during the window."""
        return self.close - self.open


@dataclass(frozen=True, slots=True)
class Check:
    """A value that the firmware reports about itself, for a proof."""

    name: str
    core: int
    value: int


@dataclass(frozen=True, slots=True)
class Heap:
    """The size and use of the kernel's heap at the end of a run."""

    size_bytes: int
    peak_bytes: int
    allocations: int | None
    """None if the kernel does not count them."""


@dataclass(frozen=True, slots=True)
class Stack:
    """The size and use of a task's stack at the end of a run."""

    core: int
    index: int
    used_bytes: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Sample:
    """The raw samples of one metric."""

    metric: str
    n: int
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DecodedRun:
    """The whole, undamaged report of a benchmark image. `proofs` judges it."""

    begin: Begin
    params: dict[str, str]
    tasks: tuple[Task, ...]
    rulers: tuple[Ruler, ...]
    windows: tuple[Window, ...]
    counts: tuple[Count, ...]
    checks: tuple[Check, ...]
    heap: Heap | None
    stacks: tuple[Stack, ...]
    samples: tuple[Sample, ...]
    skipped_bytes: int
    """Bytes before the begin record (terminal noise)."""

    def window_s(self, n: int) -> float:
        """Returns the length of window `n` in seconds."""
        window = next(window for window in self.windows if window.n == n)
        return (window.close_ticks - window.open_ticks) / self.begin.timer_hz
