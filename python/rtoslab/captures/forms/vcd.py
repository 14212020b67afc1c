"""Value change dump (IEEE 1364-2005, 18.2), as simulators, sigrok and other analyzers write it."""

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from rtoslab.captures.capture import UNKNOWN, Capture, channel_of, merged
from rtoslab.errors import CaptureError

SUFFIX: Final = ".vcd"
ABOUT: Final = "VCD"
_UNITS: Final = {"s": 0, "ms": 3, "us": 6, "ns": 9, "ps": 12, "fs": 15}
_LEVELS: Final = {"0": 0, "1": 1, "x": UNKNOWN, "z": UNKNOWN}
_WITHOUT_END: Final = {"$dumpvars", "$dumpall", "$dumpon", "$dumpoff", "$end"}


def recognises(head: bytes) -> bool:
    """A declaration keyword comes first."""
    return re.match(rb"\s*\$(date|version|timescale|comment|scope|var)\b", head) is not None


def read(data: bytes, name: str) -> Capture:
    """Raises CaptureError: no VCD, or cut short."""
    try:
        return _Reader(data.decode("latin-1"), name).whole()
    except StopIteration:
        raise CaptureError(f"{name} ends in the middle of a declaration or value; copy or export it again.") from None


class _Reader:
    def __init__(self, text: str, name: str) -> None:
        self.name = name
        self.words = iter(text.split())
        self.tick_s: Fraction | None = None
        self.bits: dict[str, list[str]] = {}
        """Identifier -> names of its bits, the highest first."""
        self.rows: dict[str, tuple[list[int], list[int]]] = {}
        """Name of a bit -> ticks, levels."""
        self.scope: list[str] = []

    def whole(self) -> Capture:
        self._declarations()
        end = self._changes()
        assert self.tick_s is not None
        channels = tuple(channel_of(bit, *rows) for bit, rows in self.rows.items())
        return Capture(self.tick_s, channels, end)

    def _declarations(self) -> None:
        for word in self.words:
            if word == "$enddefinitions":
                self._until_end()
                break
            body = self._until_end()
            if word == "$timescale":
                self.tick_s = self._timescale("".join(body))
            elif word == "$scope":
                self.scope.append(body[-1] if body else "")
            elif word == "$upscope":
                self.scope = self.scope[:-1]
            elif word == "$var":
                self._variable(body)
            elif not word.startswith("$"):
                raise CaptureError(f"{self.name} is no VCD: {word!r} stands among its declarations.")
        else:
            raise CaptureError(f"{self.name} ends before $enddefinitions; copy or export it again.")
        if self.tick_s is None:
            raise CaptureError(f"{self.name} has no $timescale, so its times mean nothing; export it again.")

    def _until_end(self) -> list[str]:
        body: list[str] = []
        while (word := next(self.words)) != "$end":
            body.append(word)
        return body

    def _timescale(self, text: str) -> Fraction:
        found = re.fullmatch(r"(1|10|100)([munpf]?s)", text)
        if found is None:
            raise CaptureError(f"{self.name}: the $timescale {text!r} is none (1, 10 or 100, and s to fs).")
        return Fraction(int(found[1]), 10 ** _UNITS[found[2]])

    def _variable(self, body: list[str]) -> None:
        if len(body) < 4 or not body[1].isdecimal():  # type, width, identifier, name
            raise CaptureError(f"{self.name}: a $var cannot be read: {' '.join(body)!r}.")
        kind, width, ident, label = body[0], int(body[1]), body[2], "".join(body[3:])
        if kind in {"real", "realtime", "string"} or ident in self.bits:
            self.bits.setdefault(ident, [])
            return
        plain = re.sub(r"\[\d+:\d+\]$", "", label)
        labels = [label] if width == 1 else [f"{plain}[{bit}]" for bit in reversed(range(width))]
        if any(each in self.rows for each in labels):
            labels = [".".join([*self.scope, each]) for each in labels]
        self.bits[ident] = labels
        self.rows.update((each, ([], [])) for each in labels)

    def _changes(self) -> int:
        now = 0
        for word in self.words:
            first = word[0]
            if first == "#":
                now = self._time(word, now)
            elif first in "01xXzZ" and len(word) > 1:
                self._set(word[1:], word[0], now)
            elif first in "bB":
                self._set(next(self.words), word[1:], now)
            elif first in "rRsS":
                next(self.words)
            elif word == "$comment":
                self._until_end()
            elif word not in _WITHOUT_END:
                raise CaptureError(f"{self.name}: at time {now} stands {word!r}, which is no value change.")
        return now

    def _time(self, word: str, now: int) -> int:
        if not word[1:].isdecimal():
            raise CaptureError(f"{self.name}: {word!r} is no time.")
        if int(word[1:]) < now:
            raise CaptureError(f"{self.name}: the time goes back from {now} to {word[1:]}.")
        return int(word[1:])

    def _set(self, ident: str, value: str, now: int) -> None:
        if ident not in self.bits:
            raise CaptureError(f"{self.name}: at time {now} a value is given to {ident!r}, which was not declared.")
        labels = self.bits[ident]
        text = value.lower()
        # A shorter value is extended on its left: by zeros, or by an x or z that it begins with.
        text = text.rjust(len(labels), text[0] if text[:1] in {"x", "z"} else "0")
        if set(text) - set(_LEVELS):
            raise CaptureError(f"{self.name}: at time {now} {value!r} is no value of bits.")
        for label, bit in zip(labels, text[len(text) - len(labels) :], strict=True):
            ticks, levels = self.rows[label]
            ticks.append(now)
            levels.append(_LEVELS[bit])


def write(capture: Capture) -> bytes:
    """Every tick whole: the time scale is the coarsest power of ten that holds it, or femtoseconds, rounded."""
    unit, places = _scale(capture.tick_s)
    idents = [_identifier(number) for number in range(len(capture.channels))]
    return "\n".join(_lines(capture, unit, places, idents)).encode() + b"\n"


def _lines(capture: Capture, unit: str, places: int, idents: list[str]) -> Iterator[str]:
    yield f"$timescale {unit} $end"
    yield "$scope module pins $end"
    for ident, each in zip(idents, capture.channels, strict=True):
        yield f"$var wire 1 {ident} {re.sub(r'[^!-~]', '_', each.name)} $end"
    yield "$upscope $end"
    yield "$enddefinitions $end"
    scale = capture.tick_s * 10**places

    def at(tick: int) -> int:
        return round(Fraction(tick * scale))

    ticks, levels = merged(capture)
    before: list[int] | None = None
    for tick, row in zip(ticks.tolist(), levels.tolist(), strict=True):
        yield f"#{at(tick)}"
        for column, level in enumerate(row):
            if before is None or before[column] != level:
                yield f"{'x' if level == UNKNOWN else level}{idents[column]}"
        before = row
    yield f"#{at(capture.end_tick)}"


def _scale(tick_s: Fraction) -> tuple[str, int]:
    """(`1 ns`, 9): a VCD knows powers of ten only."""
    for places in range(16):
        if (tick_s * 10**places).denominator == 1:
            break
    name = next(unit for unit, power in _UNITS.items() if power >= places)
    return f"{10 ** (_UNITS[name] - places)} {name}", places


def _identifier(number: int) -> str:
    """Printable characters from ! on."""
    text = ""
    while True:
        text += chr(33 + number % 94)
        number = number // 94 - 1
        if number < 0:
            return text
