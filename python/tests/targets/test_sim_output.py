"""`rtoslab sim` prints what firmware prints by RTT, ends by what it prints, and tells a fault with its callers."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtoslab.targets.rtt import RttBuffers
from tests.cli.test_cli import command_error, rtoslab
from tests.printing_firmware import build

F446 = ("--board", "nucleo-f446re")
TYPED = "abcdefghijklmnopqrst"


def run_sim(image: Path, *options: str | Path, code: int = 0, board: tuple[str, str] = F446) -> dict[str, Any]:
    done = rtoslab("sim", image, *board, *options, "--json")
    assert done.returncode == code, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_rtt_input_and_output_and_end_by_pattern(tmp_path: Path) -> None:
    result = run_sim(build(tmp_path), "--type-rtt", TYPED, "--expect", "^PASS", "--fail", "ERROR")
    assert result["stop"] == "passed"
    assert result["rtt"] == {"rtt0": "a line that fills the buffer\n" * 5 + TYPED + "\nPASSED\n"}
    assert result["cycle"] < 5_000_000, "the run ends at once"


def test_line_of_rtt_names_its_channel(tmp_path: Path) -> None:
    output = rtoslab("sim", build(tmp_path), *F446, "--timeout", "20ms").stdout
    assert output.count("rtt0: a line that fills the buffer\n") == 5
    assert "stop: timeout" in output


def test_failure_pattern_and_missing_pattern(tmp_path: Path) -> None:
    image = build(tmp_path)
    failed = run_sim(image, "--fail", "fills", "--expect", "PASSED", code=3)
    assert failed["stop"] == "failed"
    never = run_sim(image, "--expect", "PASSED", "--timeout", "5ms", code=3)
    assert never["stop"] == "timeout"
    assert str(never["detail"]).endswith("The output never matched 'PASSED'.")
    assert "not a regular expression" in command_error(rtoslab("sim", image, *F446, "--expect", "("), 1)


def test_fault_on_the_main_stack_names_cause_place_and_callers(tmp_path: Path) -> None:
    result = run_sim(build(tmp_path, "FAULT"), code=3)
    first, *callers = result["faults"]
    assert "took a HardFault" in first
    assert " in inner at " in first
    assert "main.c:" in first
    assert "a data access failed (address 0x10000000)" in first
    assert [caller.split()[2] for caller in callers] == ["middle", "task", "reset"]
    assert result["stop"] == "fault"


def test_fault_on_the_process_stack_is_explained(tmp_path: Path) -> None:
    first, *callers = run_sim(build(tmp_path, "PROCESS_STACK"), code=3)["faults"]
    assert " in inner at " in first
    assert [caller.split()[2] for caller in callers][:3] == ["middle", "task", "reset"]


def test_the_function_that_ends_a_task_is_no_caller(tmp_path: Path) -> None:
    _, *callers = run_sim(build(tmp_path, "AS_TASK"), code=3)["faults"]
    assert [caller.split()[2] for caller in callers] == ["middle", "task"]


def test_enabled_usage_fault_is_explained(tmp_path: Path) -> None:
    first, *_ = run_sim(build(tmp_path, "DIVIDE"), code=3)["faults"]
    assert "took a UsageFault" in first
    assert first.endswith("division by zero.")


def test_fault_without_status_registers_is_explained(tmp_path: Path) -> None:
    image = build(tmp_path, "FAULT", cpu="cortex-m0plus")
    first, *callers = run_sim(image, code=3, board=("--board", "nucleo-l073rz"))["faults"]
    assert first.endswith("the core does not report the reason.")
    assert [caller.split()[2] for caller in callers] == ["middle", "task", "reset"]


def test_handled_fault_is_reported_but_is_not_a_failure(tmp_path: Path) -> None:
    image = build(tmp_path, "FAULT", "SKIP")
    result = run_sim(image, "--type-rtt", TYPED, "--expect", "PASSED")
    assert (result["stop"], len(result["faults"]) > 1) == ("passed", True)


def test_second_fault_after_a_handled_one_is_reported(tmp_path: Path) -> None:
    """Both come within one look at the board."""
    result = run_sim(build(tmp_path, "FAULT", "SKIP", "TWICE"), "--type-rtt", TYPED, "--expect", "PASSED")
    assert sum("took a HardFault" in item for item in result["faults"]) == 2


def test_program_that_stops_at_a_breakpoint_is_not_a_fault(tmp_path: Path) -> None:
    result = run_sim(build(tmp_path, "PARK"), "--timeout", "20ms")
    assert result["faults"] == []


def test_driven_pin_is_pressed_and_released(tmp_path: Path) -> None:
    image = build(tmp_path, "WAIT_FOR_PIN")
    drives = ("--drive", "PC13=1", "--drive", "PC13=1@9ms", "--drive", "PC13=0@7ms")
    assert run_sim(image, *drives, "--timeout", "8ms")["rtt"]["rtt0"].endswith("pressed\n")
    result = run_sim(image, *drives, "--expect", "released")
    # 9 ms of the 16 MHz that the F446 begins with, and the next look at the buffers.
    assert 9 * 16_000 <= result["cycle"] <= 11 * 16_000


@pytest.mark.parametrize("level", ["PC13", "PC13=2", "PC13=0@10", "=1", "PC13=0@ms"])
def test_invalid_pin_level_is_refused(level: str, tmp_path: Path) -> None:
    done = rtoslab("sim", tmp_path / "x.elf", *F446, "--drive", level)
    assert "write PC13=0 or PC13=0@10ms" in done.stderr
    assert done.returncode == 2


def test_unknown_pin_is_refused(tmp_path: Path) -> None:
    image = build(tmp_path)
    assert "use names such as PB0" in command_error(rtoslab("sim", image, *F446, "--drive", "GP3=1"), 1)


def test_junit_file_is_written(tmp_path: Path) -> None:
    out = tmp_path / "j.xml"
    run_sim(build(tmp_path, "FAULT"), "--junit", out, code=3)
    (case,) = Xml.parse(out).getroot()  # noqa: S314 (our own file)
    assert case.attrib["name"] == "fw"
    failure, output = case
    assert failure.attrib["message"].startswith("fault: Core 0 took a HardFault")
    assert "called from middle" in (failure.text or "")
    assert "a line that fills the buffer" in (output.text or "")
    run_sim(build(tmp_path), "--junit", out, "--expect", "fills")
    assert [item.tag for item in Xml.parse(out).getroot()[0]] == ["system-out"]  # noqa: S314


class Ram:
    """Memory with one control block, one buffer up."""

    def __init__(self, size: int, offset: int) -> None:
        self.content = bytearray(4096)
        self.content[:10] = b"SEGGER RTT"
        self.put(16, 1)
        for number, word in enumerate((0, 1024, size, offset, offset)):
            self.put(24 + 4 * number, word)

    def put(self, at: int, word: int) -> None:
        self.content[at : at + 4] = word.to_bytes(4, "little")

    def word(self, at: int) -> int:
        return int.from_bytes(self.content[at : at + 4], "little")

    def read(self, address: int, length: int) -> bytes:
        return bytes(self.content[address : address + length])

    def write(self, address: int, data: bytes) -> None:
        self.content[address : address + len(data)] = data

    def print(self, data: bytes) -> int:
        """As firmware does; how many bytes had room."""
        size, write, read = (self.word(at) for at in (32, 36, 40))
        fits = data[: (read - write - 1) % size]
        for byte in fits:
            self.content[1024 + write] = byte
            write = (write + 1) % size
        self.put(36, write)
        return len(fits)


@given(st.integers(2, 40), st.integers(0, 39), st.lists(st.binary(max_size=60), max_size=12))
def test_rtt_loses_nothing_at_a_wrap(size: int, offset: int, pieces: list[bytes]) -> None:
    ram = Ram(size, offset % size)
    rtt = RttBuffers(ram, 0)  # type: ignore[arg-type]
    came, sent = b"", b""
    for piece in pieces:
        sent += piece[: ram.print(piece)]
        came += b"".join(data for _, data in rtt.receive_output())
    assert came == sent


@pytest.mark.parametrize(
    ("at", "word"), [(16, 0xFFFF_FFFF), (32, 0), (32, 1 << 31), (36, 999), (40, 999), (28, 1 << 31)]
)
def test_words_that_are_not_an_rtt_block_are_ignored(at: int, word: int) -> None:
    ram = Ram(16, 0)
    ram.print(b"x")
    ram.put(at, word)
    assert all(isinstance(data, bytes) for _, data in RttBuffers(ram, 0).receive_output())  # type: ignore[arg-type]
