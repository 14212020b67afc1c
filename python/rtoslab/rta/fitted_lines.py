"""Lines through samples, and above all of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from rtoslab.rta.overheads import Fit


def fit(name: str, model: str, samples: Mapping[int, Sequence[int]]) -> Fit:
    """Least squares: a line over the keys, or the mean where there is one key only."""
    at = np.concatenate([np.full(len(cycles), key) for key, cycles in samples.items()])
    seen = np.concatenate([np.asarray(cycles) for cycles in samples.values()])
    slope, base = np.polyfit(at, seen, 1) if len(samples) > 1 else (0.0, float(seen.mean()))
    left = seen - (base + slope * at)
    return Fit(
        name=name,
        model=model,
        samples=len(seen),
        base=round(float(base), 2),
        slope=round(float(slope), 2),
        rms=round(float(np.sqrt(np.mean(left**2))), 2),
        largest_above=round(float(left.max()), 2),
        largest_observed=int(seen.max()),
    )


def upper(samples: Mapping[int, Sequence[int]]) -> tuple[int, int]:
    """(base, slope), whole and not negative, with no sample above base + slope * key, the nearest such line.

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
