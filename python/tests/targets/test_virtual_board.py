"""The Python API of a virtual board: what docs/python-api.md says, on a real image; and the notebook runs."""

import re
from itertools import pairwise
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

import rtoslab
from rtoslab.base.errors import PlanError, RunError, SettingError, SymbolError, UnknownNameError
from rtoslab.base.paths import find_checkout_root
from rtoslab.targets.virtual_board import VirtualBoard

DOCS = find_checkout_root() / "docs"


@pytest.fixture(scope="module")
def image() -> Path:
    return rtoslab.build_image("phase_sweep", kernel="freertos", board="nucleo-f446re", window_ms=1000)


@pytest.fixture
def board(image: Path) -> VirtualBoard:
    return rtoslab.board("nucleo-f446re", image)


def test_run_read_and_write(board: VirtualBoard) -> None:
    board.run_until("main")
    assert board.registers()["pc"] == board.address("main")
    reached = board.cycle
    assert board.run(1000).reason == "cycles"
    assert board.cycle == reached + 1000
    board.run(seconds=0.001)
    board.run_until("xTaskIncrementTick")
    ticks = board.word("xTickCount")
    board.run_until("xTaskIncrementTick")
    assert board.word("xTickCount") == ticks + 1
    board.write("xTickCount", 500)
    assert board.read("xTickCount") == (500).to_bytes(4, "little")
    board.set_register("r7", 0x1234)
    assert board.registers()["r7"] == 0x1234
    assert board.stats()["cores"][0]["exceptions"][15] >= 2
    assert board.warnings() == []


def test_board_records_probes_intervals_and_exceptions(board: VirtualBoard) -> None:
    board.run_until("phase_service")
    calls, gives = board.probe("phase_service"), board.probe("xQueueGenericSend")
    current, switch = board.watch("pxCurrentTCB"), board.between("isr_systick", "isr_systick")
    board.trace(exceptions=True)
    board.run(seconds=0.005)
    assert len(calls.hits) > 100
    assert abs(len(calls.hits) - len(gives.hits)) <= 1
    assert calls.cycles == sorted(calls.cycles)
    assert switch.interval.count == 4
    assert switch.interval.minimum_cycles is not None
    assert abs(switch.interval.minimum_cycles - 84_000) < 500
    ticks = [exception for exception in board.exceptions(15) if exception.entered]
    assert len(ticks) == 5
    assert current.hits == [], "nobody else runs, and the interrupt is idle"


def test_board_injects_snapshots_and_restores(board: VirtualBoard) -> None:
    board.run_until("phase_service")
    board.run(seconds=0.05)
    line = f"irq{board.facts.irq.soft}"
    handler = board.probe(f"isr_{line}")
    before = board.snapshot()
    seen = []
    for _ in range(2):
        board.restore(before)
        assert board.cycle == before.cycle
        assert handler.hits == []
        board.inject(line, at=before.cycle + 123)
        board.run(5_000)
        seen.append(list(handler.hits))
        assert len(seen[-1]) == 1
    assert seen[0] == seen[1]
    assert before.cycle + 123 + 10 <= seen[0][0].cycle <= before.cycle + 123 + 100


@pytest.mark.parametrize("name", ["nucleo-f446re", "nucleo-l073rz"])
def test_pin_driven_from_outside_interrupts(name: str) -> None:
    """The input of the loop-back, through EXTI, while the wire holds it low."""
    config = {"instrument": "probe", "samples": "50"}
    board = rtoslab.board(name, rtoslab.build_image("task_activation", kernel="bare", board=name, config=config))
    entry = f"isr_irq{board.facts.pins.in_irq}"
    board.run_until(entry)
    handler = board.probe(entry)
    board.trace(pins=True)
    before = board.snapshot()
    board.run(seconds=0.01)
    edges = list(board.edges(board.facts.pins.out))
    assert {edge.level for edge in edges} == {0, 1}
    assert len(handler.hits) == pytest.approx(sum(edge.level for edge in edges), abs=1)
    low = next(fall for fall, rise in pairwise(edges) if not fall.level and rise.cycle - fall.cycle > 60)
    board.restore(before)
    board.drive(board.facts.pins.input, 1, at=low.cycle + 20)
    board.run(low.cycle + 120 - board.cycle)
    assert any(low.cycle + 20 < cycle < low.cycle + 120 for cycle in handler.cycles)


class PinTimes:
    """Looks at pins, and notes the times that it is told."""

    def __init__(self) -> None:
        self.times_ns: list[int] = []

    def change(self, _pin: int, _level: bool, now_ns: int) -> None:
        self.times_ns.append(now_ns)


