"""`rtoslab pins record --sigrok`, the whole way: an analyzer that records while a board is flashed, reset and heard."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from rtoslab.base.errors import PlanError
from rtoslab.captures.live import parse_analyzer_wires
from rtoslab.cli import app
from tests.cli.test_cli import command_error, rtoslab
from tests.hardware.desk import CATALOGUE, Desk

BOARD = "nucleo-f446re"
POINT = ("call_times", "--kernel", "bare", "--board", BOARD, "--config", "samples=5")
TOOLS = ("openocd", "sigrok-cli")


def live(desk: Desk, out: Path, *words: str, rate: str = "24MHz") -> Any:
    return rtoslab("pins", "record", *POINT, "--target", "auto", "--port", desk.port, "--sigrok", "fx2lafw:conn=1.14",
                   "--sample-rate", rate, "-o", out, *words, **desk.environment)  # fmt: skip


def test_live_capture_gives_the_pulses_of_the_virtual_board(tmp_path: Path) -> None:
    with Desk(tmp_path, BOARD, TOOLS, analyzer="fine") as desk:
        done = live(desk, tmp_path / "pins.sr", "--wire", "D3=pa8")
        assert done.returncode == 0, done.stderr
        assert [order["do"] for order in desk.orders] == ["analyzer", "flash"], "it records before the board is touched"
        assert "D3=out" in desk.orders[0]["argv"]
    assert "may be missing; use a higher --sample-rate" in done.stderr
    assert sorted(path.name for path in tmp_path.glob("pins*")) == ["pins.sr"]
    decoded = json.loads(rtoslab("pins", "decode", tmp_path / "pins.sr", *POINT, "--json").stdout)["series"]
    result = 0
    for capture, virtual in zip(decoded[::2], decoded[1::2], strict=True):
        if virtual["min"] > capture["resolution"]:
            result += 1
            assert capture["pulses"] == virtual["pulses"]
            assert abs(capture["median"] - virtual["median"]) < capture["resolution"]
    assert result >= 4


def test_dry_run_prints_the_commands_and_starts_none(tmp_path: Path) -> None:
    with Desk(tmp_path, BOARD, TOOLS, analyzer="fine") as desk:
        done = live(desk, tmp_path / "pins.sr", "--dry-run")
        assert done.returncode == 0, done.stderr
        assert not desk.orders
    lines = done.stdout.splitlines()
    assert lines[1] == (
        "sigrok-cli --driver fx2lafw:conn=1.14 --config samplerate=24000000 --channels D0=out --time 935000 "
        f"--output-format vcd --output-file {tmp_path / 'pins.sr'}.recorded.vcd"
    )
    assert lines[2] == f"# reads {desk.port} at 115200 baud before it starts"
    assert lines[3].startswith("openocd -f interface/stlink.cfg")
    assert not list(tmp_path.glob("pins*"))


@pytest.mark.parametrize(
    ("how", "sentence", "kept"),
    [
        ("missing", "recorded nothing: it ended with code 1, with the message: No devices found.; check that", []),
        ("early", "stopped recording before the end of the board's run (code 0); check the analyzer's cable", ["vcd"]),
    ],
)
def test_failing_analyzer_is_reported(tmp_path: Path, how: str, sentence: str, kept: list[str]) -> None:
    with Desk(tmp_path, BOARD, TOOLS, analyzer=how) as desk:
        text = command_error(live(desk, tmp_path / "pins.sr"), 1)
        assert ("flash" in [order["do"] for order in desk.orders]) == bool(kept), "nothing is flashed in vain"
    assert sentence in text
    assert [path.name for path in tmp_path.glob("pins*")] == [f"pins.sr.recorded.{stored_item}" for stored_item in kept]
    assert ("The recording up to then is in" in text) == bool(kept)


@pytest.mark.long
def test_too_low_sample_rate_is_reported_and_the_capture_kept(tmp_path: Path) -> None:
    with Desk(tmp_path, BOARD, TOOLS, analyzer="fine") as desk:
        text = command_error(live(desk, tmp_path / "pins.sr", rate="200000"), 1)
    assert "record at a higher rate" in text
    assert f"The capture is in {tmp_path / 'pins.sr'}." in text
    assert (tmp_path / "pins.sr").exists()


def test_pulled_cable_leaves_no_partial_capture(tmp_path: Path) -> None:
    with Desk(tmp_path, BOARD, TOOLS, analyzer="fine", pull_after=1500) as desk:
        assert "check the cable" in command_error(live(desk, tmp_path / "pins.sr"), 1)
    assert not list(tmp_path.glob("pins*"))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--target", "auto"), "add --sigrok DRIVER"),
        (("--sigrok", "fx2lafw"), "add --sample-rate"),
        (("--sigrok", "fx2lafw", "--sample-rate", "24MHz"), "add --target auto"),
        (
            ("--sigrok", "fx2lafw", "--sample-rate", "24MHz", "--target", "auto"),
            "A real board is only flashed if its type is given",
        ),
    ],
)
def test_missing_options_are_reported(tmp_path: Path, words: tuple[str, ...], sentence: str) -> None:
    request = ["pins", "record", "call_times", "-o", str(tmp_path / "x.sr"), *words]
    done = CliRunner().invoke(app, request, standalone_mode=False)
    assert isinstance(done.exception, PlanError)
    assert sentence in str(done.exception)


@pytest.mark.parametrize(
    ("wires", "sentence"),
    [
        (
            ["D0=PA9"],
            "'D0=PA9' is not a list of CHANNEL=PIN with each channel and each pin once; the measured pins of the",
        ),
        (["D0=PA8", "D1"], "'D1' is not a list of CHANNEL=PIN"),
        (["D1=PB0"], "No channel is connected to PA8"),
    ],
)
def test_invalid_wires_are_refused(wires: list[str], sentence: str) -> None:
    with pytest.raises(PlanError, match=sentence):
        parse_analyzer_wires(CATALOGUE.find_board(BOARD).facts, wires)


def test_channels_are_named_by_their_pins() -> None:
    assert parse_analyzer_wires(CATALOGUE.find_board("pico").facts, ["D1=gp2"]) == (("D1", "out"),), (
        "it drives and hears one pin"
    )
    assert parse_analyzer_wires(CATALOGUE.find_board(BOARD).facts, ["D1=pb0", "D0"]) == (("D1", "in"), ("D0", "out"))
    assert parse_analyzer_wires(CATALOGUE.find_board(BOARD).facts, []) == (("D0", "out"),)
