"""Files that are kept, written whole or not at all: a full disk or a kill leaves what was there before.

A FIFO, a device or standard output is written to and never replaced. A link stays a link, and the file to which it
points is replaced. Two writers of one file have different working files. A replaced file keeps its permissions.
"""

import os
import secrets
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

from rtoslab.base.errors import StoreError, make_disk_error
from rtoslab.base.file_flags import combine_open_flags

STANDARD_OUTPUT: Final = Path("-")


def write_file_atomically(path: Path, content: str | bytes, description: str) -> None:
    """Replaces a file by new content, whole or not at all, or writes it to a device or FIFO. `-` is standard output.

    `description` names the file in an error. Raises StoreError.
    """
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    try:
        if path == STANDARD_OUTPUT or _is_standard_output(path):
            _write_to_stdout(data)
        elif _is_device_or_fifo(path):
            _write_to_device(path, data)
        else:
            _replace_file(path.resolve(), data)
    except BrokenPipeError:
        raise
    except (OSError, RuntimeError, ValueError) as cause:  # RuntimeError: links in a ring; ValueError: a NUL
        raise _file_write_error(description, path, cause) from None


def make_folder(path: Path) -> None:
    """Creates the folder and those above it. Raises StoreError."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as cause:
        raise make_disk_error("make the folder", path, cause) from None


def _file_write_error(description: str, path: Path, cause: Exception) -> StoreError:
    """Returns the error for a file that could not be written. `description` names it."""
    if isinstance(cause, OSError):
        return make_disk_error(f"write {description}", path, cause)
    reason = "a loop of symbolic links" if isinstance(cause, RuntimeError) else str(cause)
    return StoreError(f"Cannot write {description} {path} ({reason}); check the path.")


def _is_standard_output(path: Path) -> bool:
    """Whether the path is a name of standard output, such as /dev/stdout."""
    if not path.is_absolute() or path.parts[1:2] not in {("dev",), ("proc",)}:
        return False
    try:
        return os.path.samestat(path.stat(), os.fstat(1))
    except OSError:
        return False


def _is_device_or_fifo(path: Path) -> bool:
    """Whether the path is a FIFO, a device or a socket, which has no content to replace."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _write_to_stdout(data: bytes) -> None:
    """Writes bytes to standard output."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _write_to_device(path: Path, data: bytes) -> None:
    """Writes bytes to a device, FIFO or socket that exists."""
    descriptor = os.open(path, combine_open_flags("O_WRONLY", "O_NOCTTY"))
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)


def _replace_file(path: Path, data: bytes) -> None:
    """Writes a new file beside the old one and gives it the old one's name, so that a reader sees one of them whole."""
    work = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        descriptor = os.open(work, combine_open_flags("O_WRONLY", "O_CREAT", "O_EXCL", "O_CLOEXEC"), 0o666)
        with os.fdopen(descriptor, "wb") as file:
            with suppress(FileNotFoundError):
                work.chmod(stat.S_IMODE(path.stat().st_mode))
            file.write(data)
        work.replace(path)
    except BaseException:
        with suppress(OSError):
            work.unlink(missing_ok=True)
        raise
