"""A logic analyzer that records while a board runs: sigrok-cli, by its own documentation (man sigrok-cli, 0.7).

It writes VCD, which holds changes alone and goes to the disk as they come, so that a recording that is ended early is
whole up to there. Its exit code does not report every failure: 0.7.2 ends with 0 also when the disk was full. The rest
is searched in its output."""

import re
import shlex
import shutil
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rtoslab.base import CaptureError, tools
from rtoslab.hardware.flash_tools import Command
from rtoslab.hardware.running_programs import end_host_program, last_output_line_clause, start_host_program
from rtoslab.intake import CAPTURE_BYTES

SIGROK: Final = "sigrok-cli"
START_LIMIT_S: Final = 20.0
"""The limit until the first sample. Some analyzers load their firmware first, which takes some seconds."""
TAIL_S: Final = 1.0
"""The recording continues so long after the run, because the analyzer may still send samples."""
ROOM_BYTES: Final = 64 << 20
"""The least free disk space during a recording, more than the largest capture that can be read."""
_POLL_S: Final = 0.05
_WATCH_S: Final = 0.2
_DRIVER: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,39}(?::[a-z_]{1,40}=[A-Za-z0-9/._-]{1,100}){0,8}", re.ASCII)
_CHANNEL: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.]{0,15}", re.ASCII)


@dataclass(frozen=True, slots=True)
class LogicAnalyzer:
    """A logic analyzer: how sigrok-cli addresses it, its sample rate and its channels."""

    driver: str
    """sigrok's name of it, with options such as `:conn=1.14`."""
    rate_hz: int
    channels: tuple[tuple[str, str], ...]
    """The analyzer's name of each wire, and the one in the file."""
    start_limit_s: float = START_LIMIT_S
    tail_s: float = TAIL_S

    def __post_init__(self) -> None:
        """Raises CaptureError for a driver or channel that sigrok-cli would misread."""
        if not _DRIVER.fullmatch(self.driver):
            raise CaptureError(
                f"{self.driver!r} is not a sigrok driver; give the driver's name and options, such as fx2lafw or "
                f"ols:conn=/dev/ttyACM0 (`{SIGROK} --scan` lists what is connected)."
            )
        for name, _ in self.channels:
            if not _CHANNEL.fullmatch(name):
                raise CaptureError(
                    f"{name!r} is not a channel name; use one that `{SIGROK} --driver {self.driver} --show` lists, "
                    "such as D0."
                )


def analyzer_version_line() -> str:
    """Returns the first line of sigrok-cli's version text. Empty if it is not installed."""
    place = shutil.which(SIGROK)
    return tools.program_output([place, "--version"]).partition("\n")[0].strip() if place else ""


def logic_analyzer_recording_command(analyzer: LogicAnalyzer, limit_s: float, file: Path) -> Command:
    """Returns the command of sigrok-cli that records for `limit_s` seconds at most."""
    wires = ",".join(f"{channel}={name}" for channel, name in analyzer.channels)
    return (
        SIGROK,
        *("--driver", analyzer.driver),
        *("--config", f"samplerate={analyzer.rate_hz}"),
        *("--channels", wires),
        *("--time", str(round(limit_s * 1000))),
        *("--output-format", "vcd"),
        *("--output-file", str(file)),
    )


def recording_command_text(analyzer: LogicAnalyzer, limit_s: float, file: Path) -> str:
    """Returns the command of `logic_analyzer_recording_command` as a person types it."""
    return shlex.join(logic_analyzer_recording_command(analyzer, limit_s, file))


