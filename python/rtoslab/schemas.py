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


class Kernel(Strict):
    """`firmware/kernels/<id>/kernel.toml`."""

    id: str
    title: str = ""


class Benchmark(Strict):
    """`firmware/benchmarks/<id>/benchmark.toml`."""

    id: str
    title: str = ""
    question: str = ""
    services: tuple[str, ...] = ()
    params: dict[str, Any] = Field(default_factory=dict)
    proof: tuple[dict[str, Any], ...] = ()


class Suite(Strict):
    """`papers/<key>/suite.toml`: which points a paper measured."""

    id: str
    title: str
    paper: str
    benchmarks: tuple[str, ...]
    kernels: tuple[str, ...]
    boards: tuple[str, ...]
    cores: tuple[int, ...]
    window_ms: int
