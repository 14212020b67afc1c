"""A recorder of its own: what is started, what is said where it cannot record, what is left where it was ended."""

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from rtoslab.base.errors import CaptureError
from rtoslab.captures.live import _read_recording
from rtoslab.hardware import analyzers
from rtoslab.hardware.analyzers import SIGROK, AnalyzerRecording, LogicAnalyzer, analyzer_version_line

FAST = LogicAnalyzer("fx2lafw", 1_000_000, (("D0", "out"),), start_limit_s=2.0, tail_s=0.0)
Start = Callable[[str], AnalyzerRecording]


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Start:
    """Of a script in the place of sigrok-cli; `$OUT` is the file that it is to write."""

    def start_recorder(script: str) -> AnalyzerRecording:
        program = tmp_path / SIGROK
        program.write_text(f"#!/bin/sh\nfor OUT; do :; done\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.defpath}")
        return AnalyzerRecording(FAST, 10.0, tmp_path / "x.vcd", tmp_path / "reply")

    return start_recorder


def test_stopped_recording_is_complete_up_to_its_last_line(start: Start, tmp_path: Path) -> None:
    recorder = start(r'printf "#0 0!\n#417 1!\n#12" > "$OUT"; exec sleep 30')
    recorder.finish_recording()
    assert (tmp_path / "x.vcd").read_text() == "#0 0!\n#417 1!\n"


def test_missing_sigrok_is_reported_with_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert analyzer_version_line() == ""
    with pytest.raises(CaptureError, match=r"Cannot start sigrok-cli .*; install it \(apt-get install sigrok-cli\)"):
        AnalyzerRecording(FAST, 10.0, tmp_path / "x.vcd", tmp_path / "reply")


def test_analyzer_without_samples_is_stopped(start: Start) -> None:
    begin = time.monotonic()
    with pytest.raises(CaptureError, match=r"No sample came from fx2lafw within 2 s, with the message: waiting; check"):
        start("echo waiting; exec sleep 30")
    assert time.monotonic() - begin < 10, "the program was ended"


def test_full_disk_is_reported_before_and_during_recording(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = [100 << 20]
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free[0]))
    recorder = start('echo "#0 0!" > "$OUT"; exec sleep 30')
    free[0] = 5 << 20
    recorder._process.wait(10)
    with pytest.raises(CaptureError, match=f"Only 5 MiB are free in {tmp_path}.*free 64"):
        recorder.finish_recording()
    with pytest.raises(CaptureError, match="Only 5 MiB are free"):
        start("echo never")


def test_missing_folder_is_reported(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match=r"No such file or directory.*create the folder"):
        AnalyzerRecording(FAST, 10.0, tmp_path / "none" / "x.vcd", tmp_path / "reply")


def test_deleted_recording_is_reported(start: Start, tmp_path: Path) -> None:
    recorder = start('echo "#0 0!" > "$OUT"; exec sleep 30')
    (tmp_path / "x.vcd").unlink()
    with pytest.raises(CaptureError, match=r"Cannot open the recording .*x.vcd .No such file or directory.; record"):
        recorder.finish_recording()
    recorder = start('echo "#0 0!" > "$OUT"; exec sleep 30')
    shutil.rmtree(tmp_path)
    recorder._process.wait(10)
    with pytest.raises(CaptureError, match=r"No such file or directory.*create the folder"):
        recorder.finish_recording()


def test_unconnected_wire_does_not_fill_the_disk(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analyzers, "CAPTURE_BYTES", 1 << 20)
    recorder = start('exec yes "#1 1!" > "$OUT"')
    recorder._process.wait(10)
    with pytest.raises(
        CaptureError,
        match=r"recorded more than the 1 MiB that a capture may contain.*connected to the pin and to ground",
    ):
        recorder.finish_recording()


@pytest.mark.parametrize("driver", ["", "-d", "fx2lafw:conn", "fx2lafw:conn=1 2", "a;b", "fx2lafw\n", "FX2"])
def test_driver_name_that_looks_like_an_option_is_refused(driver: str) -> None:
    with pytest.raises(CaptureError, match="is not a sigrok driver"):
        LogicAnalyzer(driver, 1, (("D0", "out"),))


@pytest.mark.parametrize("channel", ["", "0-7", "D0,D1", "-C", "D0=x"])
def test_channel_name_that_means_several_is_refused(channel: str) -> None:
    with pytest.raises(CaptureError, match="is not a channel name"):
        LogicAnalyzer("fx2lafw", 1, ((channel, "out"),))


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (
            "  Acquisition with 1/8 channels at 500 kHz",
            "fx2lafw sampled at 500,000 Hz, not at 1,000,000 Hz; choose a --samp",
        ),
        ("  Acquisition with 1/8 channels", "fx2lafw sampled at a rate that it does not state, not at 1,000,000 Hz"),
    ],
)
def test_other_sample_rate_is_reported(tmp_path: Path, said: str, sentence: str) -> None:
    vcd = "$timescale 1 us $end\n$var wire 1 ! out $end\n$enddefinitions $end\n#0 0!\n#9 1!\n"
    file = tmp_path / "x.vcd"
    file.write_text(f"$comment\n{said}\n$end\n{vcd}")
    with pytest.raises(CaptureError, match=sentence):
        _read_recording(file, FAST)
    file.write_text(f"$comment\n  Acquisition with 1/8 channels at 1 MHz\n$end\n{vcd}")
    assert _read_recording(file, FAST).end_tick == 10, "the sample of the last edge was recorded"


@pytest.mark.skipif(shutil.which(SIGROK) is None, reason="sigrok-cli is not installed: apt-get install sigrok-cli")
@pytest.mark.parametrize("rate_hz", [1_000_000, 24_000_000, 7_000_001])
def test_sigrok_records_its_demo_device(tmp_path: Path, rate_hz: int) -> None:
    """Its demo device shows a fixed pattern of samples, whatever the rate."""
    analyzer = LogicAnalyzer("demo:analog_channels=0", rate_hz, (("D0", "out"), ("D1", "in")), tail_s=0.0)
    recorder = AnalyzerRecording(analyzer, 30.0, tmp_path / "x.vcd", tmp_path / "reply")
    recorder.finish_recording()
    capture = _read_recording(tmp_path / "x.vcd", analyzer)
    assert [channel.name for channel in capture.channels] == ["out", "in"]
    assert capture.channels[0].ticks[:6].tolist() == [0, 1, 4, 8, 12, 17]
    with pytest.raises(CaptureError, match="and said: unknown channel 'X9'"):
        AnalyzerRecording(
            LogicAnalyzer("demo", rate_hz, (("X9", "out"),)), 30.0, tmp_path / "x.vcd", tmp_path / "reply"
        )
