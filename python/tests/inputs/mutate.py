"""Damage: bytes, tokens and pieces of an input altered at random, from a seed."""

import re
from random import Random
from typing import Final

ODD: Final[tuple[bytes, ...]] = (
    b"", b"0", b"-1", b"1", b"nan", b"inf", b"-inf", b"1e9999999", b"1e-9999999", b"1e308", b"9" * 20, b"9" * 41,
    b"9" * 5000, b"0x" + b"f" * 17, b"0x" + b"f" * 4000, b"18446744073709551615", b"18446744073709551616",
    b"9223372036854775808", b"-9223372036854775809", b"300000000", b"4294967296", b"00000000001", b"99999999999",
    b"1_000", b"1.5", b"\xff", b"\x80", b"\xc3\x28", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xf0\x9f\x92\xa9", b"\0",
    b"\x1b[2J", b"\r", b"\n", b"\r\n", b"\x0b", b"\x85", "\u0663".encode(), "\u2028".encode(), "\u00b2".encode(),
    b'"', b"'", b'"""', b"[", b"]", b"{", b"}", b"(", b")", b"[" * 200, b"{" * 200, b'{"a":' * 200, b"a." * 40,
    b"/*", b"*/", b"../../x", b"<script>", b"[/x]", b"%00", b"%ff", b"=", b"*", b",", b";", b"#", b"$end", b"$var",
    b"T", b"Z", b"+00:00", b"true", b"null", b"NaN", b"Infinity", b"2024-05-11T23:59:59", b"2024-05-11T23:59:59Z",
    b"(" * 300, b"x" * 3000, b" " * 3000, b"b" * 300, b"1x999999", b"5x999999,6x999999",
)  # fmt: skip
_DIGIT: Final = re.compile(rb"\d")
_TOKEN: Final = re.compile(rb"[A-Za-z0-9_.+-]+|\s+|[^A-Za-z0-9_.+\s-]")


def damage_input(data: bytes, random: Random, other: bytes = b"") -> bytes:
    """The input with one to four pieces of damage; `other` is one of its kind, to be spliced in."""
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 4))):
        data = random.choice(_DAMAGES)(data, random, other)
    return data


def _bit(data: bytes, random: Random, _: bytes) -> bytes:
    if not data:
        return bytes([random.randrange(256)])
    place = random.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << random.randrange(8)]) + data[place + 1 :]


def _byte(data: bytes, random: Random, _: bytes) -> bytes:
    place = random.randrange(len(data) + 1)
    return data[:place] + bytes([random.randrange(256)]) + data[place + 1 :]


def _cut(data: bytes, random: Random, _: bytes) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def _without(data: bytes, random: Random, _: bytes) -> bytes:
    first = random.randrange(len(data) + 1)
    return data[:first] + data[first + random.randrange(40) :]


def _twice(data: bytes, random: Random, _: bytes) -> bytes:
    first = random.randrange(len(data) + 1)
    piece = data[first : first + random.randrange(80)]
    return data[:first] + piece * random.choice((2, 2, 3, 50)) + data[first + len(piece) :]


def _odd(data: bytes, random: Random, _: bytes) -> bytes:
    place = random.randrange(len(data) + 1)
    return data[:place] + random.choice(ODD) + data[place:]


def _token(data: bytes, random: Random, _: bytes) -> bytes:
    """A word or number in place of another."""
    start = random.randrange(len(data) + 1)
    match = _TOKEN.search(data, start)
    if match is None:
        return data + random.choice(ODD)
    first, last = match.span()
    return data[:first] + random.choice(ODD) + data[last:]


def _swap(data: bytes, random: Random, _: bytes) -> bytes:
    """One word of the input in place of another of it."""
    first = _TOKEN.search(data, random.randrange(len(data) + 1))
    second = _TOKEN.search(data, random.randrange(len(data) + 1))
    if first is None or second is None:
        return data
    return data[: first.start()] + second[0] + data[first.end() :]


def _splice(data: bytes, random: Random, other: bytes) -> bytes:
    return data[: random.randrange(len(data) + 1)] + other[random.randrange(len(other) + 1) :]


def _word(data: bytes, random: Random, _: bytes) -> bytes:
    """Four bytes in place of others, as binary forms have their numbers."""
    place = random.randrange(len(data) + 1)
    value = random.choice((0, 1, 2, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFF0, len(data), random.getrandbits(32)))
    return data[:place] + value.to_bytes(4, "little") + data[place + 4 :]


def _digit(data: bytes, random: Random, _: bytes) -> bytes:
    """Another digit in place of one: what is mostly still of the form."""
    match = _DIGIT.search(data, random.randrange(len(data) + 1))
    return data if match is None else data[: match.start()] + b"%d" % random.randrange(10) + data[match.end() :]


_DAMAGES: Final = (
    _digit,
    _digit,
    _bit,
    _byte,
    _cut,
    _without,
    _twice,
    _odd,
    _token,
    _token,
    _token,
    _swap,
    _swap,
    _splice,
    _word,
)
