"""`rtoslab run --target`, the whole way: a program that flashes starts a virtual board behind a pseudo-terminal."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_cli import command_error, rtoslab
from tests.hardware.desk import Desk, plug_in

BOARD = "nucleo-f446re"
QUICK = ("--kernel", "bare", "--window", "20ms")


def run_on_board(desk: Desk, out: Path, *words: str, benchmark: str = "t1", board: str = BOARD) -> dict[str, Any]:
    done = rtoslab("run", benchmark, "--board", board, *QUICK, "--target", "auto", "--port", desk.port, "--out", out,
                   "--json", *words, **desk.environment)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def count(result: dict[str, Any]) -> object:
    (point,) = result["points"]
    assert point["status"] == "measured", point
    return point


def words_of(desk: Desk) -> list[list[str]]:
    return [order["argv"][1:] for order in desk.orders]


@pytest.mark.parametrize("tool", ["probe-rs", "pyocd", "openocd", "st-flash"])
def test_each_flash_program_works_and_loses_no_byte(tmp_path: Path, tool: str) -> None:
    with Desk(tmp_path, BOARD, (tool,)) as desk:
        count(run_on_board(desk, tmp_path / "run"))
        assert all(desk.serial in " ".join(word) for word in words_of(desk))


def test_real_board_gives_the_same_results_as_the_virtual_one(tmp_path: Path) -> None:
    done = rtoslab("run", "t1", "--board", BOARD, *QUICK, "--out", tmp_path / "virtual", "--json")
    with Desk(tmp_path, BOARD) as desk:
        real = run_on_board(desk, tmp_path / "real")
    (virtual,), (seen,) = json.loads(done.stdout)["points"], real["points"]
    assert seen["counters"] == virtual["counters"]


def test_board_in_bootsel_mode_is_flashed(tmp_path: Path) -> None:
    with Desk(tmp_path, "pico", ("picotool",), serial="E0C9125B0D9B", usb="2e8a:0003") as desk:
        count(run_on_board(desk, tmp_path / "run", board="pico"))
        ((*_, bus, seven, address, one),) = [[*word[:-4], *word[-4:]] for word in words_of(desk)]
        assert (bus, seven, address, one) == ("--bus", "1", "--address", "7")


def test_reset_during_a_run_is_reported(tmp_path: Path) -> None:
    with Desk(tmp_path, BOARD, reset_after=300) as desk:
        text = command_error(rtoslab("run", "t1", "--board", BOARD, *QUICK, "--target", "auto", "--port", desk.port,
                             "--out", tmp_path / "run", **desk.environment), 3)  # fmt: skip
    assert "restarted during its run" in text
    assert "0 of 1 point are stored" in text
    assert "run the same command again to measure the rest" in text


def test_run_resumes_after_a_pulled_cable(tmp_path: Path) -> None:
    command = ("run", "t1", "t4", *QUICK, "--board", BOARD, "--target", "auto", "--out", tmp_path / "run")
    first = tmp_path / "first"
    second = tmp_path / "second"
    first.mkdir()
    second.mkdir()
    with Desk(first, BOARD, pull_after=600) as desk:
        text = command_error(rtoslab(*command, "--port", desk.port, **desk.environment), 1)
        assert "failed after" in text
        assert "check the cable" in text
    with Desk(second, BOARD) as desk:
        done = rtoslab(*command, "--port", desk.port, "--json", **desk.environment)
        assert done.returncode == 0, done.stderr
        flashed = len(desk.orders)
    with Desk(tmp_path, BOARD) as desk:
        again = rtoslab(*command, "--port", desk.port, **desk.environment)
        assert again.returncode == 0, again.stderr
        assert "were already in the folder" in again.stderr
        assert flashed == 2
        assert not desk.orders


def test_lost_bytes_cause_repeats_up_to_a_limit(tmp_path: Path) -> None:
    def first_time(starts: int, data: bytes) -> bytes:
        return data.replace(b" name=", b" nme=", 1) if starts == 0 else data

    folder = tmp_path / "once"
    folder.mkdir()
    with Desk(folder, BOARD, spoil=first_time) as desk:
        count(run_on_board(desk, folder / "run"))
        assert len(desk.orders) == 2
    with Desk(tmp_path, BOARD, spoil=lambda _, data: data.replace(b" window ", b" wndow ")) as desk:
        text = command_error(rtoslab("run", "t1", "--board", BOARD, *QUICK, "--target", "auto", "--port", desk.port,
                             "--out", tmp_path / "run", **desk.environment), 3)  # fmt: skip
        assert "was damaged 3 times" in text
        assert len(desk.orders) == 3
    assert not list((tmp_path / "run").glob("*/result.json")), "a point that gave no number of the board's is not kept"


def test_failing_or_hanging_flash_program_is_reported(tmp_path: Path) -> None:
    desk_map = tmp_path / "bench.toml"
    with Desk(tmp_path, BOARD, stuck=True) as desk:
        desk_map.write_text(
            f'[[target]]\nname = "left"\nboard = "{BOARD}"\nprobe = "{desk.serial}"\nport = "{desk.port}"\n'
            "flash_limit_s = 2\n"
        )
        text = command_error(rtoslab("run", "t1", "--board", BOARD, *QUICK, "--target", "left", "--bench", desk_map,
                             "--out", tmp_path / "run", **desk.environment), 1)  # fmt: skip
    assert "openocd did not end within 2 s" in text
    (tmp_path / "sub").mkdir()
    with Desk(tmp_path / "sub", BOARD) as desk:
        desk.serial = "another"
        text = command_error(rtoslab("run", "t1", "--board", BOARD, *QUICK, "--target", "auto", "--port", desk.port,
                             "--out", tmp_path / "run", **desk.environment), 1)  # fmt: skip
    assert "ended with code 2" in text
    assert "no probe 066CFF57" in text


def test_dry_run_prints_the_commands_and_starts_none(tmp_path: Path) -> None:
    with Desk(tmp_path, BOARD, ("probe-rs",)) as desk:
        done = rtoslab("run", "t1", "--board", BOARD, *QUICK, "--target", "auto", "--port", desk.port, "--dry-run",
                       "--out", tmp_path / "run", **desk.environment)  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert not desk.orders
    lines = done.stdout.splitlines()
    assert lines[0] == f"# reads {desk.port} at 115200 baud before it starts"
    assert lines[1].startswith("probe-rs download --non-interactive --chip STM32F446RETx --probe 0483:374b:066CFF57")
    assert lines[1].endswith("/image.elf")
    assert lines[2].startswith("probe-rs reset ")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--target", "auto"), "A real board is only flashed if its type is given"),
        (
            ("--target", "auto", "--board", BOARD),
            "has no serial port; add --port with the serial port that is connected to PA2",
        ),
        (("--target", "nobody", "--board", BOARD), "no probe with the serial number 'nobody'"),
        (("--target", "-x", "--board", BOARD), "no probe with the serial number '-x'"),
        (("--target", "auto", "--board", "pico", "--port", "p"), "No installed program can flash the pico"),
        (("--bench", "map.toml", "--board", BOARD), "needs --target"),
    ],
)
def test_ambiguous_options_are_refused(tmp_path: Path, words: tuple[str, ...], sentence: str) -> None:
    with Desk(tmp_path, BOARD, ("st-flash",)) as desk:
        assert sentence in command_error(rtoslab("run", "t1", *QUICK, *words, **desk.environment), 1)
        assert not desk.orders


def test_ambiguous_probe_is_refused(tmp_path: Path) -> None:
    with Desk(tmp_path, BOARD) as desk:
        plug_in(tmp_path / "sys", "0483:374b", "0671FF38", "1-5", "ttyACM3")
        text = command_error(rtoslab("run", "t1", "--board", BOARD, "--target", "auto", **desk.environment), 1)
        assert "2 probes are connected that could be the nucleo-f446re's; name one with --target" in text
        assert "0671FF38" in text
        result = json.loads(rtoslab("list", "targets", "--json", **desk.environment).stdout)
        assert [item["ports"] for item in result["connected"]] == [[], ["/dev/ttyACM3"]]
        assert result["connected"][0]["flashes"][BOARD] == ["openocd"]
