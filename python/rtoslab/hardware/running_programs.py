"""Other programs that run beside the listening: how one is started and ended, and what it said last."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rtoslab.base import tools
from rtoslab.intake import one_line

_REPLY_CHARS: Final = 240
_REPLY_BYTES: Final = 65536
_GRACE_S: Final = 5.0


def start_program(command: Sequence[str], reply: Path) -> "subprocess.Popen[bytes]":
    """Starts a program without a shell and without standard input. Its output goes into a file. Raises OSError."""
    with reply.open("wb") as output:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=tools.plain_environment(),
        )


def end_program(running: "subprocess.Popen[bytes]") -> None:
    """Asks it to end, and makes it end if it has not within some seconds."""
    if running.poll() is not None:
        return
    running.terminate()
    try:
        running.wait(_GRACE_S)
    except subprocess.TimeoutExpired:
        running.kill()
        running.wait()


def last_line(reply: Path) -> str:
    """Returns the last line of a program's output file, as the end of a sentence. Empty if it wrote nothing."""
    text = reply.read_bytes()[-_REPLY_BYTES:].decode("utf-8", "replace")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f", and said: {one_line(lines[-1][:_REPLY_CHARS])}" if lines else ""
