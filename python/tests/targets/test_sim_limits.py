"""`rtoslab sim` at its ends: numbers of any size, images that go astray, runs that are ended from outside."""

import json
import os
import re
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rtoslab.base.errors import SymbolError
from rtoslab.targets.board import MOST_CYCLES, parse_cycle_count
from tests.cli.test_cli import HANG_S, ROOT, command_error, rtoslab
from tests.differential.engines import elf
from tests.instruments.spoilt_pointer import spoilt_pointer
from tests.processes import start_process

FLASH = 0x0800_0000
STAY = b"\xfe\xe7"
HUGE = str(2**64)


def image(folder: Path, entry: int = FLASH + 9) -> Path:
    """For any STM32: stack pointer, reset vector, and a branch to itself."""
    path = folder / "stay.elf"
    path.write_bytes(elf([(FLASH, struct.pack("<II", 0x2000_1000, entry) + STAY)], entry))
    return path


@pytest.mark.parametrize(
    ("options", "code", "sentence"),
    [
        (["--until", HUGE], 1, f"{HUGE} is more than the {MOST_CYCLES} cycles that can be counted"),
        (["--until", "9" * 5000], 1, "a number of 5000 digits is more than"),
        (["--until", "0x100000000"], 1, "0x100000000 is larger than the last address"),
        (["--between", "0x08000008", "0xfffffffff"], 1, "0xfffffffff is larger than the last address"),
        (["--max-cycles", HUGE], 2, "is not in the range"),
        (["--set", f"clock_hz={HUGE}"], 2, f"{HUGE} is not within"),
        (["--set", "clock_hz=-1"], 1, "a setting is a number from 0 to 2^64 - 1"),
    ],
)
def test_too_large_numbers_are_reported(options: list[str], code: int, sentence: str, tmp_path: Path) -> None:
    assert sentence in command_error(rtoslab("sim", image(tmp_path), "--board", "nucleo-f103rb", *options), code)


def test_cycles_and_symbols_are_distinguished() -> None:
    assert [parse_cycle_count(text) for text in ("0", "007", str(MOST_CYCLES), "main", "0x10", "-1", "²", "٣")] == [
        0, 7, MOST_CYCLES, None, None, None, None, None,
    ]  # fmt: skip
    with pytest.raises(SymbolError):
        parse_cycle_count(str(MOST_CYCLES + 1))


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_warning_names_file_and_line_of_the_code_it_is_about(options: tuple[str, ...]) -> None:
    done = rtoslab("sim", spoilt_pointer("nucleo-f446re"), "--board", "nucleo-f446re", "--until", "fault", *options)
    output = done.stdout if options else done.stderr
    assert re.search(r"core 0 faulted at 0x0800\w{4}, [^ ]*spoilt\.c:\d+, in cycle", output), output


@pytest.mark.parametrize("board", ["nucleo-l053r8", "nucleo-l073rz", "nucleo-f103rb", "nucleo-h743zi"])
def test_reset_vector_to_nowhere_locks_the_core_up(board: str, tmp_path: Path) -> None:
    done = rtoslab("sim", image(tmp_path, 0x6000_0001), "--board", board, "--json")
    result = json.loads(done.stdout)
    assert (done.returncode, result["stop"]) == (3, "lockup"), done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_interrupted_run_shows_its_results(number: signal.Signals, tmp_path: Path) -> None:
    end = str(MOST_CYCLES)
    content, pipe = image(tmp_path).read_bytes(), tmp_path / "pipe.elf"
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "rtoslab", "sim", str(pipe), "--board", "nucleo-f103rb", "--until", end]
    with start_process([*command, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT) as run:
        pipe.write_bytes(content)  # not before the run reads it
        _wait_until_it_simulates(run)
        run.send_signal(number)
        out, err = run.communicate(timeout=HANG_S)
    result = json.loads(out)
    assert (run.returncode, result["stop"], err) == (130, "interrupted", "")
    assert result["cycle"] > 0
    assert result["instructions"][0] > 0
    if number != signal.SIGINT:
        assert number.name in result["detail"]


def _wait_until_it_simulates(run: subprocess.Popen[str]) -> None:
    """Its processor time goes up steadily once the board runs; from its reading the image on it takes less than this
    until it does."""
    begun_s = _spent_s(run)
    for _ in range(20 * HANG_S):
        if _spent_s(run) > begun_s + 0.5:
            return
        time.sleep(0.05)
    raise AssertionError("the run does not begin")


def _spent_s(run: "subprocess.Popen[str]") -> float:
    fields = Path(f"/proc/{run.pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")
