"""The packed form of the virtual board's events, for numpy. `event_kinds` has what their numbers mean."""

from collections.abc import Iterator
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

Integer = TypeVar("Integer", bound=np.integer[Any])

EVENT: Final = np.dtype(
    [("cycle", "<u8"), ("value", "<u4"), ("pc", "<u4"), ("id", "<u2"), ("kind", "u1"), ("core", "u1"), ("zero", "<u4")]
)
"""One event of the virtual board, 24 bytes. See `_sim.pyi`."""


def sorted_distinct_values(values: NDArray[Integer]) -> NDArray[Integer]:
    """Returns the distinct values of an array, in ascending order.

    `np.unique` without counts checks for masked arrays, and loads `numpy.ma` for that, which takes longer than many a
    window.
    """
    return np.asarray(np.unique(values, return_counts=True)[0], dtype=values.dtype)


def events_as_integer_tuples(events: NDArray[np.void]) -> Iterator[tuple[Any, ...]]:
    """Yields the fields of each event of the virtual board as a tuple of Python integers."""
    names = events.dtype.names or ()
    return zip(*(events[name].tolist() for name in names), strict=True)
