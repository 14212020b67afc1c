"""Value change dump (IEEE 1364-2005, 18.2), as simulators, sigrok and other analyzers write it."""

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from rtoslab.base import CaptureError, count_with_noun
from rtoslab.captures.capture import UNKNOWN, LogicLevelCapture, merge_logic_channel_level_changes
from rtoslab.captures.tracks import LogicChannelBuilderSet, require_tick_fits_64_bits
from rtoslab.captures.vectors import VcdBitVector, is_vcd_logic_level_value
from rtoslab.intake import CHANNELS, parse_integer, quote_text, split_bytes_at_white_space

SUFFIX: Final = ".vcd"
ABOUT: Final = "VCD"
_UNITS: Final = {"s": 0, "ms": 3, "us": 6, "ns": 9, "ps": 12, "fs": 15}
_SCALARS: Final = {ord("0"): 0, ord("1"): 1, **dict.fromkeys(b"xXzZ", UNKNOWN)}
_HASH: Final = ord("#")
_WITHOUT_END: Final = {b"$dumpvars", b"$dumpall", b"$dumpon", b"$dumpoff", b"$end"}
_KEYWORDS: Final = {"$var", "$scope", "$upscope", "$timescale", "$enddefinitions"}
_NO_BITS: Final = {"real", "realtime", "string"}
_BODY_WORDS: Final = 64
"""The most words of a declaration. Further words of a comment are skipped."""
_SCOPES: Final = 64
_TIME_DIGITS: Final = 20
"""More than a time that fits has, but for leading zeros."""


def recognises_format(head: bytes) -> bool:
    """Whether the first bytes of a file are those of a VCD: a declaration keyword such as `$timescale`."""
    return re.match(rb"\s*\$(date|version|timescale|comment|scope|var)\b", head) is not None


def decode_capture(data: bytes, name: str) -> LogicLevelCapture:
    """Returns the capture in a VCD. Raises CaptureError if it is none, is cut short, or is too large."""
    try:
        return _VcdReader(data, name).read_capture()
    except StopIteration:
        raise CaptureError(f"{name} ends in the middle of a declaration or value; copy or export it again.") from None


