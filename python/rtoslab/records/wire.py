"""The tables of the wire format: the records, their fields and forms. Constants come from spec/wire.toml.

`decode` reads the stream. This module defines a single line. spec/wire.md has the prose."""

import re
import zlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from rtoslab.base import CatalogueError, DecodeError
from rtoslab.intake import read_toml_table

U64_MAX: Final = 2**64 - 1
OVERRIDES: Final = frozenset({"fault", "assert", "overflow", "error"})

Value = int | str | tuple[int, ...]


@dataclass(frozen=True, slots=True)
class WireFormatConstants:
    """The constants of spec/wire.toml: the version of the wire format and the longest line."""

    wire_version: int
    line_max_chars: int


@cache
def read_wire_constants(root: Path) -> WireFormatConstants:
    """Returns the constants in spec/wire.toml of the checkout at `root`. Raises CatalogueError."""
    path = root / "spec" / "wire.toml"
    table = read_toml_table(path, "the constants of the wire format", CatalogueError)
    try:
        return WireFormatConstants(wire_version=int(table["wire_version"]), line_max_chars=int(table["line_max_chars"]))
    except (KeyError, TypeError, ValueError):
        raise CatalogueError(
            f"{path} does not contain wire_version or line_max_chars; restore it from the repository."
        ) from None


# One letter per form keeps the table below readable as a table.
D, X, I, T, L, R = "decimal", "hexadecimal", "integer", "text", "list", "runs"  # noqa: E741

RECORDS: Final[dict[str, dict[str, str]]] = {
    "begin": {
        "run": T,
        "wire": D,
        "bench": T,
        "kernel": T,
        "board": T,
        "cores": D,
        "clock_hz": D,
        "window_us": D,
        "timer_hz": D,
        "manifest": X,
    },
    "param": {"name": T, "value": T},
    "task": {"core": D, "index": D, "name": T, "priority": D, "handle": X, "stack_bytes": D},
    "ruler": {"name": T, "core": D, "n": D},
    "window": {"n": D, "open_ticks": D, "close_ticks": D},
    "count": {"n": D, "core": D, "index": D, "name": T, "open": D, "close": D},
    "check": {"name": T, "core": D, "value": I},
    "heap": {"size_bytes": D, "peak_bytes": D, "allocations": D},
    "stack": {"core": D, "index": D, "used_bytes": D, "size_bytes": D},
    "sample": {"metric": T, "values": R, "n": D},
    "end": {"run": T, "records": D, "status": T},
    "fault": {"run": T, "core": D, "kind": T, "exception": D, "pc": X, "lr": X, "psr": X, "sp": X},
    "assert": {"run": T, "core": D, "file": T, "line": D},
    "overflow": {"run": T, "core": D, "task": T},
    "error": {"run": T, "core": D, "code": T, "detail": T},
}

OPTIONAL: Final = {"heap": frozenset({"allocations"})}
"""Fields that a record may lack, because not every kernel counts them."""

# A ruler's repeats: `t0=..` one by one, or one list whose key ends in its unit.
RULER_REPEAT: Final = re.compile(r"t[0-9]+(_(cycles|ticks|us))?|[a-z][a-z0-9_]*_(cycles|ticks|us)")

_NUMBER: Final = r"(?:0|[1-9][0-9]{0,19})"
_RUN: Final = rf"{_NUMBER}(?:x(?:[2-9]|[1-9][0-9]{{1,5}}))?"

_LINE: Final = re.compile(rb"@(0|[1-9][0-9]{0,9}) ([a-z]+)((?: [a-z0-9_]+=[!-)+-<>-~]*)*) \*([0-9a-f]{8})")
"""Values are printable ASCII without blank, `=` and `*`: a right check sum makes no other byte one of the format."""
_FORMS: Final = {
    D: re.compile(_NUMBER),
    X: re.compile(r"0x[0-9a-f]{1,16}"),
    T: re.compile(r"(?:[A-Za-z0-9._/-]|%[0-9A-Fa-f]{2})*"),
    L: re.compile(rf"{_NUMBER}(?:,{_NUMBER})*"),
    R: re.compile(rf"{_RUN}(?:,{_RUN})*"),
}


