"""The strict forms of the catalogue's TOML files. Unknown keys are refused (`extra="forbid"`)."""

import re
from typing import Literal

from pydantic import Field, model_validator

from rtoslab.base import StrictFileSchemaModel


class InterruptControllerFacts(StrictFileSchemaModel):
    """The table `irq` of board.toml: facts of the interrupt controller."""

    lines: int
    priority_bits: int
    soft: int
    """A line without a source in the chip, pended by software."""
    asynchronous: int
    """The line of a timer that counts on, whatever the core does. Firmware/include/bench/async.h."""


class ClockTree(StrictFileSchemaModel):
    """The table `clock` of board.toml: the frequencies and factors of the clock tree, in hertz."""

    crystal_hz: int
    hse_bypass: bool = False
    """The crystal input is fed by a ready clock."""
    hsi_hz: int | None = None
    """The internal oscillator, where there is one to choose."""
    voltage_scales: int = 3
    """How many scales of the core voltage the part knows."""
    sys_hz: int
    """The core's clock where nothing else is asked for."""
    pll_refdiv: int = 1
    pll_feedback: int = 1
    pll_post1: int = 1
    pll_post2: int = 1


class SelectableCoreClock(StrictFileSchemaModel):
    """One core clock that a board can be set to.
    With a PLL: input / pll_m * pll_n / pll_p; every clock then / ahb_div.
    """

    source: Literal["hsi", "hse", "pll"]
    pll_input: Literal["hsi", "hse"] | None = None
    pll_m: int = 1
    pll_n: int = 1
    pll_p: int = 1
    ahb_div: int = 1
    """Divides the core's clock and all below it."""
    axi_div: int = 1
    """Divides the buses' clock only, where the core is clocked faster than they are."""
    apb1_div: int = 1
    apb2_div: int = 1
    wait_states: int
    voltage_scale: int | None = None
    overdrive: bool = False

    def core_hz(self, crystal_hz: int, hsi_hz: int | None) -> float:
        """Returns the core's clock in hertz, as the divisors give it. 0 without the needed oscillator."""
        inputs = {"hse": crystal_hz, "hsi": hsi_hz or 0}
        if self.source != "pll":
            return inputs[self.source] / self.ahb_div
        return inputs[self.pll_input or "hse"] / self.pll_m * self.pll_n / self.pll_p / self.ahb_div


class TimestampTimerDescription(StrictFileSchemaModel):
    """The table `timer` of board.toml: the timer that gives the time stamps."""

    hz: int
    bits: int


class SerialPort(StrictFileSchemaModel):
    """The table `uart` of board.toml: the serial port that the records are sent through."""

    index: int
    baud: int
    tx_pin: int | str
    rx_pin: int | str


class MeasurementPins(StrictFileSchemaModel):
    """The output pin of a measurement, and the input pin with its interrupt that it may be connected to."""

    out: int | str
    input: int | str = Field(alias="in")
    in_irq: int


class UndrivenPinLevels(StrictFileSchemaModel):
    """The levels of pins that nothing drives, because a resistor of the board holds them: buttons, pull-ups.

    The virtual board has them from reset. A pin that is driven from outside has the driven level. The chip's own pull
    resistors are weaker."""

    high: tuple[str, ...] = ()
    """Such as PC13."""
    low: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _require_each_pin_once(self) -> "UndrivenPinLevels":
        """Raises ValueError for a misspelt pin name, and for a pin that is named twice."""
        names = [*self.high, *self.low]
        for name in names:
            if re.fullmatch(r"P[A-K]([0-9]|1[0-5])", name) is None:
                raise ValueError(f"[rest] names the pin {name!r}; write it as PC13")
            if names.count(name) > 1:
                raise ValueError(f"[rest] names the pin {name} twice; a resistor holds it high or low")
        return self


class BoardMemoryDescription(StrictFileSchemaModel):
    """The table `memory` of board.toml: the address map and the flash settings that affect timing."""

    flash_start: int
    flash_bytes: int
    line_bytes: int
    """The bytes of one read of the flash, or of a line of its cache."""
    sram_start: int
    sram_bytes: int
    flash_itcm_start: int | None = None
    """The same flash through the accelerator of an STM32F7."""
    flash_itcm_bytes: int | None = None
    itcm_start: int | None = None
    itcm_bytes: int | None = None
    dtcm_start: int | None = None
    dtcm_bytes: int | None = None
    ccm_start: int | None = None
    ccm_bytes: int | None = None
    d2_start: int | None = None
    d2_bytes: int | None = None
    d3_start: int | None = None
    d3_bytes: int | None = None
    xip_cache_bytes: int = 0
    flash_clock_divider: int = 1
    data: str = "sram"
    """Where data and stacks lie: the name of one of the memories above."""

    def memory_addresses(self, name: str) -> range | None:
        """Returns the addresses of the memory with this name, such as `dtcm`. None if the board has no such memory."""
        start, length = getattr(self, f"{name}_start", None), getattr(self, f"{name}_bytes", None)
        return None if start is None or length is None else range(start, start + length)