class _VcdReader:
    """Reads a VCD word by word, and collects the channels' levels."""

    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        self.words = split_bytes_at_white_space(data, name, CaptureError)
        self.tick_s: Fraction | None = None
        self.tracks = LogicChannelBuilderSet(name)
        self.variables: dict[bytes, VcdBitVector | None] = {}
        """Keyed by identifier. None: no digital one."""
        self.scopes: list[str] = []
        self._idle_count = 0
        """The number of values that change nothing. The next field is the time of the first one."""
        self._idle_time = 0

    def read_capture(self) -> LogicLevelCapture:
        """Reads the whole file and returns its capture."""
        self._read_vcd_declarations()
        end = self._read_vcd_value_changes()
        assert self.tick_s is not None
        return self.tracks.to_capture(self.tick_s, end, self._capture_notes())

    def _read_vcd_declarations(self) -> None:
        """Reads the declarations of scopes, variables and the time scale. Raises CaptureError for an invalid one."""
        for word in self.words:
            if word == b"$enddefinitions":
                self._read_vcd_declaration_words()
                break
            if not word.startswith(b"$"):
                raise CaptureError(
                    f"{self.name} is not a valid VCD file: {_quote_word(word)} is not a declaration; export it again."
                )
            body = self._read_vcd_declaration_words()
            if word == b"$timescale":
                tick_s = self._parse_timescale("".join(body))
                if self.tick_s not in {None, tick_s}:
                    raise CaptureError(f"{self.name} has two different $timescales; export it again.")
                self.tick_s = tick_s
            elif word == b"$scope":
                self._enter_vcd_scope(body[-1] if body else "")
            elif word == b"$upscope":
                self.scopes = self.scopes[:-1]
            elif word == b"$var":
                self._add_vcd_variable(body)
        else:
            raise CaptureError(f"{self.name} ends before $enddefinitions; copy or export it again.")
        if self.tick_s is None:
            raise CaptureError(f"{self.name} has no $timescale, so its times have no unit; export it again.")

    def _read_vcd_declaration_words(self) -> list[str]:
        """Reads the words of a declaration up to $end. Long texts are cut to the first words."""
        body: list[str] = []
        while (word := next(self.words)) != b"$end":
            if len(body) < _BODY_WORDS:
                body.append(word.decode("utf-8", errors="replace"))
        return body

    def _enter_vcd_scope(self, scope: str) -> None:
        """Enters a scope, whose name may be part of variables' names. Raises CaptureError if scopes are nested too
        deeply."""
        if len(self.scopes) >= _SCOPES:
            raise CaptureError(f"{self.name} has scopes nested deeper than {_SCOPES} levels; export fewer scopes.")
        self.scopes.append(scope)

    def _parse_timescale(self, text: str) -> Fraction:
        """Returns the seconds of one tick from the text of `$timescale`. Raises CaptureError."""
        match = re.fullmatch(r"(1|10|100)([munpf]?s)", text)
        if match is None:
            raise CaptureError(
                f"{self.name}: the $timescale {quote_text(text)} is not valid (1, 10 or 100, and s to fs); export it "
                "again."
            )
        return Fraction(int(match[1]), 10 ** _UNITS[match[2]])

    def _add_vcd_variable(self, body: list[str]) -> None:
        """Adds a variable with a channel for each bit. Variables of other types are ignored."""
        if len(body) < 4:  # type, width, identifier, name
            raise CaptureError(f"{self.name}: a $var cannot be read: {quote_text(' '.join(body))}.")
        if any(word in _KEYWORDS for word in body):
            raise CaptureError(
                f"{self.name}: a $var has no $end: {quote_text(' '.join(body))}; copy or export it again."
            )
        kind, size, ident, label = body[0], body[1], body[2].encode(), "".join(body[3:])
        try:
            width = parse_integer(size, 1 if kind not in _NO_BITS else 0)
        except ValueError as cause:
            raise CaptureError(f"{self.name}: a $var cannot be read: its width {cause}.") from None
        if kind in _NO_BITS or ident in self.variables:
            self.variables.setdefault(ident, None)
            return
        if width > CHANNELS:
            raise CaptureError(
                f"{self.name}: {quote_text(label)} is {width:,} bits wide, but at most {CHANNELS:,} can "
                "be read; export fewer."
            )
        plain = re.sub(r"\[\d{1,9}:\d{1,9}\]$", "", label)
        labels = [label] if width == 1 else [f"{plain}[{bit}]" for bit in reversed(range(width))]
        if any(item in self.tracks for item in labels):
            labels = [".".join([*self.scopes, item]) for item in labels]
        self.variables[ident] = VcdBitVector([self.tracks.add_logic_channel(item) for item in labels])

    def _read_vcd_value_changes(self) -> int:
        """Reads the value changes after the declarations. Returns the last time in ticks."""
        now, variables, count = 0, self.variables, self.tracks.count_stored_logic_levels
        is_dump = False
        for word in self.words:
            first = word[0]
            if first == _HASH:
                now = self._parse_time(word, now)
            elif first in _SCALARS and len(word) > 1:
                known = variables.get(word[1:])
                if known is not None and known.width == 1:
                    rows = known.tracks[0].set_logic_level_from_sample_tick(now, _SCALARS[first])
                    count(rows)
                    if rows < 1 and not is_dump:
                        self._count_redundant_value_change(now)
                else:
                    self._set_variable_value(word[1:], word[:1], now)
            elif first in b"bB":
                self._set_variable_value(next(self.words), word[1:], now)
            elif first in b"rRsS":
                next(self.words)
            elif word == b"$comment":
                self._read_vcd_declaration_words()
            elif word in _WITHOUT_END:
                is_dump = word != b"$end"
            else:
                raise CaptureError(
                    f"{self.name}: {_quote_word(word)} at time {now} is not a value change; export it again."
                )
        return now

    def _count_redundant_value_change(self, now: int) -> None:
        """Counts a value that its wire already has, or that is changed again at the same time."""
        if not self._idle_count:
            self._idle_time = now
        self._idle_count += 1

    def _capture_notes(self) -> tuple[str, ...]:
        """Returns sentences about possible damage: values that change nothing."""
        if not self._idle_count:
            return ()
        values = f"{count_with_noun(self._idle_count, 'value')} repeated or changed twice at the same time"
        return (f"{self.name}: {values}, first at time {self._idle_time}; a time or a value may be missing there.",)

    def _parse_time(self, word: bytes, now: int) -> int:
        """Returns the time in a word such as `#100` in ticks. Raises CaptureError if it is before `now`."""
        digits = word[1:]
        if not digits.isdigit():
            raise CaptureError(f"{self.name}: {_quote_word(word)} is not a time; export it again.")
        if len(digits) > _TIME_DIGITS:
            digits = digits.lstrip(b"0")[: _TIME_DIGITS + 1] or b"0"
        time = require_tick_fits_64_bits(int(digits), f"{self.name}, after {now}")
        if time < now:
            raise CaptureError(f"{self.name}: the time goes back from {now} to {time}; export it again.")
        return time

    def _set_variable_value(self, ident: bytes, value: bytes, now: int) -> None:
        """Sets the value of the variable with this identifier from time `now` on. Raises CaptureError for an undeclared
        one."""
        if ident not in self.variables:
            raise CaptureError(
                f"{self.name}: at time {now} the wire {_quote_word(ident)} changes, but it was not declared; "
                "export it again."
            )
        variable = self.variables[ident]
        if len(value) > 4 * CHANNELS or (variable is not None and not is_vcd_logic_level_value(value)):
            raise CaptureError(
                f"{self.name}: at time {now} {_quote_word(value)} is not a binary value; export it again."
            )
        if variable is not None:
            self.tracks.count_stored_logic_levels(variable.set_vcd_variable_value(now, value))


