"""The strict forms of the catalogue's TOML files. Unknown keys are refused (`extra="forbid"`)."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Strict(BaseModel):
    """Base: immutable, no unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Irq(Strict):
    """Interrupt controller facts."""

    lines: int
    priority_bits: int
    soft: int
    """A line without a source in the chip, pended by software."""


class Clock(Strict):
    """Clock tree facts, in hertz."""

    crystal_hz: int
    sys_hz: int
    pll_refdiv: int = 1
    pll_feedback: int = 1
    pll_post1: int = 1
    pll_post2: int = 1


class Timer(Strict):
    """The time base of the stamps."""

    hz: int
    bits: int


class Uart(Strict):
    """The port the records leave by."""

    index: int
    baud: int
    tx_pin: int
    rx_pin: int


class Memory(Strict):
    """Address map and flash settings that move numbers."""

    flash_start: int
    flash_bytes: int
    sram_start: int
    sram_bytes: int
    xip_cache_bytes: int = 0
    flash_clock_divider: int = 1


class Flash(Strict):
    """How an image gets onto the real board."""

    tool: str
    format: Literal["uf2", "elf", "bin"]
    uf2_family: int | None = None


class Board(Strict):
    """`firmware/boards/<id>/board.toml`."""

    id: str
    title: str
    chip: str
    cpu: str
    gcc_flags: str
    cores: int
    core_id_address: int | None = None
    irq: Irq
    clock: Clock
    timer: Timer
    uart: Uart
    memory: Memory
    flash: Flash


class Probes(Strict):
    """Symbols of a kernel that the virtual board watches; the image is not touched."""

    current_task_single: str
    """Word that points at the running task's control block, kernel built for one core."""
    current_task_smp: str | None = None
    current_task_smp_stride_bytes: int = 4
    tick_symbol: str | None = None
    switch_symbol: str | None = None
    heap_symbol: str | None = None
    idle_symbols: tuple[str, ...] = ()


class Kernel(Strict):
    """`firmware/kernels/<id>/kernel.toml`."""

    id: str
    title: str
    version: str
    package: str = ""
    package_folder: str = ""
    licence: str = ""
    smp: bool
    services: dict[str, bool]
    reasons: dict[str, str] = Field(default_factory=dict)
    """Why a service is lacking, in a reader's words."""
    probes: Probes | None = None
    symbols: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """The kernel functions that each service ends in."""
    classes: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Classes of functions by prefix; the first that fits counts."""
    locks: dict[int, str] = Field(default_factory=dict)
    """Hardware spinlocks by number."""


class Metric(Strict):
    """What a benchmark counts."""

    id: str
    unit: str
    tasks: tuple[int, ...]
    """Indices of the tasks whose counters are added."""


class Benchmark(Strict):
    """`firmware/benchmarks/<id>/benchmark.toml`."""

    id: str
    title: str
    question: str
    paper: str = ""
    tasks_per_core: int
    stack_bytes: int
    inside: str
    """What the measured loop contains by design."""
    outside: str
    services: tuple[str, ...]
    metric: Metric
    params: dict[str, int] = Field(default_factory=dict)
    proof: tuple[dict[str, Any], ...] = ()
    """One table per rule; each rule checks its own keys, see `proofs`."""


class Claim(Strict):
    """An ordering that a paper publishes, to be computed again."""

    id: str
    section: str
    says: str
    kind: Literal["throughput_drops", "per_core_drops", "gains_less", "heap_grows"]
    benchmarks: tuple[str, ...]


class Suite(Strict):
    """`papers/<key>/suite.toml`: which points a paper measured, what it concluded, where it slipped."""

    id: str
    title: str
    paper: str
    benchmarks: tuple[str, ...]
    kernels: tuple[str, ...]
    boards: tuple[str, ...]
    cores: tuple[int, ...]
    window_ms: int
    paper_window_ms: int | None = None
    notes: tuple[str, ...] = ()
    claim: tuple[Claim, ...] = ()
