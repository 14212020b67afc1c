"""Sample rates as sigrok writes them: `8 MHz`, `500 kHz`, `8000000`."""

import re
from fractions import Fraction
from typing import Final

from rtoslab.base import CaptureError
from rtoslab.intake import quote_text, to_exact_fraction

_FACTORS: Final = {"": 1, "hz": 1, "khz": 10**3, "mhz": 10**6, "ghz": 10**9}
_RATE: Final = re.compile(r"(\d{1,15}(?:\.\d{1,15})?) ?([kmg]?hz)?", re.IGNORECASE | re.ASCII)


def parse_rate_hz(text: str, name: str) -> Fraction:
    """Returns the sample rate in a text such as `8 MHz`, in hertz. `name` is the file's. Raises CaptureError."""
    match = _RATE.fullmatch(text.strip())
    rate = to_exact_fraction(match[1]) * _FACTORS[(match[2] or "").lower()] if match else Fraction(0)
    if rate == 0:
        raise CaptureError(f"{name}: the sample rate {quote_text(text)} cannot be read; write it like 8 MHz.")
    return rate


def sample_rate_text(tick_s: Fraction) -> str:
    """Returns the rate of samples `tick_s` apart, such as `8 MHz`. Raises CaptureError if it is no integer in hertz."""
    rate = 1 / tick_s
    if rate.denominator != 1:
        raise CaptureError("This format stores a whole number of samples per second; choose one with --sample-rate.")
    for unit in ("ghz", "mhz", "khz"):
        if rate % _FACTORS[unit] == 0:
            return f"{rate // _FACTORS[unit]} {unit[0].upper() if unit != 'khz' else 'k'}Hz"
    return f"{rate.numerator} Hz"