def _quote_word(word: bytes) -> str:
    """Returns a word of a VCD in quotes, for messages."""
    return quote_text(word.decode("utf-8", errors="replace"))


def encode_capture(capture: LogicLevelCapture) -> bytes:
    """Returns a VCD in the coarsest time scale in which a tick is an integer, else in rounded femtoseconds."""
    unit, places = _vcd_time_scale(capture.tick_s)
    idents = [_channel_identifier(number) for number in range(len(capture.channels))]
    return "\n".join(_vcd_lines(capture, unit, places, idents)).encode() + b"\n"


def _vcd_lines(capture: LogicLevelCapture, unit: str, places: int, idents: list[str]) -> Iterator[str]:
    """Yields the lines of a VCD. `places` are the decimal places of the time scale, `idents` the channels' short
    names."""
    yield f"$timescale {unit} $end"
    yield "$scope module pins $end"
    for ident, pair in zip(idents, capture.channels, strict=True):
        yield f"$var wire 1 {ident} {re.sub(r'[^!-~]', '_', pair.name)} $end"
    yield "$upscope $end"
    yield "$enddefinitions $end"
    scale = capture.tick_s * 10**places

    def convert_tick_to_vcd_time_units(tick: int) -> int:
        """Returns a tick in units of the time scale."""
        return round(Fraction(tick * scale))

    ticks, levels = merge_logic_channel_level_changes(capture)
    before: list[int] | None = None
    for tick, row in zip(ticks.tolist(), levels.tolist(), strict=True):
        yield f"#{convert_tick_to_vcd_time_units(tick)}"
        for column, level in enumerate(row):
            if before is None or before[column] != level:
                yield f"{'x' if level == UNKNOWN else level}{idents[column]}"
        before = row
    yield f"#{convert_tick_to_vcd_time_units(capture.end_tick)}"


def _vcd_time_scale(tick_s: Fraction) -> tuple[str, int]:
    """Returns the time scale's text and its decimal places: (`1 ns`, 9). A VCD has powers of ten only."""
    for places in range(16):
        if (tick_s * 10**places).denominator == 1:
            break
    name = next(unit for unit, power in _UNITS.items() if power >= places)
    return f"{10 ** (_UNITS[name] - places)} {name}", places


def _channel_identifier(number: int) -> str:
    """Returns the short identifier of a channel's number, in printable characters from ! on."""
    text = ""
    while True:
        text += chr(33 + number % 94)
        number = number // 94 - 1
        if number < 0:
            return text
