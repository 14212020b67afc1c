"""Splits external text as it is read, so that its length costs no memory: into lines, and into words of bytes."""

import re
from collections.abc import Iterator
from typing import Final

from rtoslab.base import RtoslabError
from rtoslab.intake.limits import LINE_CHARS

_PIECE: Final = LINE_CHARS
_SPACE: Final = re.compile(rb"[ \t\r\n\v\f]")
_BOM: Final = b"\xef\xbb\xbf"
_UTF16_BOMS: Final = (b"\xff\xfe", b"\xfe\xff")


def decode_utf8(data: bytes, source: str, error: type[RtoslabError]) -> bytes:
    """Returns the content as UTF-8 without a byte-order mark. It may be UTF-16 with such a mark, or anything else,
    which stays as it is.

    Raises `error` for a character of UTF-16 that is cut or not valid.
    """
    if not data.startswith(_UTF16_BOMS):
        return data.removeprefix(_BOM)
    try:
        return data.decode("utf-16").encode()
    except UnicodeError:
        raise error(f"{source} is not whole text in UTF-16; copy or export it again.") from None


def decode_text_lines(data: bytes, source: str, error: type[RtoslabError]) -> Iterator[str]:
    """Yields the lines of UTF-8 data without their ends (LF, CR LF or CR).

    Raises `error` for data that is no text, or a line that is too long.
    """
    number, start = 0, len(_BOM) if data.startswith(_BOM) else 0
    while start < len(data):
        end = data.rfind(b"\n", start, start + _PIECE) + 1 if len(data) - start > _PIECE else len(data)
        if end == 0:  # no LF in all that. The CRs of an old file will do
            end = data.rfind(b"\r", start, start + _PIECE) + 1
        if end == 0:
            raise error(
                f"{source}, line {number + 1}: it has more than {LINE_CHARS:,} characters; check that the "
                "file is a text file."
            )
        try:
            piece = data[start:end].decode("utf-8")
        except UnicodeDecodeError as cause:
            at = number + 1 + data.count(b"\n", start, start + cause.start)
            raise error(f"{source}, line {at}: it is not text in UTF-8; export it again.") from None
        if "\r" in piece:
            piece = piece.replace("\r\n", "\n").replace("\r", "\n")
        parts = piece.split("\n")
        if parts[-1] == "":
            parts.pop()
        number += len(parts)
        start = end
        yield from parts


def split_bytes_at_white_space(data: bytes, source: str, error: type[RtoslabError]) -> Iterator[bytes]:
    """Yields the words of a text in bytes, which white space separates. Raises `error` for a word that is too long."""
    start = 0
    while start < len(data):
        space = _SPACE.search(data, start + _PIECE, start + 2 * _PIECE) if len(data) - start > _PIECE else None
        end = space.start() if space else len(data)
        if end - start > 2 * _PIECE:
            raise error(f"{source} has a word of more than {LINE_CHARS:,} characters; copy or export it again.")
        yield from data[start:end].split()
        start = end
