"""Quantities of time whose key names the unit: `period_ms = 5`, `wcet_us = 12.5`, `jitter_cycles = 40`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final

from rtoslab.base import TaskSetError
from rtoslab.intake import escape_to_one_line, quote_text, to_exact_fraction

SECONDS: Final = {
    "ns": Fraction(1, 1_000_000_000),
    "us": Fraction(1, 1_000_000),
    "ms": Fraction(1, 1_000),
    "s": Fraction(1),
}
CYCLES: Final = "cycles"
UNITS: Final = (*SECONDS, CYCLES)


@dataclass(frozen=True, slots=True)
class Duration:
    """A length of time: in seconds, or in cycles of the analysed clock."""

    value: Fraction
    in_cycles: bool = False

    def duration_in_exact_cycles(self, clock_hz: int) -> Fraction:
        """Returns the exact number of cycles in this time at a clock."""
        return self.value if self.in_cycles else self.value * clock_hz


WHOLE_FROM_US: Final = 1_000
"""Microseconds from which on no decimals are printed."""


def microseconds_with_decimals(
    value: Fraction,
    *,
    whole_from: int | None = WHOLE_FROM_US,
    decimals: int = 1,
    rounding: Callable[[Fraction], int] = round,
) -> str:
    """Returns microseconds as text with this number of decimals, or with as many as a small value needs."""
    if whole_from is not None and abs(value) >= whole_from:
        return f"{rounding(value):,}"
    return number_with_decimals(value, decimals, rounding)


def number_with_decimals(value: Fraction, decimals: int, rounding: Callable[[Fraction], int] = round) -> str:
    """Returns a value as text with so many decimals, or with as many as a small value needs."""
    while value and not rounding(value * 10**decimals):
        decimals += 1
    return f"{Decimal(rounding(value * 10**decimals)).scaleb(-decimals):,.{decimals}f}"


ZERO_DURATION: Final = Duration(Fraction(0))


def parse_duration_key(table: Mapping[str, object], name: str, where: str) -> Duration | None:
    """Returns the duration under the key `<name>_<unit>`. None if there is no such key.

    Raises TaskSetError for an unknown unit, two units at once, a value that is no number, and negative numbers."""
    keys = [key for key in table if key.startswith(f"{name}_") or key == name]
    if not keys:
        return None
    for key in keys:
        unit = key.removeprefix(name).removeprefix("_")
        if unit not in UNITS:
            what = f"the unknown unit {quote_text(unit)}" if unit else "no unit"
            raise TaskSetError(
                f"{where}: the key {quote_text(key)} has {what}; write {name}_us, known are {', '.join(UNITS)}."
            )
    if len(keys) > 1:
        raise TaskSetError(f"{where} contains {name} twice ({escape_to_one_line(', '.join(keys)[:80])}); keep one.")
    value = parse_nonnegative_number(table[key], f"{where}, {key}")
    return Duration(value, in_cycles=True) if unit == CYCLES else Duration(value * SECONDS[unit])


def parse_nonnegative_number(value: object, where: str, remedy: str = "write a time such as 12 or 12.5") -> Fraction:
    """Returns an exact number that is not negative. Text is accepted too, as CSV files have it. `remedy` says what to
    write instead of another value. Raises TaskSetError."""
    try:
        if isinstance(value, bool) or not isinstance(value, int | Decimal | str | Fraction):
            raise ValueError("")  # noqa: TRY004, TRY301
        result = to_exact_fraction(value)
    except ValueError as cause:
        cause_text = str(cause)
        reason = f" ({cause_text})" if cause_text and "is not a number" not in cause_text else ""
        text = quote_text(str(value).lower() if isinstance(value, bool) else str(value))
        raise TaskSetError(f"{where}: {text} is not a number{reason}; {remedy}.") from None
    if result < 0:
        raise TaskSetError(f"{where}: {value} is negative; {remedy}.")
    return result
