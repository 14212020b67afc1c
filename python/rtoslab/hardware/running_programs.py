"""Other programs that run beside the listening: how one is started and ended, and what it said last."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rtoslab.base import tools
from rtoslab.intake import escape_to_one_line

_REPLY_CHARS: Final = 240
_REPLY_BYTES: Final = 65536
_GRACE_S: Final = 5.0


def start_host_program(command: Sequence[str], log: Path) -> "subprocess.Popen[bytes]":
    """Starts a program without a shell and without standard input. Its output goes to the file `log`. Raises
    OSError."""
    with log.open("wb") as output:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=tools.english_environment(),
        )


def end_host_program(process: "subprocess.Popen[bytes]") -> None:
    """Ends a process, and kills it if it has not ended after some seconds."""
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(_GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def last_output_line_clause(log: Path) -> str:
    """Returns the last line that a program wrote to its output file, as the end of a sentence. Empty if it wrote
    nothing."""
    text = log.read_bytes()[-_REPLY_BYTES:].decode("utf-8", "replace")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f", with the message: {escape_to_one_line(lines[-1][:_REPLY_CHARS])}" if lines else ""
