"""Bytes and text of a file, a pipe or standard input: so much at most, and never waiting for ever.

The traps: a FIFO nobody writes to, a device that never ends, a file that is larger than memory, bytes that are no text.
"""

import codecs
import os
import select
import stat
import sys
import time
from pathlib import Path
from typing import Final

from rtoslab.base import RtoslabError, open_flags
from rtoslab.intake.limits import MIB, PIPE_SECONDS, TEXT_BYTES
from rtoslab.intake.names import one_line

_PIECE: Final = MIB


def read_bytes(path: Path, limit: int, what: str, error: type[RtoslabError]) -> bytes:
    """The content of a file or pipe. `what` names it in a sentence ("the task set").

    Raises `error`: not there, no file, more than `limit` bytes, a pipe that has not ended in time.
    """
    try:
        descriptor = os.open(path, open_flags("O_RDONLY", "O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY"))
    except (OSError, ValueError) as cause:
        raise _unreadable(path, what, cause, error) from None
    try:
        mode = os.fstat(descriptor)
        if stat.S_ISREG(mode.st_mode):
            data = _regular(descriptor, min(mode.st_size, limit), limit)
        elif stat.S_ISFIFO(mode.st_mode):
            data = _pipe(descriptor, limit)
        else:
            kind = "is a directory" if stat.S_ISDIR(mode.st_mode) else "is a device, not a file"
            raise error(f"Cannot read {what} {path_text(path)} ({kind}); check the path.")
    except (OSError, TimeoutError) as cause:
        raise _unreadable(path, what, cause, error) from None
    finally:
        os.close(descriptor)
    if len(data) > limit:
        size = f"{mode.st_size:,}" if stat.S_ISREG(mode.st_mode) else f"more than {limit:,}"
        raise error(f"Cannot read {what} {path_text(path)} ({size} bytes, {limit:,} are read); make it smaller.")
    return data


def read_text(path: Path, what: str, error: type[RtoslabError], limit: int = TEXT_BYTES) -> str:
    """The same as UTF-8, with or without a byte-order mark. Raises `error`, also for what is no text."""
    data = read_bytes(path, limit, what, error).removeprefix(codecs.BOM_UTF8)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as cause:
        line = data.count(b"\n", 0, cause.start) + 1
        raise error(f"{path_text(path)}, line {line}, is not text in UTF-8; save the file in that encoding.") from None


def is_file(path: Path) -> bool:
    """Whether something to read is there. No name is too long or too odd to be asked."""
    try:
        return path.is_file() or path.is_fifo()
    except (OSError, ValueError):
        return False


def path_text(path: Path) -> str:
    """A path on one line, whatever bytes its name has."""
    return one_line(str(path))


def _unreadable(path: Path, what: str, cause: Exception, error: type[RtoslabError]) -> RtoslabError:
    reason = (getattr(cause, "strerror", None) or str(cause)).lower()
    return error(f"Cannot read {what} {path_text(path)} ({reason}); check the path.")


def _regular(descriptor: int, size: int, limit: int) -> bytes:
    """One piece as a rule. A file may grow meanwhile, and those of the system say that they are empty."""
    pieces = [os.read(descriptor, size + 1)]
    total = len(pieces[0])
    while pieces[-1] and total <= limit:
        pieces.append(os.read(descriptor, _PIECE))
        total += len(pieces[-1])
    return pieces[0] if total == len(pieces[0]) else b"".join(pieces)


def _pipe(descriptor: int, limit: int) -> bytes:
    end = time.monotonic() + PIPE_SECONDS
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    data = bytearray()
    while len(data) <= limit:
        left = end - time.monotonic()
        if left <= 0 or not poll.poll(left * 1000):
            raise TimeoutError(f"the pipe had not ended after {PIPE_SECONDS:g} s")
        piece = os.read(descriptor, _PIECE)
        if not piece:
            break
        data += piece
    return bytes(data)


def printable_output() -> None:
    """No name from outside can break printing: what the terminal's encoding lacks is written as an escape."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
