"""The interval of samples by their written times, which are rounded, and the row at which samples are missing."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rtoslab.captures.csv_cells import with_decimal_point
from rtoslab.intake import to_exact_fraction

_FLOAT32: Final = 2.0**-23
"""Relative error of times that an instrument calculates in single precision."""
_LOOKED_AT: Final = 64
_ZEROS_AND_SIGNS: Final = re.compile(r"[-+.]|[eE].*")


@dataclass(frozen=True, slots=True)
class SampleInterval:
    """The same interval from each sample to the next, in the unit of the times."""

    length: Fraction


@dataclass(frozen=True, slots=True)
class IrregularSampleRow:
    """The first row that is not an interval after the row before it. `reason` is a clause."""

    row: int
    reason: str


def find_sample_interval(
    texts: Sequence[str], times: NDArray[np.float64], *, is_exact: bool
) -> SampleInterval | IrregularSampleRow:
    """Returns the time from sample to sample, or the first row whose time does not fit. There must be at least two
    times.

    Times are written with few digits. So the interval is the time between the first and the last row, divided by the
    number of steps. Each time may differ from a whole number of intervals by its last digit. With `is_exact`, the times
    are numbers of rows, which may not differ.
    """
    back = np.flatnonzero(times[1:] < times[:-1])
    if len(back):
        return IrregularSampleRow(int(back[0]) + 1, "the time is earlier than in the row before")
    steps = len(times) - 1
    ends = []
    for row in (0, steps):
        try:
            ends.append(to_exact_fraction(with_decimal_point(texts[row].strip())))
        except ValueError as cause:
            return IrregularSampleRow(row, f"the time {cause}")
    first, last = ends
    if first == last:
        return IrregularSampleRow(steps, "no time has passed since the first row")
    length, median = (last - first) / steps, float(np.median(np.diff(times)))
    rounding = 0.0 if is_exact else max(_value_of_last_digit(texts, times), _FLOAT32 * float(np.abs(times).max()))
    slack = 1.001 * rounding + 1e-6 * float(length)
    wrong = np.flatnonzero(np.abs(times - float(first) - np.arange(steps + 1) * float(length)) > slack)
    if not len(wrong):
        return SampleInterval(length)
    jumps = np.flatnonzero(np.abs(np.diff(times) - median) > slack) + 1
    row = int(jumps[0]) if len(jumps) else int(wrong[0])
    step = float(times[row] - times[row - 1])
    return IrregularSampleRow(
        row,
        f"the time is {step:g} after the row before, where other rows are {median:g} apart, so rows are missing or a "
        "digit is wrong",
    )


def _value_of_last_digit(texts: Sequence[str], times: NDArray[np.float64]) -> float:
    """Returns the value of the last written digit of the largest time, such as 1e-9."""
    looked_at = [*texts[:_LOOKED_AT], *texts[-_LOOKED_AT:]]
    digits = max(len(_ZEROS_AND_SIGNS.sub("", with_decimal_point(text.strip())).lstrip("0")) for text in looked_at)
    largest = float(np.abs(times).max())
    return float(10.0 ** (math.floor(math.log10(largest)) + 1 - max(digits, 1))) if largest > 0 else 0.0
