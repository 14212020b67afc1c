"""Zip files from outside, read piece by piece and never as a whole.

The module refuses members that unpack to gigabytes, directories with a million names, packing methods whose
dictionaries take gigabytes, and members that overlap. It converts the many exceptions that Python's reader raises for
damaged archives into one.
"""

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rtoslab.base import RtoslabError
from rtoslab.intake.limits import MEMBERS, MIB, UNPACKED_BYTES

_ENTRY: Final = b"PK\x01\x02"
"""The first bytes of each entry in a zip file's directory."""
_PIECE: Final = 4 * MIB
_DAMAGE: Final = (
    zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError, KeyError,
    IndexError, OverflowError, struct.error,
)  # fmt: skip


class ArchiveLimitError(Exception):
    """An archive exceeds a limit. The message is a clause that names the limit."""


class LimitedZipFile:
    """An open zip file that is read only up to a limited number of bytes."""

    def __init__(self, file: zipfile.ZipFile) -> None:
        self._file = file
        self._left = UNPACKED_BYTES
        self.names = [info.filename for info in file.infolist()]
        """As they are in it: a name may be there twice, and need not be a proper path."""

    def read_archive_member_in_pieces(self, name: str) -> Iterator[bytes]:
        """Yields a file of the archive in pieces of some megabytes. Raises ArchiveLimitError, or an error of
        `zipfile`."""
        info = self._file.getinfo(name)
        if info.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
            raise NotImplementedError(f"{name!r} is packed by method {info.compress_type}")
        with self._file.open(info) as member:
            while piece := member.read(_PIECE):
                self._left -= len(piece)
                if self._left < 0:
                    raise ArchiveLimitError(f"it unpacks to more than {UNPACKED_BYTES:,} bytes")
                yield piece

    def read_member(self, name: str, limit: int) -> bytes:
        """Returns the whole content of a small file of the archive. `limit`: in bytes. Raises ArchiveLimitError, or an
        error of `zipfile`."""
        content = bytearray()
        for piece in self.read_archive_member_in_pieces(name):
            content += piece
            if len(content) > limit:
                raise ArchiveLimitError(f"its member {name!r} unpacks to more than {limit:,} bytes")
        return bytes(content)


@contextmanager
def open_zip_archive(data: bytes, name: str, error: type[RtoslabError]) -> Iterator[LimitedZipFile]:
    """Opens the bytes of a zip file for reading. `name`: names it in an error.

    Raises `error` for damage, also if a read inside the block meets it.
    """
    if data.count(_ENTRY) > MEMBERS:
        raise error(
            f"{name} contains more than {MEMBERS:,} files, so it is neither a capture nor a result; check the file."
        )
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            yield LimitedZipFile(file)
    except ArchiveLimitError as cause:
        raise error(f"{name} is too large: {cause}; record or export less.") from None
    except _DAMAGE as cause:
        reason = (str(cause).splitlines() or [""])[0][:200] or type(cause).__name__
        raise error(f"{name} is damaged or truncated ({reason}); copy or save it again.") from None
