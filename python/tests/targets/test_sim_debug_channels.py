"""`rtoslab sim` shows what firmware tells a debugger: semihosting, ITM and defmt."""

import json
import struct
from pathlib import Path
from typing import Any

import pytest

from rtoslab.targets import SimulationRunOptions, simulate_image
from tests.cli.test_cli import command_error, rtoslab
from tests.debugged_firmware import build, build_log, rzcobs

F446 = ("--board", "nucleo-f446re")
L073 = ("--board", "nucleo-l073rz")
FRAMES = (
    struct.pack("<HIB", 2, 1_500_000, 7),
    struct.pack("<HII", 3, 2_000_001, 4) + b"boot",
    struct.pack("<HI", 4, 3_000_000),
)


def run_sim(image: Path, *options: str, code: int = 0, board: tuple[str, str] = F446) -> dict[str, Any]:
    done = rtoslab("sim", image, *board, *options, "--json")
    assert done.returncode == code, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize(("cpu", "board"), [("cortex-m4", F446), ("cortex-m0plus", L073)])
def test_semihosting_prints_reads_and_exits(cpu: str, board: tuple[str, str], tmp_path: Path) -> None:
    image = build(tmp_path, "SEMIHOSTING", "CODE=7", cpu=cpu)
    result = run_sim(image, "--type-semihosting", "typed\n", code=7, board=board)
    assert result["debug"] == {
        "semihosting": "begin\n!to stdout\ntyped\n",
        "semihosting-stderr": "to stderr\n",
    }
    assert (result["stop"], result["exit_code"]) == ("exit", 7)
    assert result["detail"] == "The firmware ended with exit code 7."
    (refused,) = [warning for warning in result["warnings"] if "host.txt" in warning]
    assert "files of the host cannot be opened" in refused


def test_semihosting_on_both_cores_chip(tmp_path: Path) -> None:
    """The Pico: the image begins with the second stage that its boot ROM checks, so it runs from RAM here."""
    image = build(tmp_path, "SEMIHOSTING", "CODE=0", cpu="cortex-m0plus", base=0x2004_0000)
    result = run_sim(image, board=("--board", "pico"))
    assert result["debug"]["semihosting"] == "begin\n!to stdout\n"
    assert result["exit_code"] == 0


def test_output_carries_its_channel_and_ends_a_run(tmp_path: Path) -> None:
    image = build(tmp_path, "SEMIHOSTING", "CODE=0")
    output = rtoslab("sim", image, *F446).stdout
    assert "semihosting: begin\n" in output
    assert "semihosting: !to stdout\n" in output
    assert "semihosting-stderr: to stderr\n" in output
    assert "after the exit" not in output
    assert run_sim(image, "--expect", "to std(out)")["stop"] == "passed"
    assert run_sim(image, "--fail", "^to stderr", code=3)["stop"] == "failed"
    never = run_sim(image, "--expect", "PASSED", code=3)
    assert never["detail"].endswith("The output never matched 'PASSED'.")


def test_invalid_exit_code_is_mapped(tmp_path: Path) -> None:
    assert run_sim(build(tmp_path, "SEMIHOSTING", "CODE=300"), code=3)["exit_code"] == 300


def test_semihosting_call_takes_the_time_of_its_instruction(tmp_path: Path) -> None:
    """MOVS and BKPT take a cycle each, the refill behind BKPT three and the load of the counter two."""
    from rtoslab.base import find_checkout_root  # noqa: PLC0415
    from rtoslab.catalogue import Catalogue  # noqa: PLC0415
    from rtoslab.targets import make_board_at_reset  # noqa: PLC0415

    image = build(tmp_path, "CYCLES")
    facts = Catalogue(find_checkout_root()).find_board("nucleo-f446re").facts
    machine = make_board_at_reset(facts, cores=1)
    simulate_image(image, facts, SimulationRunOptions(settings={"flash.wait_states": 0}), machine=machine)
    address = machine.symbol("code_cycles")
    assert address is not None
    assert int.from_bytes(machine.read(address, 4), "little") < 12


def test_semihosting_call_inside_an_it_block(tmp_path: Path) -> None:
    from rtoslab import board  # noqa: PLC0415

    running = board("nucleo-f446re").load(build(tmp_path, "IN_BLOCK"))
    assert running.run(100_000).reason == "exit"
    assert running.exit_code == 0
    results = running.address("results")
    assert running.word(results + 4 * 30) == 2 + 2 * 32, "odd turns: the instructions before and behind BKPT"
    assert running.word(results + 4 * 31) == 2, "even turns: BKPT alone"


def test_python_board_shows_debug_output(tmp_path: Path) -> None:
    from rtoslab import board  # noqa: PLC0415

    running = board("nucleo-f446re").load(build(tmp_path, "SEMIHOSTING", "CODE=9"))
    begin = running.snapshot()
    stop = running.run(1_000_000)
    assert (stop.reason, running.exit_code) == ("exit", 9)
    texts = running.debug_output()
    assert texts["semihosting"].startswith(b"begin\n!")
    assert running.debug_output() == {}
    running.restore(begin)
    assert running.exit_code is None
    running.run(1_000_000)
    assert running.debug_output() == texts


def test_itm_enabled_by_the_firmware(tmp_path: Path) -> None:
    result = run_sim(build(tmp_path, "ITM", "OPENS"))
    assert result["debug"] == {"itm0": "hello\n", "itm2": "abc\n"}
    assert result["notes"] == []


def test_itm_enabled_by_a_debugger(tmp_path: Path) -> None:
    image = build(tmp_path, "ITM")
    closed = run_sim(image)
    assert closed["debug"] == {}
    (note,) = closed["notes"]
    assert "--itm" in note
    opened = run_sim(image, "--itm")
    assert opened["debug"] == {"itm0": "hello\n", "itm2": "abc\n", "itm3": "ded\n"}
    assert opened["notes"] == []
    assert "itm0: hello\n" in rtoslab("sim", image, *F446, "--itm").stdout


@pytest.mark.parametrize("encoding", ["raw", "rzcobs"])
def test_defmt_is_decoded_from_the_image(encoding: str, tmp_path: Path) -> None:
    frames = FRAMES if encoding == "raw" else [rzcobs(frame) for frame in FRAMES if len(frame) <= 7]
    image = build_log(tmp_path, b"".join(frames), encoding)
    result = run_sim(image, "--timeout", "20ms")
    assert result["rtt"] == {}
    lines = [(line["level"], line["timestamp"], line["message"]) for line in result["defmt"]]
    expected = [("info", "1.500000", "step 7"), ("error", "2.000001", "boot failed"), (None, "3.000000", "plain")]
    assert lines == (expected if encoding == "raw" else [expected[0], expected[2]])
    assert "defmt: 1.500000 INFO  step 7\n" in rtoslab("sim", image, *F446, "--timeout", "20ms").stdout
    assert run_sim(image, "--expect", "INFO +step 7")["stop"] == "passed"


def test_damaged_defmt_frame_is_reported(tmp_path: Path) -> None:
    image = build_log(tmp_path, bytes([0x77, 0x66, 0x7F, 0]) + rzcobs(FRAMES[0]), "rzcobs")
    messages = [line["message"] for line in run_sim(image, "--timeout", "20ms")["defmt"]]
    assert messages == ["(4 bytes are not a defmt frame of this image)", "step 7"]


def test_defmt_table_of_an_unknown_version_is_refused(tmp_path: Path) -> None:
    image = build_log(tmp_path, b"", "morse")
    message = command_error(rtoslab("sim", image, *F446), 1)
    assert "defmt log cannot be decoded" in message
