"""Parses external numbers, none so long or so large that reading it takes time or memory.

`int("9" * 5000)` raises an error and `Fraction(Decimal("1e9999999"))` takes minutes, although a regular expression
accepts both texts as numbers. So the length of a number is limited first."""

import re
from decimal import Decimal
from fractions import Fraction
from typing import Final

from rtoslab.intake.limits import DIGITS, HIGHEST, LOWEST

LONGEST: Final = 2 * DIGITS + 16
"""More characters than any number within the limits has, with its sign, point and exponent."""
_DECIMAL: Final = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,9})?", re.ASCII)
_USUAL_TIME: Final = re.compile(r"(\d{1,12})(?:\.(\d{1,18}))?(?:[eE]([-+]?[0-3]?\d))?", re.ASCII)
_RADIX: Final = {"0x": 16, "0b": 2, "0o": 8}


def parse_integer(text: str, lowest: int = LOWEST, highest: int = HIGHEST) -> int:
    """Returns the integer that a text has in decimal or after 0x, 0o or 0b. Raises ValueError with a clause that says
    why it is none."""
    plain = text.strip()
    digits = plain.removeprefix("-").removeprefix("+")
    radix = _RADIX.get(digits[:2].lower(), 10)
    digits = digits[2:] if radix != 10 else digits
    if len(plain) > LONGEST:
        raise ValueError(f"{quote_text(plain)} has {len(plain)} characters")
    if not digits.isascii() or not digits.isalnum():
        raise ValueError(f"{quote_text(plain)} is not a whole number")
    try:
        value = int(digits, radix) * (-1 if plain.startswith("-") else 1)
    except ValueError:
        raise ValueError(f"{quote_text(plain)} is not a whole number") from None
    if not lowest <= value <= highest:
        raise ValueError(f"{plain} is not within {lowest} and {highest}")
    return value


def parse_exact_decimal(text: str) -> Decimal:
    """Returns the exact decimal number in a text. Raises ValueError with a clause: no number, too long, too large or
    small."""
    plain = text.strip()
    if len(plain) > LONGEST:
        raise ValueError(f"{quote_text(plain)} has {len(plain)} characters")
    if not _DECIMAL.fullmatch(plain):
        raise ValueError(f"{quote_text(plain)} is not a number")
    return require_decimal_within_limits(Decimal(plain))


def require_decimal_within_limits(value: Decimal) -> Decimal:
    """Returns the value unchanged if it is finite and within the limits for external numbers. Raises ValueError with a
    clause."""
    if not value.is_finite():
        raise ValueError(f"{value} is not a number")
    _, digits, exponent = value.as_tuple()
    if len(digits) > DIGITS or (value and abs(value.adjusted()) > DIGITS) or abs(int(exponent)) > 2 * DIGITS:
        raise ValueError(f"{quote_text(str(value))} has more than {DIGITS} places")
    return value


def to_exact_fraction(value: int | Decimal | Fraction | str) -> Fraction:
    """Returns a number as an exact fraction. Raises ValueError with a clause if it is beyond the limits for external
    numbers."""
    if isinstance(value, str):
        return Fraction(parse_exact_decimal(value))
    if isinstance(value, Decimal):
        return Fraction(require_decimal_within_limits(value))
    if isinstance(value, bool):
        raise ValueError("it is true or false, not a number")  # noqa: TRY004 (what callers catch)
    if isinstance(value, int) and not LOWEST <= value <= HIGHEST:
        raise ValueError("it does not fit 64 bits")
    return Fraction(value)


def parse_seconds_as_ticks(text: str, rate_hz: Fraction) -> int:
    """Returns a time in seconds, given as text, as a number of ticks: the nearest, or the even one of two. Raises
    ValueError with a clause."""
    match = _USUAL_TIME.fullmatch(text)
    if match is None:
        return round(to_exact_fraction(text) * rate_hz)
    behind = match[2] or ""
    places = len(behind) - int(match[3] or 0)
    parts: int = 10 ** max(places, 0) * rate_hz.denominator
    count: int
    rest: int
    count, rest = divmod(int(match[1] + behind) * rate_hz.numerator * 10 ** max(-places, 0), parts)
    return count + (2 * rest > parts or (2 * rest == parts and count % 2 == 1))


def quote_text(text: str, max_chars: int = 40) -> str:
    """Returns an external text in quotation marks, on one line and shortened to `max_chars`, for an error message."""
    return repr(text if len(text) <= max_chars else f"{text[:max_chars]}...")
