"""DMA of the STM32 families by firmware, and beside it the same firmware without DMA."""

from itertools import pairwise
from pathlib import Path

import pytest

from rtoslab import board as make_board
from rtoslab.devices import SpiLoopback
from rtoslab.targets.virtual_board import VirtualBoard
from tests.dma_firmware import FAMILIES, build_dma_firmware

TEXT = b"The core is free while DMA sends these bytes at the speed of the line.\n"
SERIAL = ["nucleo-f103rb", "nucleo-f446re", "nucleo-f767zi", "nucleo-l073rz", "nucleo-h743zi"]
HALF, COMPLETE, IDLE = 1, 2, 3
BIT_CLOCKS = 160


class Listener:
    """A device at a serial port that notes what it hears, and when."""

    def __init__(self) -> None:
        self.heard: list[tuple[int, int]] = []

    def receive(self, byte: int, now_ns: int) -> bytes:
        self.heard.append((now_ns, byte))
        return b""


class TimedLoopback(SpiLoopback):
    """A wire that notes when a frame was sent."""

    def __init__(self) -> None:
        self.times_ns: list[int] = []

    def exchange(self, frame: int, _bits: int, now_ns: int) -> int:
        self.times_ns.append(now_ns)
        return frame


def stages(board: VirtualBoard, cycles: int) -> list[int]:
    """Runs, and returns the cycles in which the program wrote its stages."""
    probe = board.watch("stage")
    board.run(cycles)
    return probe.cycles


@pytest.mark.parametrize("name", SERIAL)
def test_a_serial_port_sends_by_dma_as_fast_as_the_line(name: str, tmp_path: Path) -> None:
    sent: dict[bool, tuple[list[int], list[int], int]] = {}
    for polled in [False, True]:
        board = make_board(name, build_dma_firmware(name, tmp_path, "SEND", polled=polled))
        listener = Listener()
        board.attach(listener, "usart2")
        cycles = stages(board, 400_000)
        assert board.word("done") == 1
        assert board.output() == TEXT
        assert bytes(byte for _, byte in listener.heard) == TEXT
        assert board.warnings() == []
        sent[polled] = ([time for time, _ in listener.heard], cycles, board.word("spins"))
        # All chips are at their reset clock, without prescalers.
        clock_hz = board.clock_hz
    (by_dma, dma_cycles, spins), (polled_times, polled_cycles, _) = sent[False], sent[True]
    byte_ns = 10 * BIT_CLOCKS * 1e9 / clock_hz
    # A byte is told with the core's access to the port if there is one in these cycles.
    late_ns = 32 * 1e9 / clock_hz
    for times in (by_dma, polled_times):
        assert [time - times[0] for time in times] == [
            pytest.approx(byte_ns * n, abs=late_ns) for n in range(len(TEXT))
        ]
    # Both ways the line is busy from the idle frame that comes first to the last byte. DMA, or the core, has written
    # the last byte as the last but one began.
    frame = 10 * BIT_CLOCKS
    for begin, written, end in (dma_cycles, polled_cycles):
        assert len(TEXT) * frame < end - begin < (len(TEXT) + 1) * frame + 200
        assert frame < end - written < 2 * frame + 200
    assert dma_cycles[2] - dma_cycles[0] == pytest.approx(polled_cycles[2] - polled_cycles[0], abs=200)
    assert spins > len(TEXT) * 10, "the core was free"


@pytest.mark.parametrize("name", SERIAL)
def test_serial_input_goes_round_with_interrupts(name: str, tmp_path: Path) -> None:
    board = make_board(name, build_dma_firmware(name, tmp_path, "RECEIVE"))
    board.run(100_000)
    assert board.word("done") == 1
    board.type(b"hello")
    board.run(40_000)
    board.type(b"0123456789abcdefghij")
    board.run(60_000)
    count = board.word("events")
    events = [board.read(board.address("event") + 4 * n) for n in range(count)]
    seen = [(int.from_bytes(event[2:], "little"), int.from_bytes(event[:2], "little")) for event in events]
    # Kind of interrupt, and items left of the round of 16.
    assert seen == [(IDLE, 11), (HALF, 8), (COMPLETE, 16), (HALF, 8), (IDLE, 7)]
    assert board.read("ring", 16) == b"bcdefghij456789a"
    assert board.warnings() == []


def test_a_converter_fills_a_ring(tmp_path: Path) -> None:
    board = make_board("nucleo-f446re", build_dma_firmware("nucleo-f446re", tmp_path, "CONVERT"))
    board.set_voltage("PA1", 1.1)
    board.set_voltage("PA2", 2.2)
    board.run(20_000)
    assert board.read("samples", 16) == bytes.fromhex("5505aa0a" * 4)
    # 480 and 12 cycles of half the clock a conversion, eight of them a round.
    board.run(2 * 492 * 8 * 100 - 20_000 + 200)
    assert (board.word("done"), board.word("events")) == (100, 100)
    board.set_voltage("PA2", 0)
    board.run(20_000)
    assert board.read("samples", 4) == bytes.fromhex("55050000")
    assert board.warnings() == []


def test_spi_exchanges_by_dma_without_gaps(tmp_path: Path) -> None:
    times: dict[bool, list[int]] = {}
    lengths: dict[bool, int] = {}
    for polled in [False, True]:
        board = make_board("nucleo-f446re", build_dma_firmware("nucleo-f446re", tmp_path, "EXCHANGE", polled=polled))
        wire = TimedLoopback()
        board.attach(wire, "spi1")
        begin, end = stages(board, 100_000)
        lengths[polled], times[polled] = end - begin, wire.times_ns
        assert board.read("in", 32) == board.read("out", 32) == bytes((3 * n + 1) % 256 for n in range(32))
        assert board.warnings() == []
    # Eight bits of 16 MHz / 4: 32 cycles.
    frames = {polled: [later - earlier for earlier, later in pairwise(these)] for polled, these in times.items()}
    assert frames[False] == [2000] * 31
    assert all(2000 < gap < 6000 for gap in frames[True])
    assert 32 * 32 < lengths[False] < 32 * 32 + 400 < lengths[True]


@pytest.mark.parametrize("name", FAMILIES)
def test_memory_is_copied(name: str, tmp_path: Path) -> None:
    board = make_board(name, build_dma_firmware(name, tmp_path, "COPY"))
    begin, copied, end = stages(board, 100_000)
    content = board.read("by_dma", 800)
    assert content == board.read("by_core", 800)
    assert content[:12] == b"\1\0\0\0\2\0\0\0\3\0\0\0"
    assert content[-4:] == bytes.fromhex("adfbcade")
    # A channel takes six AHB cycles a word from flash without wait states. A stream reads and writes in turns: seven.
    # The flash of an H7 has seven wait states after reset.
    wait_states = 7 if name == "nucleo-h743zi" else 0
    assert (6 + wait_states) * 200 <= copied - begin <= (8 + wait_states) * 200 + 300
    assert end > copied
    assert board.warnings() == []
