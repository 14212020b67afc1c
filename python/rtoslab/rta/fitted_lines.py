"""Fits lines through samples, lines that no sample exceeds, and margins for what sampling missed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from statistics import median

import numpy as np

from rtoslab.rta.overheads import InterruptCosts, LinearOverheadFit

LEAST_RESERVE, RESERVE_PART = 8, 4


def fit_least_squares_line(name: str, model: str, samples: Mapping[int, Sequence[int]]) -> LinearOverheadFit:
    """Returns the least-squares line through samples by key, or the mean if there is only one key."""
    keys = np.concatenate([np.full(len(cycles), key) for key, cycles in samples.items()])
    observed = np.concatenate([np.asarray(cycles) for cycles in samples.values()])
    slope, base = np.polyfit(keys, observed, 1) if len(samples) > 1 else (0.0, float(observed.mean()))
    residuals = observed - (base + slope * keys)
    return LinearOverheadFit(
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

    The nearest line has the smallest sum, over all keys, of its distance above the largest sample. It passes through
    two of the largest samples, so only pairs of them are tried.
    """
    most = {key: max(cycles) for key, cycles in samples.items()}
    slopes = {0}
    for (one, low), (other, high) in combinations(sorted(most.items()), 2):
        exact = (high - low) / (other - one)
        slopes |= {max(0, math.floor(exact)), max(0, math.ceil(exact))}
    lines = [(max(0, *(value - slope * key for key, value in most.items())), slope) for slope in sorted(slopes)]
    return min(lines, key=lambda line: sum(line[0] + line[1] * key - value for key, value in most.items()))


def sampling_safety_margin_cycles(cycles: Sequence[int]) -> int:
    """Returns a safety margin in cycles for cases that sampling missed.

    A cost that does not depend on the kernel's path (a fetch that misses, a branch of a list's walk) has next to none.
    """
    return LEAST_RESERVE + math.ceil((max(cycles) - median(cycles)) / RESERVE_PART)


def interrupt_costs_from_ticks(entries: Sequence[int], around: Sequence[int]) -> InterruptCosts:
    """Returns the costs of an interrupt, from the cycles of ticks' entries and those around the ticks' handlers."""
    entry = max(entries)
    leave = max(0, max(around) - entry) + sampling_safety_margin_cycles(around)
    return InterruptCosts(entry_cycles=entry, exit_cycles=leave)


def largest_cost_with_double_margin(cycles: Sequence[int]) -> int:
    """Returns the largest value plus a double reserve, for costs with few samples."""
    return max(cycles) + 2 * sampling_safety_margin_cycles(cycles) if cycles else 0


def group_by_key(pairs: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    """Groups values by key. `pairs`: key and value."""
    groups: dict[int, list[int]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups
