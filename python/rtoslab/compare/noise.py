"""Statements that noisy samples permit: a shift of the median with its interval, and a rank test. No sample is thrown
away.

A shift is claimed only if the Mann-Whitney test rejects at ALPHA, corrected for how many comparisons are made at once
(Holm), and the bootstrap's interval of the difference of medians does not hold zero. Both demand more than one alone,
so that of comparisons without any effect fewer than ALPHA are claimed. Samples are taken to be independent."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from rtoslab.base import guard_optional_package_imports

ALPHA: Final = 0.01
"""The rate of false alarms over all comparisons made at once."""
RESAMPLES: Final = 4000
_SEED: Final = 7
"""The same samples give the same interval."""

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SampleMedianShiftEstimate:
    """The shift of the median between two sets of samples, with its confidence interval and a test."""

    counts: tuple[int, int]
    medians: tuple[float, float]
    interval: tuple[float, float]
    """The interval of the difference of medians, at 1 - ALPHA."""
    p: float
    """Mann-Whitney, two-sided."""
    least_p: float
    """The smallest p that so few samples can give."""

    @property
    def median_difference(self) -> float:
        """Returns the median of the second samples minus that of the first."""
        return self.medians[1] - self.medians[0]

    @property
    def interval_contains_zero(self) -> bool:
        """Whether the confidence interval of the difference contains zero, so that it may be noise."""
        return self.interval[0] <= 0.0 <= self.interval[1]


def median_shift_between_samples(before: Sequence[float], after: Sequence[float]) -> SampleMedianShiftEstimate:
    """Returns the shift of the median between two sets of samples, with confidence interval and test."""
    first, second = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    distinct = np.unique(np.concatenate([first, second]))
    with guard_optional_package_imports("report", "a comparison of noisy samples"):
        from scipy import stats  # noqa: PLC0415 (an extra)
    p = float(stats.mannwhitneyu(first, second, alternative="two-sided").pvalue) if len(distinct) > 1 else 1.0
    places = _resampled_median_ranks(len(second), len(first))
    spread = np.sort(second)[places[0]] - np.sort(first)[places[1]]
    low, high = np.quantile(spread, [ALPHA / 2, 1 - ALPHA / 2], method="closest_observation")
    return SampleMedianShiftEstimate(
        (len(first), len(second)),
        (float(np.median(first)), float(np.median(second))),
        (float(low), float(high)),
        p,
        2 / math.comb(len(first) + len(second), len(first)),
    )


@lru_cache(maxsize=16)
def _resampled_median_ranks(*sizes: int) -> tuple[npt.NDArray[np.int64], ...]:
    """Returns the ranks of the medians of bootstrap resamples among the ordered samples, for sets of these sizes."""
    generator = np.random.default_rng(_SEED)
    middle = [((n + 1) // 2, n) for n in sizes]
    drawn = (generator.beta(k, n + 1 - k, RESAMPLES) * n for k, n in middle)
    return tuple(np.minimum(item.astype(np.int64), n - 1) for item, (_, n) in zip(drawn, middle, strict=True))


def are_median_shifts_significant(shifts: Sequence[SampleMedianShiftEstimate], alpha: float = ALPHA) -> list[bool]:
    """Returns for each shift of a median whether it is significant, if all are tested together (Holm's step-down)."""
    claimed = [False] * len(shifts)
    order = sorted(range(len(shifts)), key=lambda index: shifts[index].p)
    for rank, index in enumerate(order):
        if shifts[index].p > alpha / (len(shifts) - rank):
            break
        claimed[index] = not shifts[index].interval_contains_zero
    return claimed


def has_shift_test_too_few_samples(shift: SampleMedianShiftEstimate, comparisons: int, alpha: float = ALPHA) -> bool:
    """Whether there are too few samples for a significant shift among this number of comparisons."""
    return shift.least_p > alpha / comparisons
