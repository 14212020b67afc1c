"""Files that are kept, written whole or not at all: a full disk or a kill leaves what was there before.

The traps: a FIFO, a device or standard output is written to and never replaced; a link stays one, what it points to is
replaced; two writers of one file do not share a working file; a file that is replaced keeps its permissions.
"""

import os
import secrets
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

from rtoslab.base.errors import StoreError, disk_error
from rtoslab.base.open_flags import open_flags

STANDARD_OUTPUT: Final = Path("-")


def write_whole(path: Path, content: str | bytes, what: str) -> None:
    """Puts the content in place of the file, or into what is no regular file. `-` is standard output.

    `what` names it in an error. Raises StoreError.
    """
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    try:
        if path == STANDARD_OUTPUT or _is_output(path):
            _print(data)
        elif _is_special(path):
            _pour(path, data)
        else:
            _replace(path.resolve(), data)
    except BrokenPipeError:
        raise
    except (OSError, RuntimeError, ValueError) as cause:  # RuntimeError: links in a ring; ValueError: a NUL
        raise _failed(what, path, cause) from None


def make_folder(path: Path) -> None:
    """Creates the folder and those above it. Raises StoreError."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as cause:
        raise disk_error("make the folder", path, cause) from None


def _failed(what: str, path: Path, cause: Exception) -> StoreError:
    if isinstance(cause, OSError):
        return disk_error(f"write {what}", path, cause)
    reason = "links in a ring" if isinstance(cause, RuntimeError) else str(cause)
    return StoreError(f"Cannot write {what} {path} ({reason}); check the path.")


def _is_output(path: Path) -> bool:
    """Whether the path is a name for what standard output is, such as /dev/stdout."""
    if not path.is_absolute() or path.parts[1:2] not in {("dev",), ("proc",)}:
        return False
    try:
        return os.path.samestat(path.stat(), os.fstat(1))
    except OSError:
        return False


def _is_special(path: Path) -> bool:
    """Whether something is there that has no content to replace. A folder is not meant."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _print(data: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _pour(path: Path, data: bytes) -> None:
    descriptor = os.open(path, open_flags("O_WRONLY", "O_NOCTTY"))
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)


def _replace(path: Path, data: bytes) -> None:
    """Through a file beside it that bears a name of nobody else's."""
    work = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        descriptor = os.open(work, open_flags("O_WRONLY", "O_CREAT", "O_EXCL", "O_CLOEXEC"), 0o666)
        with os.fdopen(descriptor, "wb") as file:
            with suppress(FileNotFoundError):
                work.chmod(stat.S_IMODE(path.stat().st_mode))
            file.write(data)
        work.replace(path)
    except BaseException:
        with suppress(OSError):
            work.unlink(missing_ok=True)
        raise
