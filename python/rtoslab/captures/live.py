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
from rtoslab.captures.capture import Capture
from rtoslab.captures.forms import read_capture
from rtoslab.captures.rates import rate_hz
from rtoslab.captures.recording import OUT
from rtoslab.captures.sampling import on_samples
from rtoslab.catalogue import Board, Catalogue
from rtoslab.hardware import TRIES, Analyzer, Recorder, Target, measure_whole
from rtoslab.images import build
from rtoslab.plan import Point
from rtoslab.records import constants
from rtoslab.targets import Progress

DEFAULT_CHANNEL: Final = "D0"
"""Its name on most analyzers."""
_FLASH_COMMANDS: Final = 2
_HEAD_BYTES: Final = 4096
_RATE: Final = re.compile(rb"Acquisition with \d+/\d+ channels at ([^\r\n]{1,40})")


@dataclass(frozen=True, slots=True)
class LiveRun:
    """One point's run on a board with an analyzer at its pins."""

    point: Point
    target: Target
    analyzer: Analyzer

    @property
    def limit_s(self) -> float:
        """The longest that it may take: the recording ends by itself then."""
        once = _FLASH_COMMANDS * self.target.flash_limit_s + self.target.silence_limit_s + self.point.window_ms / 1000
        return self.analyzer.start_limit_s + TRIES * once


def raw_file(output: Path) -> Path:
    """The path of the recording until `output` is written."""
    return output.with_name(f"{output.name}.recorded.vcd")


def wires_of(board: Board, requested: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Channels of the analyzer with their names in the capture. `requested`: `D0=PA8` each, a pin of board.toml; `D0`
    alone, and nothing at all, is the measurement's pin. Raises PlanError."""
    known = {pin_text(board.pins.out): OUT}
    known.setdefault(pin_text(board.pins.input), "in")  # some boards drive and hear one pin
    wires: dict[str, str] = {}
    for text in requested or (DEFAULT_CHANNEL,):
        channel, _, pin = text.partition("=")
        name = known.get(pin.strip().upper() or pin_text(board.pins.out))
        if name is None or channel in wires or name in wires.values():
            raise PlanError(
                f"{text!r} is no wire from a channel of its own to a pin of its own; the pins of the {board.id} that "
                f"are looked at are {' and '.join(known)}: say --wire {DEFAULT_CHANNEL}={next(iter(known))}."
            )
        wires[channel] = name
    if OUT not in wires.values():
        raise PlanError(
            f"No wire leads to {next(iter(known))}, the pin that the {board.id} measures with; say "
            f"--wire {DEFAULT_CHANNEL}={next(iter(known))}."
        )
    return tuple(wires.items())


def pin_text(pin: int | str) -> str:
    """A pin as it is printed on the board."""
    return f"GP{pin}" if isinstance(pin, int) else pin.upper()


def record_live(catalogue: Catalogue, live: LiveRun, output: Path, progress: Progress = lambda *_: None) -> Capture:
    """Records while the board is flashed, reset and heard to its end. The board's own records are checked as in a run.

    `output`: the capture that is to be written; beside it stands the recording (`raw_file`), which the caller removes
    when it is. Raises BuildError, CaptureError, and what `hardware.measure_whole` raises."""
    progress("building", 0.0)
    built = build(catalogue, live.point)
    raw = raw_file(output)
    progress("recording", 0.0)
    with tempfile.TemporaryDirectory(prefix="rtoslab-") as folder:
        recorder = Recorder(live.analyzer, live.limit_s, raw, Path(folder) / "reply")
        try:
            window_s = live.point.window_ms / 1000
            measure_whole(live.target, built.elf, built.expected, constants(catalogue.root), window_s, lambda _: None)
        except BaseException:
            recorder.end()
            raw.unlink(missing_ok=True)
            raise
        try:
            recorder.finish()
            return _read(raw, live.analyzer)
        except CaptureError as cause:
            raise CaptureError(f"{cause} What was recorded is in {raw}.") from None
        finally:
            recorder.end()


def _read(raw: Path, analyzer: Analyzer) -> Capture:
    with raw.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    match = _RATE.search(head)
    rate = rate_hz(match[1].decode("ascii", "replace"), raw.name) if match else Fraction(0)
    if rate != analyzer.rate_hz:
        how = f"at {float(rate):,.0f} Hz" if match else "at a rate that it does not tell"
        raise CaptureError(
            f"{analyzer.driver} sampled {how}, not at {analyzer.rate_hz:,} Hz; say a --sample-rate that it has."
        )
    return on_samples(read_capture(raw), analyzer.rate_hz)
