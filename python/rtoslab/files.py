"""Files that are kept, written whole or not at all: a full disk or a kill leaves what was there before."""

from contextlib import suppress
from pathlib import Path

from rtoslab.errors import disk_error


def write_whole(path: Path, content: str | bytes, what: str) -> None:
    """Puts the content in place of the file; `what` names it in an error. Raises StoreError."""
    work = path.with_name(f".{path.name}.tmp")
    try:
        work.write_bytes(content.encode() if isinstance(content, str) else content)
        work.replace(path)
    except OSError as cause:
        with suppress(OSError):
            work.unlink(missing_ok=True)
        raise disk_error(f"write {what}", path, cause) from None


def make_folder(path: Path) -> None:
    """With those above it. Raises StoreError."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as cause:
        raise disk_error("make the folder", path, cause) from None
