"""Every clock of every board.toml against the limits of its part: dividers, PLL, buses, wait states, baud rate."""

import re
from dataclasses import dataclass, field
from typing import Final

import pytest

from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.catalogue.schemas import Board, SelectableCoreClock

MHZ: Final = 1_000_000
BAUD_ERROR: Final = 0.02
"""What the two ends of a serial line may differ by; 10 bit times leave half a bit of play at 5 %."""


@dataclass(frozen=True)
class Pll:
    """Limits of a PLL, in MHz, and the factors its registers can hold."""

    enters: tuple[float, float]
    vco: tuple[float, float]
    multipliers: range | tuple[int, ...]
    dividers: tuple[int, ...]


@dataclass(frozen=True)
class Part:
    """Limits from a data sheet, in MHz. `waits`: fastest clock of the flash for 0, 1, ... wait states, by scale."""

    core: float
    apb1: float
    apb2: float
    pll: Pll
    scales: dict[int | None, float]
    """Voltage scale -> fastest core clock without over-drive."""
    waits: dict[int | None, tuple[float, ...]]
    overdrive: dict[int | None, float] = field(default_factory=dict)


def _steps(mhz: float, top: float) -> tuple[float, ...]:
    """One wait state for each started `mhz`."""
    count = int(-(-top // mhz))
    return tuple(min(mhz * (n + 1), top) for n in range(count))


def _scales(*limits: float) -> dict[int | None, float]:
    """By scale, from 1."""
    return dict(enumerate(limits, 1))


def _wait_limits(limits: tuple[float, ...]) -> dict[int | None, tuple[float, ...]]:
    """Supply of 2.7 V or more: the voltage scale does not matter."""
    return dict.fromkeys((1, 2, 3), limits)


F4_PLL: Final = Pll((0.95, 2.1), (100, 432), range(50, 433), (2, 4, 6, 8))
L0: Final = Part(
    32, 32, 32, Pll((2, 24), (0, 96), (3, 4, 6, 8, 12, 16, 24, 32, 48), (2, 3, 4)),
    _scales(32, 16, 4.2), {1: (16, 32), 2: (8, 16), 3: (4.2,)},
)  # fmt: skip
H7_WAITS: Final = (70.0, 140.0, 210.0, 225.0)
PARTS: Final = {
    "stm32l053": L0,
    "stm32l073": L0,
    "stm32f103": Part(72, 36, 72, Pll((1, 25), (16, 72), range(2, 17), (1,)), {None: 72}, {None: (24, 48, 72)}),
    "stm32f407": Part(168, 42, 84, F4_PLL, _scales(168, 144), _wait_limits(_steps(30, 168))),
    "stm32f411": Part(100, 50, 100, F4_PLL, _scales(100, 84, 64), _wait_limits((30, 64, 90, 100))),
    "stm32f446": Part(180, 45, 90, F4_PLL, _scales(168, 144, 120), _wait_limits(_steps(30, 180)), _scales(180, 168)),
    "stm32f767": Part(216, 54, 108, F4_PLL, _scales(180, 168, 144), _wait_limits(_steps(30, 216)), _scales(216, 180)),
    # Scale 0 is scale 1 with the boost that only revision V has; flash and buses run at the core's clock / axi_div.
    "stm32h743": Part(
        480, 120, 120, Pll((1, 16), (192, 960), range(4, 513), (1, *range(2, 129, 2))),
        {0: 480, 1: 400}, {0: (*H7_WAITS, 240), 1: H7_WAITS},
    ),
}  # fmt: skip
CASES: Final = [
    pytest.param(entry.facts, hz, id=f"{name}-{hz // MHZ}MHz")
    for name, entry in Catalogue(find_checkout_root()).boards.items()
    for hz in entry.facts.clocks
]


def _source_hz(board: Board, name: str | None) -> int:
    source = {"hse": board.clock.crystal_hz, "hsi": board.clock.hsi_hz}[name or ""]
    assert source is not None
    return source


def _sys_hz(board: Board, clock: SelectableCoreClock) -> float:
    if clock.source != "pll":
        return _source_hz(board, clock.source) / clock.ahb_div
    return _source_hz(board, clock.pll_input) / clock.pll_m * clock.pll_n / clock.pll_p / clock.ahb_div


def test_default_clock_is_one_of_the_boards_clocks() -> None:
    boards = [entry.facts for entry in Catalogue(find_checkout_root()).boards.values() if entry.facts.clocks]
    assert len(boards) >= 8
    for board in boards:
        assert board.clock.sys_hz in board.clocks
        assert board.chip in PARTS


@pytest.mark.parametrize(("board", "hz"), CASES)
def test_dividers_give_the_clock(board: Board, hz: int) -> None:
    assert _sys_hz(board, board.clocks[hz]) == hz
    assert hz <= PARTS[board.chip].core * MHZ


@pytest.mark.parametrize(("board", "hz"), CASES)
def test_pll_stays_within_its_ranges(board: Board, hz: int) -> None:
    clock, part = board.clocks[hz], PARTS[board.chip]
    if clock.source != "pll":
        assert (clock.pll_m, clock.pll_n, clock.pll_p) == (1, 1, 1)
        return
    enters = _source_hz(board, clock.pll_input) / clock.pll_m / MHZ
    assert part.pll.enters[0] <= enters <= part.pll.enters[1]
    assert part.pll.vco[0] <= enters * clock.pll_n <= part.pll.vco[1]
    assert clock.pll_n in part.pll.multipliers
    assert clock.pll_p in part.pll.dividers


@pytest.mark.parametrize(("board", "hz"), CASES)
def test_bus_clocks_and_voltage_are_within_limits(board: Board, hz: int) -> None:
    clock, part = board.clocks[hz], PARTS[board.chip]
    bus = hz / clock.axi_div / MHZ
    assert bus <= 240 or board.chip != "stm32h743"
    assert bus / clock.apb1_div <= part.apb1
    assert bus / clock.apb2_div <= part.apb2
    fastest = part.overdrive if clock.overdrive else part.scales
    assert hz / MHZ <= fastest[clock.voltage_scale]


@pytest.mark.parametrize(("board", "hz"), CASES)
def test_wait_states_are_the_fewest_allowed(board: Board, hz: int) -> None:
    clock, part = board.clocks[hz], PARTS[board.chip]
    flash = hz / clock.axi_div / MHZ
    needed = next(n for n, limit in enumerate(part.waits[clock.voltage_scale]) if flash <= limit)
    assert clock.wait_states == needed


@pytest.mark.parametrize(("board", "hz"), CASES)
def test_serial_port_and_timer_fit_the_clock(board: Board, hz: int) -> None:
    clock = board.clocks[hz]
    bus = hz // clock.axi_div
    for div in (clock.apb1_div, clock.apb2_div):
        uart = bus / div
        divisor = round(uart / board.uart.baud)
        assert divisor >= 16
        assert abs(uart / divisor / board.uart.baud - 1) < BAUD_ERROR
        timer = bus if div == 1 else 2 * bus // div
        assert timer % board.timer.hz == 0
        assert timer // board.timer.hz <= 65536


def test_documented_clocks_equal_the_boards() -> None:
    root = find_checkout_root()
    rows = (root / "firmware" / "README.md").read_text().splitlines()
    for name, entry in Catalogue(root).boards.items():
        board = entry.facts
        (row,) = [line for line in rows if line.startswith(f"| `{name}` |")]
        _, _, _, clocks, _, features, _ = (cell.strip() for cell in row.split("|"))
        choices = sorted(board.clocks) or [board.clock.sys_hz]
        output = [int(number) * MHZ for number in re.findall(r"\d+", clocks)]
        assert output == choices, name
        assert f"**{board.clock.sys_hz // MHZ}**" in clocks
        assert features == ", ".join(board.features)