class BoardLimits(StrictFileSchemaModel):
    """The table `limits` of board.toml: what a benchmark may use at most on a board with a small memory.
    Without them the benchmark's own request holds.
    """

    task_stack_bytes: int | None = None
    control_stack_bytes: int | None = None
    idle_stack_bytes: int | None = None
    main_stack_bytes: int | None = None
    heap_bytes: int
    """The memory for a kernel: its heap, and its static data if kernel.toml has `static_bytes`."""
    sample_bytes: int | None = None
    """Room for the samples of a latency benchmark, 4 bytes each. Absent: plenty."""


class BoardFlashTool(StrictFileSchemaModel):
    """The table `flash` of board.toml: the program that writes an image to the real board, and its format."""

    tool: str
    format: Literal["uf2", "elf", "bin"]
    uf2_family: int | None = None


class FlashToolChipNames(StrictFileSchemaModel):
    """The content of `firmware/boards/<id>/flash.toml`: the names that flash programs use for the board's chip.

    It is a file apart because no image is made of it.
    """

    probe_rs: str | None = None
    pyocd: str | None = None
    openocd: str | None = None
    """OpenOCD's script for the chip."""
    st_flash: bool = False
    """Whether st-flash knows the chip. It asks the chip what it is."""
    bootsel: bool = False
    """Whether the board has a boot loader on USB that takes UF2."""


class Board(StrictFileSchemaModel):
    """The content of `firmware/boards/<id>/board.toml`."""

    id: str
    title: str
    chip: str
    core: str
    """The processor core, by its maker's name. `cpu` is its architecture."""
    cpu: str
    gcc_flags: str
    support: tuple[str, ...] = ()
    """Folders of firmware/chips/ with code that boards of one maker share."""
    cores: int
    core_id_address: int | None = None
    irq: InterruptControllerFacts
    clock: ClockTree
    clocks: dict[int, SelectableCoreClock] = Field(default_factory=dict)
    """Keyed by the core's clock in hertz. Empty: only `clock.sys_hz`."""
    timer: TimestampTimerDescription
    uart: SerialPort
    pins: MeasurementPins
    rest: UndrivenPinLevels = UndrivenPinLevels()
    """No image depends on it."""
    features: dict[str, bool] = Field(default_factory=dict)
    """Caches and prefetchers that an image switches on or off, with what it does unless told otherwise."""
    memory: BoardMemoryDescription
    limits: BoardLimits
    flash: BoardFlashTool

    @model_validator(mode="after")
    def _require_frequencies_match_clock_names(self) -> "Board":
        """Raises ValueError for a clock whose divisors give another frequency than its key. Tick and baud rate follow
        the key."""
        for hz, choice in self.clocks.items():
            expected_hz = choice.core_hz(self.clock.crystal_hz, self.clock.hsi_hz)
            if expected_hz != hz:
                raise ValueError(f"the settings of [clocks.{hz}] give {expected_hz:,.0f} Hz")
        return self

    @model_validator(mode="after")
    def _require_undriven_pins(self) -> "Board":
        """Raises ValueError for a level at rest of a pin that the board itself drives, or of a chip whose pins have no
        ports."""
        held = {*self.rest.high, *self.rest.low}
        if held and isinstance(self.pins.out, int):
            raise ValueError("[rest] is only for chips with ports, such as PC13")
        driven = held & {self.pins.out, self.pins.input, self.uart.tx_pin, self.uart.rx_pin}
        if driven:
            raise ValueError(f"[rest] names {min(map(str, driven))}, which [pins] or [uart] use")
        return self

    @property
    def has_fpu(self) -> bool:
        """Whether the firmware is built to use a floating-point unit."""
        return "-mfloat-abi=hard" in self.gcc_flags


class FootprintProgram(StrictFileSchemaModel):
    """The content of `firmware/footprint/<id>/footprint.toml`: a program whose size is measured, but not its speed."""

    id: str
    title: str
    base: str
    """The program it is compared to. Empty for the minimal one."""
    services: tuple[str, ...]
    tasks_per_core: int
    stack_bytes: int
    kernel_config: dict[str, dict[str, str]] = Field(default_factory=dict)
    """Keyed by kernel: what must be configured for the service to be there at all."""
