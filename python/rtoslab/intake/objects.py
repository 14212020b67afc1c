"""Parses external JSON of bounded depth, with numbers that fit and every key once.

Python's reader accepts `NaN` and `Infinity`, reads 1e999 as infinity, and keeps the last of two equal keys. It raises
RecursionError for a row of brackets and ValueError for 5,000 digits, and it may return a value that is no object. This
module refuses all of these."""

import json
import math
from pathlib import Path
from typing import Any, Final

from rtoslab.base import RtoslabError
from rtoslab.intake.input_files import printable_path, read_text
from rtoslab.intake.limits import CONTAINERS, DEPTH, HIGHEST, LOWEST, STORED_BYTES

_LONGEST: Final = 24
"""The most characters of an integer of 64 bits."""


def read_json_object(
    path: Path, description: str, error: type[RtoslabError], limit: int = STORED_BYTES
) -> dict[str, Any]:
    """Returns the JSON object in a file. Raises `error`, which names the file."""
    text = read_text(path, description, error, limit)
    try:
        return parse_json_object(text)
    except ValueError as cause:
        raise error(
            f"{printable_path(path)} cannot be read as a JSON object ({cause}); write the file again."
        ) from None


def parse_json_object(text: str | bytes) -> dict[str, Any]:
    """Returns the JSON object in a text. Raises ValueError with a clause for anything else."""
    value = parse_json_value(text)
    if not isinstance(value, dict):
        raise ValueError(f"it contains a {type(value).__name__}, not an object")  # noqa: TRY004 (what callers catch)
    return value


def parse_json_value(text: str | bytes) -> Any:
    """Returns the value in a JSON text, whatever its type. Raises ValueError with a clause."""
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError:
            raise ValueError("it is not text in UTF-8") from None
    if text.count("[") + text.count("{") > CONTAINERS:
        raise ValueError(f"it contains more than {CONTAINERS:,} objects and lists")
    try:
        value = json.loads(
            text,
            parse_int=_parse_integer,
            parse_float=_parse_finite_float,
            parse_constant=_refuse_nan_and_infinity,
            object_pairs_hook=_dictionary_with_unique_keys,
        )
    except RecursionError:
        raise ValueError(f"it is nested deeper than {DEPTH} levels") from None
    except json.JSONDecodeError as cause:
        raise ValueError(f"line {cause.lineno}: {cause.msg[:1].lower()}{cause.msg[1:]}") from None
    _require_shallow_json_nesting(value)
    return value


def _require_shallow_json_nesting(value: Any) -> None:
    """Raises ValueError for a value of objects and lists that are nested too deeply."""
    waiting = [(value, 0)]
    while waiting:
        item, depth = waiting.pop()
        if depth > DEPTH:
            raise ValueError(f"it is nested deeper than {DEPTH} levels")
        if isinstance(item, dict):
            waiting += [(inner, depth + 1) for inner in item.values() if isinstance(inner, dict | list)]
        elif isinstance(item, list):
            waiting += [(inner, depth + 1) for inner in item if isinstance(inner, dict | list)]


def _parse_integer(text: str) -> int:
    """Returns the integer in a text. Raises ValueError if it does not fit into 64 bits."""
    if len(text) > _LONGEST or not LOWEST <= (value := int(text)) <= HIGHEST:
        raise ValueError("an integer does not fit 64 bits")
    return value


def _parse_finite_float(text: str) -> float:
    """Returns the finite number in a text. Raises ValueError if it is too large."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("a number is too large")
    return value


def _refuse_nan_and_infinity(text: str) -> None:
    """Raises ValueError for `NaN` and `Infinity`."""
    raise ValueError(f"{text} is not a number in JSON")


def _dictionary_with_unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Returns pairs of key and value as a dictionary. Raises ValueError if a key is there twice."""
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("an object contains the same key twice")
    return result
