"""A real board's pins, recorded by a logic analyzer while the board runs: begun before it is flashed and reset.

The recording is kept as it came until it has been read and written in the form that was asked for.
"""

import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final

from rtoslab.base import CaptureError, PlanError
from rtoslab.captures.capture import LogicLevelCapture
from rtoslab.captures.forms import read_capture
from rtoslab.captures.rates import parse_rate_hz
from rtoslab.captures.recording import OUT
from rtoslab.captures.sampling import round_times_to_samples
from rtoslab.catalogue import Board, Catalogue
from rtoslab.hardware import TRIES, AnalyzerRecording, ConnectedBoard, LogicAnalyzer, measure_real_board_with_retries
from rtoslab.images import build_measurement_point_image
from rtoslab.plan import PlannedPoint
from rtoslab.records import read_wire_constants
from rtoslab.targets import Progress

DEFAULT_CHANNEL: Final = "D0"
"""The name of the first channel on most analyzers."""
_FLASH_COMMANDS: Final = 2
_HEAD_BYTES: Final = 4096
_RATE: Final = re.compile(rb"Acquisition with \d+/\d+ channels at ([^\r\n]{1,40})")


@dataclass(frozen=True, slots=True)
class LiveCaptureRun:
    """A run of one benchmark on a real board with a logic analyzer at its pins."""

    point: PlannedPoint
    target: ConnectedBoard
    analyzer: LogicAnalyzer

    @property
    def time_limit_s(self) -> float:
        """Returns the longest time in seconds that the run may take. The recording then ends by itself."""
        once = _FLASH_COMMANDS * self.target.flash_limit_s + self.target.silence_limit_s + self.point.window_ms / 1000
        return self.analyzer.start_limit_s + TRIES * once


def raw_recording_path(output: Path) -> Path:
    """Returns the path of the raw recording, which exists until the capture is written to `output`."""
    return output.with_name(f"{output.name}.recorded.vcd")


def parse_analyzer_wires(board: Board, requested: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Returns the analyzer's channels with the names that they get in the capture.

    Each of `requested` is like `D0=PA8`, with a pin of board.toml. `D0` alone is the measurement's pin, also the
    default. Raises PlanError.
    """
    known = {pin_name_on_board(board.pins.out): OUT}
    known.setdefault(pin_name_on_board(board.pins.input), "in")  # some boards drive and hear one pin
    wires: dict[str, str] = {}
    for text in requested or (DEFAULT_CHANNEL,):
        channel, _, pin = text.partition("=")
        name = known.get(pin.strip().upper() or pin_name_on_board(board.pins.out))
        if name is None or channel in wires or name in wires.values():
            raise PlanError(
                f"{text!r} is not a list of CHANNEL=PIN with each channel and each pin once; the measured pins of "
                f"the {board.id} are {' and '.join(known)}: use --wire {DEFAULT_CHANNEL}={next(iter(known))}."
            )
        wires[channel] = name
    if OUT not in wires.values():
        raise PlanError(
            f"No channel is connected to {next(iter(known))}, the measurement pin of the {board.id}; add --wire "
            f"{DEFAULT_CHANNEL}={next(iter(known))}."
        )
    return tuple(wires.items())


def pin_name_on_board(pin: int | str) -> str:
    """Returns a pin's name as it is printed on the board."""
    return f"GP{pin}" if isinstance(pin, int) else pin.upper()


def record_pins_of_real_board(
    catalogue: Catalogue, live: LiveCaptureRun, output: Path, progress: Progress = lambda *_: None
) -> LogicLevelCapture:
    """Flashes, resets and runs a real board, and records its pins until the end of the run. The board's records are
    checked as in a run.

    `output` is the capture that is to be written. The raw recording is beside it (`raw_recording_path`) until the
    caller removes it. Raises BuildError, CaptureError, and the errors of `hardware.measure_real_board_with_retries`.
    """
    progress("building", 0.0)
    built = build_measurement_point_image(catalogue, live.point)
    raw = raw_recording_path(output)
    progress("recording", 0.0)
    with tempfile.TemporaryDirectory(prefix="rtoslab-") as folder:
        recorder = AnalyzerRecording(live.analyzer, live.time_limit_s, raw, Path(folder) / "reply")
        try:
            window_s = live.point.window_ms / 1000
            measure_real_board_with_retries(
                live.target,
                built.elf_path,
                built.expected,
                read_wire_constants(catalogue.root),
                window_s,
                lambda _: None,
            )
        except BaseException:
            recorder.stop_logic_recording()
            raw.unlink(missing_ok=True)
            raise
        try:
            recorder.finish_recording()
            return _read_recording(raw, live.analyzer)
        except CaptureError as cause:
            raise CaptureError(f"{cause} The recording up to then is in {raw}.") from None
        finally:
            recorder.stop_logic_recording()


def _read_recording(raw: Path, analyzer: LogicAnalyzer) -> LogicLevelCapture:
    """Returns the capture in an analyzer's raw recording. Raises CaptureError for another sample rate than the
    requested one."""
    with raw.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    match = _RATE.search(head)
    rate = parse_rate_hz(match[1].decode("ascii", "replace"), raw.name) if match else Fraction(0)
    if rate != analyzer.rate_hz:
        how = f"at {float(rate):,.0f} Hz" if match else "at a rate that it does not state"
        raise CaptureError(
            f"{analyzer.driver} sampled {how}, not at {analyzer.rate_hz:,} Hz; choose a --sample-rate that it supports."
        )
    return round_times_to_samples(read_capture(raw), analyzer.rate_hz)
