"""A latency benchmark's pin through files and back: the same decoder, the same intervals as the virtual instrument."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from rtoslab import api
from rtoslab.base.errors import CaptureError
from rtoslab.base.paths import find_checkout_root
from rtoslab.captures.capture import UNKNOWN, LogicLevelCapture
from rtoslab.captures.forms import read_capture, write_capture
from rtoslab.captures.recording import OUT, PinEdgeRecording, record_pins_of_virtual_board
from rtoslab.captures.sampling import resample_as_logic_analyzer
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.plan.plan import PlanOptions
from rtoslab.results.results import MeasuredPoint
from tests.cli.test_cli import command_error, rtoslab

POINT = ("call_times", "--kernel", "bare", "--board", "nucleo-l073rz", "--config", "samples=9")


@pytest.fixture(scope="module")
def recording() -> PinEdgeRecording:
    options = PlanOptions(["bare"], ["nucleo-l073rz"], [1], None, {"samples": "9"})
    return record_pins_of_virtual_board(Catalogue(find_checkout_root()), "call_times", options)


def cycles(of: PinEdgeRecording, capture: LogicLevelCapture) -> dict[str, list[float]]:
    return {
        ident: item.pulse_widths_in_cycles(of.clock_hz).tolist()
        for ident, item in of.pulses_by_series(capture.find_logic_channel(None), capture).items()
    }


def test_decoder_finds_the_pulses_of_the_virtual_instrument(recording: PinEdgeRecording, tmp_path: Path) -> None:
    config = {"samples": "9", "instrument": "pin"}
    (outcome,) = api.run("call_times", kernels=["bare"], boards=["nucleo-l073rz"], config=config, out=tmp_path / "run")
    assert isinstance(outcome.result, MeasuredPoint), outcome.result
    assert outcome.result.series
    decoded = cycles(recording, recording.capture)
    for samples in outcome.result.series:
        assert list(samples.cycles) == decoded[samples.id][: len(samples.cycles)], samples.id


@pytest.mark.parametrize(("form", "step"), [("vcd", 1e-6), ("saleae", 0.033), ("saleae1", 1e-4)])
def test_file_loses_only_resolution(recording: PinEdgeRecording, form: str, step: float, tmp_path: Path) -> None:
    write_capture(recording.capture, tmp_path / "x", form)
    before, after = cycles(recording, recording.capture), cycles(recording, read_capture(tmp_path / "x"))
    for ident in recording.series:
        assert len(before[ident]) >= 9
        assert np.abs(np.subtract(before[ident], after[ident])).max() <= step


def test_eight_megasamples_have_errors_of_one_sample_and_miss_short_pulses(
    recording: PinEdgeRecording, tmp_path: Path
) -> None:
    """A sample is four cycles: a pulse of one cycle is seen by one of four analyzers that begin a cycle apart."""
    before = cycles(recording, recording.capture)
    assert set(before["pin.clear"]) == {1}
    seen = 0
    for phase in range(4):
        write_capture(resample_as_logic_analyzer(recording.capture, 8_000_000, Fraction(phase, 4)), tmp_path / "x.sr")
        after = cycles(recording, read_capture(tmp_path / "x.sr"))
        seen += len(after["pin.clear"])
        for ident in recording.series:
            if min(before[ident]) > 4:
                assert len(after[ident]) == len(before[ident])
                assert np.abs(np.subtract(before[ident], after[ident])).max() < 4, ident
    assert seen == len(before["pin.clear"])


def test_capture_of_another_image_is_refused(recording: PinEdgeRecording) -> None:
    half = LogicLevelCapture(recording.capture.tick_s, recording.capture.channels, recording.capture.end_tick)
    channel = half.find_logic_channel(OUT)
    cut = type(channel)(OUT, channel.ticks[-9:], channel.levels[-9:])
    with pytest.raises(
        CaptureError, match=r"holds 4 complete pulses, but the image generates \d+ in its measured window"
    ):
        recording.pulses_by_series(cut, half)
    coarse = resample_as_logic_analyzer(recording.capture, 100_000)
    with pytest.raises(CaptureError, match="With a sample every 10000 ns some of the image's pulses are too short"):
        recording.pulses_by_series(coarse.channels[0], coarse)


def test_unknown_level_in_the_window_is_refused(recording: PinEdgeRecording) -> None:
    channel = recording.capture.find_logic_channel(OUT)
    levels = channel.levels.copy()
    levels[-20] = UNKNOWN
    with pytest.raises(CaptureError, match=r"unknown \(x or z\) 1 time among the window's pulses"):
        recording.pulses_by_series(type(channel)(OUT, channel.ticks, levels), recording.capture)


def test_capture_and_decode_commands(tmp_path: Path) -> None:
    written = rtoslab("pins", "record", *POINT, "-o", tmp_path / "x.sr", "--sample-rate", "32MHz")
    assert written.returncode == 0, written.stderr
    decoded = rtoslab("pins", "decode", tmp_path / "x.sr", *POINT, "--json")
    assert decoded.returncode == 0, decoded.stderr
    rows = json.loads(decoded.stdout)["series"]
    assert {row["name"] for row in rows} == {"capture", "virtual"}
    for capture, virtual in zip(rows[::2], rows[1::2], strict=True):
        assert capture["series"] == virtual["series"]
        assert capture["median"] == pytest.approx(virtual["median"])
    single = rtoslab("pins", "decode", tmp_path / "x.sr", "--json")
    assert json.loads(single.stdout)["channels"][0]["unit"] == "us"
    (tmp_path / "x.vcd").write_text(
        "$timescale 1 ns $end $var wire 1 ! a $end $enddefinitions $end\n#0 0!\n#1 1!\n#2 x!\n#5 1!\n#6 0!\n#7\n"
    )
    unsure = rtoslab("pins", "decode", tmp_path / "x.vcd", "--json")
    assert (unsure.returncode, json.loads(unsure.stdout)["channels"][0]["pulses"]) == (3, 0)
    assert "is unknown (x or z) in 1 place, first at 0.002 us" in json.loads(unsure.stdout)["notes"][0]
    assert rtoslab("pins", "decode", tmp_path / "x.vcd").stderr.startswith("warning: The level of a is unknown")
    assert "give --kernel and --board" in command_error(rtoslab("pins", "decode", tmp_path / "x.sr", "call_times"), 1)
    assert "Cannot read the capture" in command_error(rtoslab("pins", "decode", tmp_path / "none.vcd"), 1)
    assert "is not one latency benchmark" in command_error(
        rtoslab("pins", "record", "t2", *POINT[1:5], "-o", tmp_path / "y.vcd"), 1
    )
