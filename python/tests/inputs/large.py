"""The most expensive inputs of each kind that its limits let in, or refuse last: they bound time and memory."""

import io
import struct
import zipfile
from collections.abc import Callable
from typing import Final

import numpy as np

from rtoslab.intake.limits import CAPTURE_BYTES, IMAGE_BYTES, MAP_BYTES, STORED_BYTES, STREAM_BYTES, TEXT_BYTES
from tests.capture_files import META
from tests.fakes import begin, record

HEAD: Final = b'$timescale 1 ns $end $var wire 1 ! a $end $var wire 4000 " v $end $enddefinitions $end\n'


def fill_up(head: bytes, piece: bytes, limit: int) -> bytes:
    """The piece over and over, up to a size."""
    return head + piece * ((limit - len(head)) // len(piece))


def _session(samples: bytes, unit: int = 1, times: int = 1, probes: int = 8) -> bytes:
    out = io.BytesIO()
    labels = "".join(f"probe{number}=D{number}\n" for number in range(1, probes + 1))
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        file.writestr("version", "2")
        file.writestr("metadata", f"{META}{labels}unitsize={unit}\n")
        for number in range(1, times + 1):
            file.writestr(f"logic-1-{number}", samples)
    return out.getvalue()


def _names() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for number in range(30_000):
            file.writestr(zipfile.ZipInfo(str(number)), b"")
    return out.getvalue()


def _stream() -> bytes:
    body = b"".join(
        record(number, "sample", {"metric": "a/0", "values": "1,2,3x99" + ",7" * 80, "n": 181})
        for number in range(1, 60_000)
    )
    return (record(0, *begin()) + body)[:STREAM_BYTES]


def _wide_rows() -> bytes:
    row = b",".join([b"0", b"1"] * 2048)
    return fill_up(b"; Samplerate: 1 MHz\n" + row + b"\n", row[::-1] + b"\n" + row + b"\n", CAPTURE_BYTES)


LARGE: Final[dict[str, tuple[str, Callable[[], bytes]]]] = {
    "toggling bit": ("VCD", lambda: fill_up(HEAD, b"#1\n0!\n1!\n", CAPTURE_BYTES)),
    "growing times": (
        "VCD",
        lambda: HEAD + b"".join(b"#%d\n%d!\n" % (index, index & 1) for index in range(2_500_000))[:CAPTURE_BYTES],
    ),
    "steady bit": ("VCD", lambda: fill_up(HEAD, b"1!\n", CAPTURE_BYTES)),
    "toggling vector": ("VCD", lambda: fill_up(HEAD, b'b0 " bx "\n', CAPTURE_BYTES)),
    "long vector values": ("VCD", lambda: fill_up(HEAD, b"b" + b"10" * 2048 + b' "\n', CAPTURE_BYTES)),
    "width of 3*10^8": ("VCD", lambda: HEAD.replace(b"4000", b"300000000") + b"#0\n"),
    "many variables": ("VCD", lambda: fill_up(b"$timescale 1 ns $end\n", b"$var wire 1 ! a $end\n", CAPTURE_BYTES)),
    "long comment": ("VCD", lambda: fill_up(b"$comment ", b"ab ", CAPTURE_BYTES)),
    "one word": ("VCD", lambda: fill_up(b"$comment ", b"ab", CAPTURE_BYTES)),
    "zeros": ("sigrok session", lambda: _session(bytes(64 << 20), times=5)),
    "alternating samples": ("sigrok session", lambda: _session(b"\0\xff" * (1 << 21))),
    "wide samples": (
        "sigrok session",
        lambda: _session(np.arange(16 << 20, dtype=np.uint32).tobytes(), unit=512, times=3, probes=4096),
    ),
    "many members": ("sigrok session", _names),
    "short rows": ("Saleae CSV", lambda: fill_up(b"Time [s],a\n", b"0,0\n0,1\n", CAPTURE_BYTES)),
    "empty rows": ("Saleae CSV", lambda: fill_up(b"Time [s],a\n", b"\n", CAPTURE_BYTES)),
    "open quote": ("Saleae CSV", lambda: fill_up(b'Time [s],a\n"', b"0,0\n", CAPTURE_BYTES)),
    "exponents": ("Saleae CSV", lambda: fill_up(b"Time [s],a\n", b"1e6,0\n1000001e0,1\n", CAPTURE_BYTES)),
    "calendar": (
        "Saleae CSV",
        lambda: fill_up(b"Time [s],a\n", b"2024-05-11T23:59:59.5Z,0\n2024-05-11T23:59:59.5Z,1\n", CAPTURE_BYTES),
    ),
    "one sample a byte": ("PulseView CSV", lambda: fill_up(b"; Samplerate: 1 MHz\n", b"0\n", CAPTURE_BYTES)),
    "alternating rows": ("PulseView CSV", lambda: fill_up(b"; Samplerate: 1 MHz\n", b"0\n1\n", CAPTURE_BYTES)),
    "wide rows": ("PulseView CSV", _wide_rows),
    "timed rows": (
        "PulseView CSV", lambda: fill_up(b"; Samplerate: 1 MHz\nTime(s),D0\n", b"1e-6,1\n1e-6,0\n", CAPTURE_BYTES),
    ),
    "one line": ("PulseView CSV", lambda: fill_up(b"; ", b"0,", CAPTURE_BYTES)),
    "many samples": ("record stream", _stream),
    "line ends": ("record stream", lambda: b"\n" * STREAM_BYTES),
    "overrides everywhere": ("record stream", lambda: fill_up(b"", b" fault \n", STREAM_BYTES)),
    "many keys": ("sweep plan", lambda: b"\n".join(b"a%d=1" % index for index in range(120_000))[:TEXT_BYTES]),
    "many tables": ("sweep plan", lambda: fill_up(b"", b"[[a]]\n", TEXT_BYTES)),
    "deep tables": ("sweep plan", lambda: fill_up(b"a=", b"[", TEXT_BYTES)),
    "deep inline tables": ("sweep plan", lambda: fill_up(b"a=", b"{a=", TEXT_BYTES)),
    "dotted key": ("sweep plan", lambda: fill_up(b"", b"a.", TEXT_BYTES)),
    "one long name": ("sweep plan", lambda: fill_up(b"", b"a", TEXT_BYTES)),
    "quotes": ("sweep plan", lambda: fill_up(b"", b"\"'", TEXT_BYTES)),
    "blanks before a point": ("sweep plan", lambda: fill_up(b"a", b" ", TEXT_BYTES)),
    "escapes": ("sweep plan", lambda: fill_up(b'a="', b"\\n", TEXT_BYTES)),
    "numbers in a list": ("sweep plan", lambda: fill_up(b"benchmarks=[", b"1,", TEXT_BYTES)),
    "wrong points": ("baseline", lambda: fill_up(b"", b"[[point]]\na=1\n", TEXT_BYTES)),
    "many tasks": (
        "task set, TOML",
        lambda: b"".join(
            b"[[task]]\nname='%d'\nperiod_us=%d\nwcet_us=1e-9\npriority=%d\n" % (index, 1000 + index, index)
            for index in range(1000)
        ),
    ),
    "odd denominators": (
        "task set, CSV",
        lambda: b"name,period_us,wcet_us,priority\n"
        + b"".join(b"%d,%d.%039d,1e-40,%d\n" % (index, index + 1, index * 7 + 1, index) for index in range(1000)),
    ),
    "many rows": ("task set, CSV", lambda: fill_up(b"name,period_us,wcet_us,priority\n", b"a,1,1,1\n", TEXT_BYTES)),
    "deep lists": ("profile, JSON", lambda: fill_up(b'{"a":', b"[", STORED_BYTES)),
    "many lists": ("profile, JSON", lambda: fill_up(b'{"a":[', b"[],", STORED_BYTES)),
    "many numbers": ("profile, JSON", lambda: fill_up(b'{"a":[', b"1,", STORED_BYTES)[:-1] + b"]}"),
    "many strings": ("profile, JSON", lambda: fill_up(b'{"a":[', b'"ab",', STORED_BYTES)[:-1] + b"]}"),
    "sections over each other": (
        "image, ELF",
        lambda: struct.pack("<16sHHIIIIIHHHHHH", b"\x7fELF\1\1\1", 2, 40, 1, 0, 52, 52, 0, 52, 32, 65000, 40, 65000, 1)
        + b"\2\0\0\0" * (IMAGE_BYTES // 4 - 13),
    ),
    "pieces": ("map file", lambda: fill_up(b"Linker script and memory map\n", b" a\n", MAP_BYTES) + b"OUTPUT("),
    "blanks": ("map file", lambda: fill_up(b"Linker script and memory map\n .a", b" ", MAP_BYTES) + b"\nOUTPUT("),
    "a long chain": (
        "call graph",
        lambda: b"".join(
            b'node: { title: "%d" label: "%d\\n8 bytes (static)" }\nedge: { sourcename: "%d" targetname: "%d" }\n'
            % (index, index, index, index + 1)
            for index in range(20_000)
        ),
    ),
    "escapes of a script": ("typing script", lambda: fill_up(b"=> ", b"\\x41", TEXT_BYTES)),
}  # fmt: skip
"""By name: the kind, and what makes it."""
