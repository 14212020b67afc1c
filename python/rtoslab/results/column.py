"""Stores samples compactly: whole numbers, not negative, in as few bytes each as the largest needs.

As tuples, samples of windows of 1000 s would take gigabytes, in each process that reads them."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Final, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

_MOST: Final = np.iinfo(np.int64).max
_WIDTHS: Final = (np.uint8, np.uint16, np.uint32, np.uint64)


class CompactIntegerSequence(Sequence[int]):
    """A compact sequence of integers, stored in as few bytes each as the largest needs.
    `numpy.asarray` returns signed numbers where they fit.
    """

    __slots__ = ("_kept",)

    def __init__(self, values: ArrayLike | Sequence[int] = ()) -> None:
        """Raises ValueError for a value that is negative or no whole number."""
        array = values if isinstance(values, np.ndarray) else _as_integer_array(list(values))  # type: ignore[arg-type]
        if array.size and (array.ndim != 1 or array.dtype.kind not in "iu" or int(array.min()) < 0):
            raise ValueError("samples must be whole numbers of 0 or more")
        largest = int(array.max()) if array.size else 0
        width = next(item for item in _WIDTHS if largest <= np.iinfo(item).max)
        self._kept: NDArray[Any] = np.ascontiguousarray(array.reshape(-1), dtype=width)

    @property
    def memory_size_bytes(self) -> int:
        """Returns the memory that the numbers take, in bytes."""
        return self._kept.nbytes

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if dtype is None and self._kept.dtype == np.uint64 and self._kept.max() > _MOST:
            return self._kept.copy()
        return self._kept.astype(np.int64 if dtype is None else dtype)

    def __len__(self) -> int:
        return len(self._kept)

    @overload
    def __getitem__(self, place: int) -> int: ...
    @overload
    def __getitem__(self, place: slice) -> "CompactIntegerSequence": ...
    def __getitem__(self, place: int | slice) -> "int | CompactIntegerSequence":
        return CompactIntegerSequence(self._kept[place]) if isinstance(place, slice) else int(self._kept[place])

    def __iter__(self) -> Iterator[int]:
        return iter(self._kept.tolist())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, CompactIntegerSequence):
            return np.array_equal(self._kept, other._kept)
        return tuple(self) == other

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Column({tuple(self)})"

    def __reduce__(self) -> tuple[type["CompactIntegerSequence"], tuple[NDArray[Any]]]:
        return CompactIntegerSequence, (self._kept,)


def _as_integer_array(values: Sequence[object]) -> NDArray[Any]:
    """Returns the values as a numpy array. Raises ValueError if one is no integer from 0 to 2^64 - 1."""
    # In a loop of Python's own this takes most of the time that a stored distribution is read in.
    if not set(map(type, values)) <= {int} or (values and not 0 <= min(values) <= max(values) < 1 << 64):  # type: ignore[type-var, operator]
        raise ValueError("samples must be whole numbers of 0 or more")
    return np.array(values, np.uint64)


def _to_compact_integers(values: Any) -> CompactIntegerSequence:
    """Returns a sequence of integers as `CompactIntegerSequence`, for pydantic. Raises ValueError for other values."""
    if isinstance(values, CompactIntegerSequence):
        return values
    if not isinstance(values, list | tuple | np.ndarray):
        raise ValueError("samples must be a list of whole numbers")  # noqa: TRY004 (pydantic hears no other)
    return CompactIntegerSequence(values)


Samples = Annotated[
    Sequence[int],
    PlainValidator(_to_compact_integers),
    PlainSerializer(tuple, return_type=tuple[int, ...]),
    WithJsonSchema({"items": {"type": "integer"}, "type": "array"}),
]
"""A field of a stored form that is held as `CompactIntegerSequence`."""
