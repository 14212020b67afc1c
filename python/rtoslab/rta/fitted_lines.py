"""Fits lines through samples, and lines that no sample exceeds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from rtoslab.rta.overheads import LinearCostFit


def fit_least_squares_line(name: str, model: str, samples: Mapping[int, Sequence[int]]) -> LinearCostFit:
    """Returns the least-squares line through samples by key, or the mean if there is only one key."""
    keys = np.concatenate([np.full(len(cycles), key) for key, cycles in samples.items()])
    observed = np.concatenate([np.asarray(cycles) for cycles in samples.values()])
    slope, base = np.polyfit(keys, observed, 1) if len(samples) > 1 else (0.0, float(observed.mean()))
    residuals = observed - (base + slope * keys)
    return LinearCostFit(
        name=name,
        model=model,
        samples=len(observed),
        base=round(float(base), 2),
        slope=round(float(slope), 2),
        rms=round(float(np.sqrt(np.mean(residuals**2))), 2),
        largest_above=round(float(residuals.max()), 2),
        largest_observed=int(observed.max()),
    )


def fit_upper_bound_line(samples: Mapping[int, Sequence[int]]) -> tuple[int, int]:
    """Returns base and slope, whole and not negative, of the nearest line that no sample exceeds.

    Nearest by the sum over the keys of how far the line lies above the largest sample. It passes through two of the
    largest samples, so those pairs are all that need be tried.
    """
    most = {key: max(cycles) for key, cycles in samples.items()}
    slopes = {0}
    for (one, low), (other, high) in combinations(sorted(most.items()), 2):
        exact = (high - low) / (other - one)
        slopes |= {max(0, math.floor(exact)), max(0, math.ceil(exact))}
    lines = [(max(0, *(value - slope * key for key, value in most.items())), slope) for slope in sorted(slopes)]
    return min(lines, key=lambda line: sum(line[0] + line[1] * key - value for key, value in most.items()))