@pytest.mark.parametrize("name", ["pico", "nucleo-f446re", "nucleo-f103rb", "nucleo-l073rz"])
def test_seconds_are_seconds_though_the_firmware_changes_its_clock(name: str) -> None:
    config = {"instrument": "probe", "samples": "50"}
    board = rtoslab.board(name, rtoslab.build_image("task_activation", kernel="bare", board=name, config=config))
    start, device = board.snapshot(), PinTimes()
    # The time as a sum over short runs at the clock that was in force.
    seconds, clocks = 0.0, [board.clock_hz]
    while len(clocks) < 2 or board.cycle < clocks[-1] // 50:
        before, hz = board.cycle, board.clock_hz
        board.run(100)
        seconds += (board.cycle - before) / hz
        if board.clock_hz != hz:
            clocks.append(board.clock_hz)
    assert clocks[-1] > 2 * clocks[0], "the firmware has raised its clock"
    uncertain = len(clocks) * 100 / min(clocks)
    assert board.seconds == pytest.approx(seconds, abs=uncertain)
    assert seconds - board.cycle / clocks[-1] > 3 * uncertain, "the present clock alone gives another time"
    cycle = board.cycle
    for slices in [1, 10]:
        board.restore(start)
        for _ in range(slices):
            board.run(seconds=seconds / slices)
        assert board.seconds == pytest.approx(seconds, abs=slices / clocks[-1])
        assert board.cycle == pytest.approx(cycle, abs=uncertain * clocks[-1])
    # A device and the board have the same time.
    board.attach(device, "pins")
    board.trace(pins=True)
    now, at = board.seconds, board.cycle
    board.run(seconds=0.02)
    cycles = [edge.cycle for edge in board.edges()]
    assert len(cycles) > 20
    assert [time / 1e9 for time in device.times_ns] == [
        pytest.approx(now + (edge - at) / board.clock_hz, abs=3e-9) for edge in cycles
    ]


def test_impossible_lengths_of_a_run(board: VirtualBoard) -> None:
    for seconds in [-1.0, 1e12, float("nan")]:
        with pytest.raises(RunError, match="seconds are not possible"):
            board.run(seconds=seconds)
    with pytest.raises(RunError, match="cycles are not possible"):
        board.run(-1)
    with pytest.raises(RunError, match="either cycles or seconds"):
        board.run()


IO_BANK0_LISTENS = bytes.fromhex(
    "05480521016005480549016005480649016062b6fee700002c400140004101400000800000e100e000200000"
)
"""Thumb: GPIO5_CTRL = SIO, PROC0_INTE0 = rising edge of GPIO 5, NVIC line 13 on, then a loop."""


def test_pin_of_the_pico_driven_from_outside_interrupts() -> None:
    board = rtoslab.board("pico", rtoslab.build_image("t7", kernel="freertos", board="pico", window_ms=20), cores=1)
    board.run_until("vTaskStartScheduler")
    ram = board.facts.memory.sram_start + 0x30000
    board.write(ram, IO_BANK0_LISTENS)
    board.set_register("pc", ram)
    board.run(300)
    board.trace(pins=True, exceptions=True)
    at = board.cycle + 100
    board.drive(5, 1, at=at)
    board.run(200)
    assert [(edge.cycle, edge.level) for edge in board.edges(5)] == [(at, 1)]
    entered = next(exception for exception in board.exceptions(16 + 13) if exception.entered)
    assert at + 15 <= entered.cycle <= at + 40


def test_wrong_use_is_reported_in_one_sentence(board: VirtualBoard, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'pico'"):
        rtoslab.board("picoo")
    with pytest.raises(SettingError):
        rtoslab.board("pico", cores=3)
    with pytest.raises(UnknownNameError, match="setting"):
        rtoslab.board("pico", timing__nonsense=1)
    with pytest.raises(SettingError, match="clock_hz=0 is not possible, because it is no clock"):
        rtoslab.board("nucleo-f446re", clock_hz=0)
    with pytest.raises(SymbolError, match="no symbol 'mian'; did you mean 'main'"):
        board.run_until("mian")
    with pytest.raises(RunError, match=r"main was not executed within 1e-06 s"):
        board.run_until("main", 1e-6)
    with pytest.raises(RunError, match="either cycles or seconds"):
        board.run()
    with pytest.raises(RunError, match="neither in a memory nor a register"):
        board.read(0x7000_0000)
    with pytest.raises(PlanError, match="has no interrupt 'irq999'"):
        board.inject("irq999")
    board.run(100)
    with pytest.raises(RunError, match="Cycle 1 is in the past"):
        board.inject("pendsv", at=1)
    with pytest.raises(RunError, match="no pin"):
        board.drive("PK3", 1)
    with pytest.raises(RunError, match="snapshot is from a board"):
        rtoslab.board("pico").restore(board.snapshot())
    with pytest.raises(PlanError, match="n/a on pico with bare"):
        rtoslab.build_image("t3", kernel="bare", board="pico")
    with pytest.raises(UnknownNameError, match="service"):
        rtoslab.sweep_phases("semafore", kernel="rt", board="pico")


def test_documented_names_exist() -> None:
    page = (DOCS / "python-api.md").read_text()
    named = set(re.findall(r"`board\.(\w+)", page))
    assert named >= {"run", "run_until", "read", "write", "probe", "snapshot", "restore", "inject", "edges"}
    for name in named:
        assert hasattr(VirtualBoard, name) or name == "facts", name


def test_notebook_runs(tmp_path: Path) -> None:
    notebook = nbformat.reads((DOCS / "python-api.ipynb").read_text(), as_version=4)  # type: ignore[no-untyped-call]
    assert all(not cell.get("outputs") for cell in notebook.cells), "kept without outputs: they are made by running it"
    done = NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(find_checkout_root())}}).execute()
    texts = [out.get("text", "") for cell in done.cells for out in cell.get("outputs", [])]
    assert any("Over every arrival phase of this scenario" in text for text in texts)
