"""JSON from outside: of bounded depth, with numbers that fit, every key once.

The traps: Python's reader takes `NaN` and `Infinity`, makes infinity of 1e999, keeps the last of two equal keys, raises
RecursionError for a row of brackets and ValueError for 5,000 digits, and what it gives may be no object at all.
"""

import json
import math
from pathlib import Path
from typing import Any, Final

from rtoslab.base import RtoslabError
from rtoslab.intake.input_files import path_text, read_text
from rtoslab.intake.limits import CONTAINERS, DEPTH, HIGHEST, LOWEST, STORED_BYTES

_LONGEST: Final = 24
"""Characters of an integer that fits."""


def read_object(path: Path, what: str, error: type[RtoslabError], limit: int = STORED_BYTES) -> dict[str, Any]:
    """A file that holds one JSON object. Raises `error` naming the file."""
    text = read_text(path, what, error, limit)
    try:
        return parse_object(text)
    except ValueError as cause:
        raise error(f"{path_text(path)} cannot be read as a JSON object ({cause}); make it again.") from None


def parse_object(text: str | bytes) -> dict[str, Any]:
    """One JSON object. Raises ValueError with a clause that says what is wrong, whatever that is."""
    value = parse_value(text)
    if not isinstance(value, dict):
        raise ValueError(f"it holds a {type(value).__name__}, not an object")  # noqa: TRY004 (what callers catch)
    return value


def parse_value(text: str | bytes) -> Any:
    """Any JSON value. Raises ValueError with a clause."""
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError:
            raise ValueError("it is not text in UTF-8") from None
    if text.count("[") + text.count("{") > CONTAINERS:
        raise ValueError(f"it holds more than {CONTAINERS:,} objects and lists")
    try:
        value = json.loads(
            text, parse_int=_integer, parse_float=_number, parse_constant=_refuse, object_pairs_hook=_once
        )
    except RecursionError:
        raise ValueError(f"it nests deeper than {DEPTH} levels") from None
    except json.JSONDecodeError as cause:
        raise ValueError(f"line {cause.lineno}: {cause.msg[:1].lower()}{cause.msg[1:]}") from None
    _require_flat(value)
    return value


def _require_flat(value: Any) -> None:
    waiting = [(value, 0)]
    while waiting:
        item, depth = waiting.pop()
        if depth > DEPTH:
            raise ValueError(f"it nests deeper than {DEPTH} levels")
        if isinstance(item, dict):
            waiting += [(inner, depth + 1) for inner in item.values() if isinstance(inner, dict | list)]
        elif isinstance(item, list):
            waiting += [(inner, depth + 1) for inner in item if isinstance(inner, dict | list)]


def _integer(text: str) -> int:
    if len(text) > _LONGEST or not LOWEST <= (value := int(text)) <= HIGHEST:
        raise ValueError("an integer does not fit 64 bits")
    return value


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("a number is too large")
    return value


def _refuse(text: str) -> None:
    raise ValueError(f"{text} is no number of JSON")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return result
