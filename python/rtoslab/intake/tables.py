"""TOML from outside: of bounded size, depth and breadth, with numbers that fit.

`tomllib` takes quadratic time for a key of many parts, and recurses into brackets. For a number of 5,000 digits it
raises an error that is no TOMLDecodeError. It accepts `inf` and `nan`, which are no figures. This module refuses all of
these.
"""

import math
import re
import tomllib
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Final

from rtoslab.base import RtoslabError
from rtoslab.intake.input_files import printable_path, read_text
from rtoslab.intake.limits import DEPTH, HIGHEST, ITEMS, KEY_PARTS, LOWEST
from rtoslab.intake.numbers import LONGEST

_PART: Final = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY: Final = re.compile(rf"(?<![A-Za-z0-9_-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{KEY_PARTS}}}")
"""Nothing in it is tried twice: its time grows as the text does."""


def read_toml_table(path: Path, description: str, error: type[RtoslabError], *, exact: bool = False) -> dict[str, Any]:
    """Returns the content of a TOML file. `exact`: numbers with a decimal point become `Decimal`.

    Raises `error`, which names the file.
    """
    return parse_toml_table(read_text(path, description, error), printable_path(path), error, exact=exact)


def parse_toml_table(text: str, source: str, error: type[RtoslabError], *, exact: bool = False) -> dict[str, Any]:
    """Returns the content of a TOML text, as `read_toml_table` does. `source` names it in an error. Raises `error`."""
    if _LONG_KEY.search(text):
        raise error(f"{source} has a key of more than {KEY_PARTS} parts; use fewer nested tables.")
    number: Callable[[str], Any] = _parse_toml_decimal if exact else float
    try:
        table = tomllib.loads(text, parse_float=number)
    except tomllib.TOMLDecodeError as cause:
        raise error(f"{source} is not valid TOML ({cause}); correct that line.") from None
    except RecursionError:
        raise error(f"{source} is nested deeper than {DEPTH} levels; use fewer nested tables.") from None
    except (ValueError, OverflowError) as cause:
        reason = "a number has too many digits" if "digits" in str(cause) else str(cause)
        raise error(f"{source} is not valid TOML ({reason}); correct that value.") from None
    require_table_within_limits(table, source, error)
    return table


def _parse_toml_decimal(text: str) -> Decimal:
    """Returns the number in a text of a TOML file as a Decimal of any size.

    The caller names a key that is out of bounds (`numbers.to_exact_fraction`).
    """
    if len(text) > LONGEST:
        raise ValueError("a number has too many digits")
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError("a number has too large an exponent") from None


def require_table_within_limits(value: Any, source: str, error: type[RtoslabError]) -> None:
    """Raises `error` if a table is nested too deeply, has too many values, or has a number out of bounds. `source`
    names it."""
    waiting: list[tuple[Any, int]] = [(value, 0)]
    count = 0
    while waiting:
        item, depth = waiting.pop()
        count += 1
        if depth > DEPTH:
            raise error(f"{source} is nested deeper than {DEPTH} levels; use fewer nested tables.")
        if count > ITEMS:
            raise error(f"{source} contains more than {ITEMS:,} values; split it.")
        if isinstance(item, dict):
            waiting += [(inner, depth + 1) for inner in item.values()]
        elif isinstance(item, list):
            waiting += [(inner, depth + 1) for inner in item]
        elif isinstance(item, int) and not LOWEST <= item <= HIGHEST:
            raise error(f"{source} has an integer that does not fit into 64 bits; correct that value.")
        elif isinstance(item, float) and not math.isfinite(item):
            raise error(f"{source} has a number that is not finite ({item}); correct that value.")