@dataclass(frozen=True, slots=True)
class ChecksummedRecordLine:
    """One well-formed line of the record stream. Its CRC is right, and its record and every field are known."""

    number: int
    seq: int
    record: str
    fields: dict[str, str]
    """As received, still percent-encoded."""

    def field_value(self, key: str) -> Value:
        """Returns a field's value in its type: integer, text or integers."""
        return _parse_record_field_value(self.fields[key], RECORDS[self.record].get(key, L))

    def integer_value_of_record_field(self, key: str) -> int:
        """Returns the value of a field that is an integer."""
        value = self.field_value(key)
        assert isinstance(value, int)
        return value

    def record_text_field_value(self, key: str) -> str:
        """Returns the value of a text field. Percent-encoded characters are decoded."""
        value = self.field_value(key)
        assert isinstance(value, str)
        return value


def parse_record_line(raw: bytes, number: int, line_max_chars: int) -> ChecksummedRecordLine:
    """Returns one line of the record stream, which is given without its line end, as its parts. Raises DecodeError with
    the line's `number`."""
    if len(raw) > line_max_chars:
        raise DecodeError(number, f"{len(raw)} characters, more than the {line_max_chars} allowed.")
    match = _LINE.fullmatch(raw)
    if match is None:
        raise DecodeError(number, f"not a record line: {_quote_excerpt(raw)}.")
    seq, record, body, crc = match.groups()
    computed = zlib.crc32(raw[: -len(b" *00000000")])
    if computed != int(crc, 16):
        raise DecodeError(number, f"the check sum is {crc.decode()}, the content gives {computed:08x}.")
    name = record.decode()
    if name not in RECORDS:
        raise DecodeError(number, f"unknown record {name!r}.")
    line = ChecksummedRecordLine(number, int(seq), name, _split_fields(body.decode("ascii"), number))
    _require_record_fields(line)
    return line


def _split_fields(body: str, number: int) -> dict[str, str]:
    """Returns the fields of a record line by their keys. Raises DecodeError if a key stands twice."""
    fields: dict[str, str] = {}
    for pair in body.split():
        key, value = pair.split("=")
        if key in fields:
            raise DecodeError(number, f"the key {key!r} stands twice.")
        fields[key] = value
    return fields


def _require_record_fields(line: ChecksummedRecordLine) -> None:
    """Raises DecodeError if a field of the line is missing, unknown to its record, or not of the right form."""
    forms = RECORDS[line.record]
    missing = [key for key in forms if key not in line.fields and key not in OPTIONAL.get(line.record, ())]
    if missing:
        raise DecodeError(line.number, f"the {line.record} record lacks {', '.join(missing)}.")
    for key, value in line.fields.items():
        form = forms.get(key)
        if form is None:
            if line.record != "ruler" or not RULER_REPEAT.fullmatch(key):
                raise DecodeError(line.number, f"the {line.record} record has no key {key!r}.")
            form = L
        if not is_valid_wire_format_field(value, form):
            raise DecodeError(line.number, f"{key}={value[:40]} is not a {form} value.")


def is_valid_wire_format_field(value: str, form: str) -> bool:
    """Whether a field's text has this form of the wire format (such as `decimal`), with numbers that fit into 64
    bits."""
    if form == I:
        return is_valid_wire_format_field(value, D) or is_valid_wire_format_field(value, X)
    if not _FORMS[form].fullmatch(value):
        return False
    if form == D:
        return int(value) <= U64_MAX
    if form in {L, R}:
        return all(int(item.partition("x")[0]) <= U64_MAX for item in value.split(","))
    return True


def _parse_record_field_value(value: str, form: str) -> Value:
    """Returns a field's text as a value of this form: integer, text or integers."""
    if form == T:
        return unquote(value, errors="replace")
    if form == L:
        return tuple(int(item) for item in value.split(","))
    if form == R:
        return expand_repeat_counts(value)
    return int(value, 16) if value.startswith("0x") else int(value)


def expand_repeat_counts(text: str) -> tuple[int, ...]:
    """Returns the values of a list with repeat counts: `812,13x3` is 812, 13, 13, 13."""
    values: list[int] = []
    for run in text.split(","):
        value, _, repeats = run.partition("x")
        values += [int(value)] * int(repeats or 1)
    return tuple(values)


def count_values_after_repeat_expansion(text: str) -> int:
    """Returns how many values `expand_repeat_counts` would return for a text, without making them."""
    return sum(int(run.partition("x")[2] or 1) for run in text.split(","))


def _quote_excerpt(raw: bytes) -> str:
    """Returns the beginning of a line in quotation marks, with printable characters only, for an error message."""
    text = raw[:60].decode("ascii", errors="backslashreplace")
    printable = "".join(char if char.isprintable() else "." for char in text)
    return repr(printable + ("..." if len(raw) > 60 else ""))
