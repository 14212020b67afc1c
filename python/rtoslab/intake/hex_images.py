"""Converts Intel HEX and plain binary files to images: the same bytes at the same addresses as in an ELF file.

Records of Intel HEX: data (00), end (01), upper bits of the address by segment (02) and linear (04), start address
by segment (03) and linear (05). *Intel Hexadecimal Object File Format Specification*, revision A, 1988."""

import struct
from collections.abc import Iterator, Sequence
from typing import Final

DATA, END, SEGMENT, START_SEGMENT, LINEAR, START_LINEAR = range(6)
_HEAD_BYTES: Final = 4
"""The bytes before a record's data: length, two of the address, type."""
_GAP_MOST: Final = 1 << 16
"""Records with a smaller gap between them become one segment."""
_ELF_HEAD, _ELF_SEGMENT = 52, 32
_LOAD, _EXECUTABLE, _ARM = 1, 2, 40
_SEGMENTS_MOST: Final = 256
_ADDRESSES: Final = 1 << 32

Segment = tuple[int, bytes]
"""Address and content."""


def is_intel_hex(content: bytes) -> bool:
    """Whether a file's content looks like Intel HEX: its first line begins with a colon."""
    return content.lstrip()[:1] == b":"


def parse_intel_hex(content: bytes) -> tuple[list[Segment], int | None]:
    """Returns the segments in an Intel HEX file, and its start address (or None). Raises ValueError, which names the
    line."""
    bytes_at: dict[int, int] = {}
    upper, start, ended = 0, None, False
    for number, line in enumerate(content.decode("ascii", errors="replace").splitlines(), 1):
        if not line.strip():
            continue
        if ended:
            raise ValueError(f"line {number} follows the end-of-file record")
        kind, address, data = _parse_hex_record(line.strip(), number)
        if kind == DATA:
            bytes_at.update(_bytes_of_hex_record(upper, address, data, bytes_at, number))
        elif kind in {SEGMENT, LINEAR}:
            upper = int.from_bytes(data, "big") << (4 if kind == SEGMENT else 16)
        elif kind == START_LINEAR:
            start = int.from_bytes(data, "big")
        ended = kind == END
    if not ended:
        raise ValueError("the end-of-file record is missing, so the file is truncated")
    return list(_join_consecutive_bytes(bytes_at)), start


def _parse_hex_record(line: str, number: int) -> tuple[int, int, bytes]:
    """Returns type, address and data of a line of Intel HEX. Raises ValueError, which names the line."""
    try:
        record = bytes.fromhex(line[1:]) if line.startswith(":") else b""
    except ValueError:
        record = b""
    if len(record) <= _HEAD_BYTES or len(record) != record[0] + _HEAD_BYTES + 1:
        raise ValueError(f"line {number} is not a record")
    if sum(record) & 0xFF:
        raise ValueError(f"the checksum of line {number} is wrong")
    kind, data = record[3], record[_HEAD_BYTES:-1]
    sizes = {END: 0, SEGMENT: 2, START_SEGMENT: 4, LINEAR: 2, START_LINEAR: 4}
    if kind != DATA and sizes.get(kind) != len(data):
        raise ValueError(f"line {number} is a record of an unknown type")
    return kind, int.from_bytes(record[1:3], "big"), data


def _bytes_of_hex_record(
    upper: int, address: int, data: bytes, before: dict[int, int], number: int
) -> Iterator[tuple[int, int]]:
    """Yields the address and value of each byte in a data record. Raises ValueError if an earlier line has another
    value there.

    `upper`: is added to the record's `address`. `before`: the values of earlier lines.
    """
    for at, byte in enumerate(data, upper + address):
        if at >= _ADDRESSES:
            raise ValueError(f"the address of line {number} does not fit into 32 bits")
        if before.get(at, byte) != byte:
            raise ValueError(f"line {number} gives {at:#010x} another value than an earlier line")
        yield at, byte


def _join_consecutive_bytes(bytes_at: dict[int, int]) -> Iterator[Segment]:
    """Yields bytes by their addresses as segments of consecutive bytes. Small gaps are filled with 0xFF, as erased
    flash is."""
    addresses = sorted(bytes_at)
    first = 0
    for number, address in enumerate(addresses):
        if number + 1 == len(addresses) or addresses[number + 1] - address > _GAP_MOST:
            start = addresses[first]
            yield start, bytes(bytes_at.get(at, 0xFF) for at in range(start, address + 1))
            first = number + 1


def elf_from_segments(segments: Sequence[Segment], entry: int | None = None) -> bytes:
    """Returns the bytes of an ELF file for a Cortex-M that has these segments. Raises ValueError.

    The default of `entry` is the second word of the lowest segment, where a vector table has it.
    """
    if not segments or len(segments) > _SEGMENTS_MOST:
        raise ValueError(f"it has {len(segments)} separate memory areas instead of 1 to {_SEGMENTS_MOST}")
    lowest = min(segments)[1]
    start = int.from_bytes(lowest[4:8], "little") if entry is None else entry
    offset = _ELF_HEAD + _ELF_SEGMENT * len(segments)
    headers = b""
    for address, content in segments:
        headers += struct.pack("<8I", _LOAD, offset, address, address, len(content), len(content), 7, 4)
        offset += len(content)
    ident = b"\x7fELF\x01\x01\x01".ljust(16, b"\0")
    counts = (_ELF_HEAD, _ELF_SEGMENT, len(segments), 0, 0, 0)
    head = struct.pack("<HHIIIII6H", _EXECUTABLE, _ARM, 1, start, _ELF_HEAD, 0, 0, *counts)
    return ident + head + headers + b"".join(content for _, content in segments)
