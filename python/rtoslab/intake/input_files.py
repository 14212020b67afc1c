"""Reads bytes and text of a file, a pipe or standard input, up to a limit and within a time.

The module refuses a FIFO to which nobody writes, a device that never ends, a file that is larger than memory, and bytes
that are no text."""

import codecs
import os
import select
import stat
import sys
import time
from pathlib import Path
from typing import Final

from rtoslab.base import RtoslabError, combine_open_flags
from rtoslab.intake.limits import MIB, PIPE_SECONDS, TEXT_BYTES
from rtoslab.intake.names import escape_to_one_line

_PIECE: Final = MIB


def read_bytes(path: Path, limit: int, description: str, error: type[RtoslabError]) -> bytes:
    """Returns the content of a file or pipe. `description` names it in an error ("the task set").

    Raises `error` if it is not there, is no file, or has more than `limit` bytes, and for a pipe that has not ended in
    time.
    """
    try:
        descriptor = os.open(path, combine_open_flags("O_RDONLY", "O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY"))
    except (OSError, ValueError) as cause:
        raise _make_unreadable_file_error(path, description, cause, error) from None
    try:
        mode = os.fstat(descriptor)
        if stat.S_ISREG(mode.st_mode):
            data = _read_regular_file(descriptor, min(mode.st_size, limit), limit)
        elif stat.S_ISFIFO(mode.st_mode):
            data = _read_whole_pipe(descriptor, limit)
        else:
            kind = "is a directory" if stat.S_ISDIR(mode.st_mode) else "is a device, not a file"
            raise error(f"Cannot read {description} {printable_path(path)} ({kind}); check the path.")
    except (OSError, TimeoutError) as cause:
        raise _make_unreadable_file_error(path, description, cause, error) from None
    finally:
        os.close(descriptor)
    if len(data) > limit:
        size = f"{mode.st_size:,}" if stat.S_ISREG(mode.st_mode) else f"more than {limit:,}"
        raise error(
            f"Cannot read {description} {printable_path(path)} ({size} bytes, at most {limit:,} can be read); "
            "make it smaller."
        )
    return data


def read_text(path: Path, description: str, error: type[RtoslabError], limit: int = TEXT_BYTES) -> str:
    """Returns the content of a file that is UTF-8, with or without a byte-order mark.

    Raises `error` as `read_bytes` does, also for content that is no text.
    """
    data = read_bytes(path, limit, description, error).removeprefix(codecs.BOM_UTF8)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as cause:
        line = data.count(b"\n", 0, cause.start) + 1
        raise error(
            f"{printable_path(path)}, line {line}, is not text in UTF-8; save the file in that encoding."
        ) from None


def is_file_or_pipe(path: Path) -> bool:
    """Whether the path is a file or a pipe. False for a path that the system refuses."""
    try:
        return path.is_file() or path.is_fifo()
    except (OSError, ValueError):
        return False


def printable_path(path: Path) -> str:
    """Returns a path as text on one line, whatever bytes its name has."""
    return escape_to_one_line(str(path))


def _make_unreadable_file_error(
    path: Path, description: str, cause: Exception, error: type[RtoslabError]
) -> RtoslabError:
    """Returns the error for a file that cannot be opened or read."""
    reason = (getattr(cause, "strerror", None) or str(cause)).lower()
    return error(f"Cannot read {description} {printable_path(path)} ({reason}); check the path.")


def _read_regular_file(descriptor: int, size: int, limit: int) -> bytes:
    """Returns a file's content. Reads only a little more than the limit, so that the caller can refuse it. `size`: as
    the system says.

    A file may grow meanwhile, and those of the system have size 0.
    """
    pieces = [os.read(descriptor, size + 1)]
    total = len(pieces[0])
    while pieces[-1] and total <= limit:
        pieces.append(os.read(descriptor, _PIECE))
        total += len(pieces[-1])
    return pieces[0] if total == len(pieces[0]) else b"".join(pieces)


def _read_whole_pipe(descriptor: int, limit: int) -> bytes:
    """Returns the content of a pipe. Reads only a little more than the limit. Raises TimeoutError if it does not end in
    time."""
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


def make_output_printable() -> None:
    """Makes stdout and stderr write an escape for each character that the terminal's encoding lacks."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
