"""The numbers that a benchmark draws, computed again from its seed, and compared with what the virtual board saw.

It reveals a benchmark that draws from another seed, draws only now and then, or alternates instead of drawing. Such a
benchmark has the right shares and ranges, but another figure."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

import numpy as np
from numpy.typing import NDArray

_WORD: Final = 0xFFFF_FFFF
_EARLIER_DRAWS: Final = 60_000
"""Draws that a benchmark may have made before the window opened."""
_EARLIER_ITERATIONS: Final = 32
"""Iterations of a stress task between its start and the opening of the window."""
_ENOUGH: Final = 8
"""With fewer observations the order proves nothing."""
LEAST_AGREEMENT: Final = 0.9
"""The least coefficient of correlation of what was observed with what was drawn."""


def random_numbers_from_state(state: int) -> Iterator[int]:
    """Yields the numbers that `bench_draw` of firmware/include/bench/draw.h draws from this state on."""
    while True:
        state ^= state << 13 & _WORD
        state ^= state >> 17
        state ^= state << 5 & _WORD
        yield state


def random_percentages_from_state(state: int) -> Iterator[int]:
    """Yields the numbers from 0 to 99 that a stress task draws."""
    for number in random_numbers_from_state(state):
        yield (number >> 16) * 100 >> 16


def is_access_count_plausible(state: int, percent: int, iterations: int, accesses: int, tolerance: int) -> bool:
    """Whether a stress task, which draws from this state, may have had so many accesses since its start. `iterations`
    are those in the window, which opens soon after the start."""
    drawn = (
        np.fromiter(islice(random_percentages_from_state(state), iterations + _EARLIER_ITERATIONS), dtype=np.int64)
        < percent
    )
    totals = np.cumsum(np.insert(drawn, 0, 0))[iterations:]
    return bool(np.any(np.abs(totals - accesses) <= tolerance))


def best_correlation_with_random_draws(observed: Sequence[float], drawn: NDArray[np.float64]) -> float | None:
    """Returns the highest coefficient of correlation of observations with a run of these drawn values, wherever it
    begins. None if there are too few observations."""
    count = len(observed)
    if count < _ENOUGH or len(drawn) < count or not drawn.std():
        return None
    seen = np.array(observed, dtype=np.float64)
    if not seen.std():
        return 0.0
    seen = (seen - seen.mean()) / np.linalg.norm(seen - seen.mean())
    sums, squares = np.cumsum(np.insert(drawn, 0, 0)), np.cumsum(np.insert(drawn * drawn, 0, 0))
    means = (sums[count:] - sums[:-count]) / count
    spreads = np.sqrt(np.maximum(squares[count:] - squares[:-count] - count * means * means, 0))
    products = np.correlate(drawn, seen, mode="valid")
    return float(np.max(np.divide(products, spreads, out=np.zeros_like(products), where=spreads > 0)))


def first_random_numbers(state: int, observations: int) -> NDArray[np.uint32]:
    """Returns the numbers drawn from a state for this many observations, and for those before the window."""
    return np.fromiter(islice(random_numbers_from_state(state), _EARLIER_DRAWS + observations), dtype=np.uint32)
