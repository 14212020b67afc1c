"""Quantities of time whose key names the unit: `period_ms = 5`, `wcet_us = 12.5`, `jitter_cycles = 40`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final

from rtoslab.base import TaskSetError
from rtoslab.intake import exact_fraction, one_line, quote

SECONDS: Final = {
    "ns": Fraction(1, 1_000_000_000),
    "us": Fraction(1, 1_000_000),
    "ms": Fraction(1, 1_000),
    "s": Fraction(1),
}
CYCLES: Final = "cycles"
UNITS: Final = (*SECONDS, CYCLES)


@dataclass(frozen=True, slots=True)
class Time:
    """A length of time: seconds that no clock changes, or cycles of the clock that the analysis is made for."""

    value: Fraction
    in_cycles: bool = False

    def cycles(self, clock_hz: int) -> Fraction:
        """Exactly, at this clock."""
        return self.value if self.in_cycles else self.value * clock_hz


WHOLE: Final = 1_000
"""Microseconds from which on decimals are not told."""


def format_microseconds(
    value: Fraction, *, whole_from: int | None = WHOLE, rounding: Callable[[Fraction], int] = round
) -> str:
    """One decimal, none from `whole_from` on, and as many as it takes for what is not 0 to be told as not 0."""
    if whole_from is not None and abs(value) >= whole_from:
        return f"{rounding(value):,}"
    return format_decimals(value, 1, rounding)


def format_decimals(value: Fraction, decimals: int, rounding: Callable[[Fraction], int] = round) -> str:
    """So many decimals, or as many as it takes for what is not 0 to be told as not 0."""
    while value and not rounding(value * 10**decimals):
        decimals += 1
    return f"{Decimal(rounding(value * 10**decimals)).scaleb(-decimals):,.{decimals}f}"


NO_TIME: Final = Time(Fraction(0))


def quantity(table: Mapping[str, object], name: str, where: str) -> Time | None:
    """The value under `<name>_<unit>`. None if there is no such key.

    Raises TaskSetError for an unknown unit, two units at once, what is no number, and negative numbers.
    """
    keys = [key for key in table if key.startswith(f"{name}_") or key == name]
    if not keys:
        return None
    if len(keys) > 1:
        raise TaskSetError(f"{where} gives {name} twice ({one_line(', '.join(keys)[:80])}); keep one.")
    key = keys[0]
    unit = key.removeprefix(name).removeprefix("_")
    if unit not in UNITS:
        what = f"the unknown unit {quote(unit)}" if unit else "no unit"
        raise TaskSetError(f"{where}: the key {quote(key)} has {what}; write {name}_us, known are {', '.join(UNITS)}.")
    value = number(table[key], f"{where}, {key}")
    return Time(value, in_cycles=True) if unit == CYCLES else Time(value * SECONDS[unit])


def _format(value: object) -> str:
    return repr(value) if isinstance(value, Decimal) else quote(str(value))


def number(value: object, where: str) -> Fraction:
    """An exact number that is not negative. Text as it is in a CSV file is read too. Raises TaskSetError."""
    try:
        if isinstance(value, bool) or not isinstance(value, int | Decimal | str | Fraction):
            raise ValueError("it is no number")  # noqa: TRY004, TRY301
        result = exact_fraction(value)
    except ValueError as cause:
        raise TaskSetError(
            f"{where}: {_format(value)} is not a number ({cause}); write one such as 12 or 12.5."
        ) from None
    if result < 0:
        raise TaskSetError(f"{where}: {value} is negative; a length of time is 0 or more.")
    return result