class AnalyzerRecording:
    """A logic analyzer's recording that runs beside the board."""

    def __init__(self, analyzer: LogicAnalyzer, limit_s: float, file: Path, log: Path) -> None:
        """Starts the recording and waits for its first samples. `log` gets its messages. Raises CaptureError."""
        self._analyzer, self._limit_s, self._file, self._log = analyzer, limit_s, file, log
        if missing := _capture_disk_problem_sentence(file):
            raise CaptureError(missing)
        file.unlink(missing_ok=True)
        try:
            self._process = start_host_program(logic_analyzer_recording_command(analyzer, limit_s, file), log)
        except OSError as cause:
            raise CaptureError(
                f"Cannot start {SIGROK} ({cause.strerror}); install it (apt-get install sigrok-cli), or record "
                "with another program and give its file to `rtoslab pins decode`."
            ) from None
        self._problem = ""
        self._is_stopped = threading.Event()
        self._watcher = threading.Thread(target=self._stop_recording_if_too_large, daemon=True)
        self._watcher.start()
        try:
            self._wait_for_first_samples()
        except BaseException:
            self.stop_logic_recording()
            raise

    def _wait_for_first_samples(self) -> None:
        """Waits until the first samples are recorded. Raises CaptureError if there are none in time."""
        ends = time.monotonic() + self._analyzer.start_limit_s
        while not _file_size_bytes(self._file):
            if self._process.poll() is not None:
                raise CaptureError(
                    f"{SIGROK} recorded nothing: it ended with code "
                    f"{self._process.returncode}{last_output_line_clause(self._log)}; check that the analyzer is "
                    f"connected, that it supports the settings (`{SIGROK} --driver {self._analyzer.driver} "
                    "--show`), and that no other program uses it."
                )
            if time.monotonic() > ends:
                raise CaptureError(
                    f"No sample came from {self._analyzer.driver} within {self._analyzer.start_limit_s:g} "
                    f"s{last_output_line_clause(self._log)}; check that the analyzer sends its samples during the "
                    "recording."
                )
            time.sleep(_POLL_S)

    def _stop_recording_if_too_large(self) -> None:
        """Stops the recording if it grows too large. An open wire gives megabytes a second, which would fill the
        disk."""
        while not self._is_stopped.wait(_WATCH_S):
            if _file_size_bytes(self._file) > CAPTURE_BYTES:
                self._problem = (
                    f"{SIGROK} recorded more than the {CAPTURE_BYTES >> 20} MiB that a capture may contain, and "
                    "was stopped; check that the wire is connected to the pin and to ground, or use a lower "
                    "sample rate or fewer samples."
                )
            else:
                self._problem = _capture_disk_problem_sentence(self._file)
            if self._problem:
                end_host_program(self._process)
                return

    def stop_logic_recording(self) -> None:
        """Stops the recording, in whatever state it is. No process uses its files afterwards."""
        self._is_stopped.set()
        end_host_program(self._process)
        self._watcher.join()

    def finish_recording(self) -> None:
        """Stops the recording after its last samples, so that its file is complete.
        Raises CaptureError if it ended before.
        """
        ended = self._process.poll()
        if ended is None:
            time.sleep(self._analyzer.tail_s)
        self.stop_logic_recording()
        if self._problem:
            raise CaptureError(self._problem)
        if ended is not None:
            raise CaptureError(
                f"{SIGROK} stopped recording before the end of the board's run (code "
                f"{ended}{last_output_line_clause(self._log)}); check the analyzer's cable and whether it keeps "
                "up with the sample rate, then record again."
            )
        _truncate_file_after_last_whole_line(self._file)


def _file_size_bytes(file: Path) -> int:
    """Returns the size of a file in bytes, 0 if there is none."""
    try:
        return file.stat().st_size
    except OSError:
        return 0


def _capture_disk_problem_sentence(file: Path) -> str:
    """Returns a sentence if the folder for a capture is missing or its disk is almost full. Empty if it can be
    written."""
    try:
        free = shutil.disk_usage(file.parent).free
    except OSError as cause:
        return (
            f"The capture cannot be written to {file.parent} ({cause.strerror}); create the folder, or choose "
            "another file with -o."
        )
    if free >= ROOM_BYTES:
        return ""
    return (
        f"Only {free >> 20} MiB are free in {file.parent}, and a full disk would truncate the capture without an "
        f"error; free {ROOM_BYTES >> 20} MiB, or choose another file with -o."
    )


def _truncate_file_after_last_whole_line(file: Path) -> None:
    """Cuts a file of samples after its last whole line, because half a line would read as an earlier time."""
    try:
        text = file.open("rb+")
    except OSError as cause:
        raise CaptureError(f"Cannot open the recording {file} ({cause.strerror}); record again.") from None
    with text:
        size = text.seek(0, 2)
        step = min(size, 4096)
        text.seek(size - step)
        text.truncate(size - step + text.read().rfind(b"\n") + 1)
