"""Parquet files: columns of numbers and texts, in a form that most tools for tables read.

The simulator's module has the code, by a well-kept Rust library. The usual Python library takes 170 MB, and ends the
process for some damaged files.

    content = encode_parquet({"cycles": Values(np.array([7, 9], np.uint64))})
    decode_parquet(content)["cycles"].values
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rtoslab.intake.limits import TABLE_VALUES
from rtoslab.intake.native import load_simulator_module

_TEXT: Final = "text"


@dataclass(frozen=True, slots=True)
class ParquetColumn:
    """One column of a Parquet table, which may lack values.
    `values` has an item for each row that has a value: numbers or truth values.
    """

    values: NDArray[Any]
    texts: tuple[str, ...] | None = None
    """Of a column of texts: `values` are places in these, 32 bits each."""
    valid: NDArray[np.bool_] | None = None
    """Whether each row has a value. None: all rows have one."""

    def parquet_row_items(self) -> list[Any]:
        """Returns an item for each row. It is None in a row that has no value."""
        plain: list[Any] = self.values.tolist()
        if self.texts is not None:
            plain = [self.texts[place] for place in plain]
        if self.valid is None:
            return plain
        rest = iter(plain)
        return [next(rest) if has_value else None for has_value in self.valid.tolist()]


def make_parquet_column(items: Sequence[Any], dtype: type | None) -> ParquetColumn:
    """Returns the items, some of which may be None, as a Parquet column. A `dtype` of None is for texts."""
    valid = np.array([item is not None for item in items], bool)
    held = [item for item in items if item is not None]
    texts = tuple(dict.fromkeys(held)) if dtype is None else None
    places = {text: place for place, text in enumerate(texts or ())}
    values = np.array([places[item] for item in held], np.uint32) if dtype is None else np.array(held, dtype)
    return ParquetColumn(values, texts, None if valid.all() else valid)


def encode_parquet(columns: Mapping[str, ParquetColumn]) -> bytes:
    """Returns the bytes of a Parquet file with these columns. The same columns give the same bytes.

    Raises ValueError for columns of different lengths.
    """
    return bytes(
        load_simulator_module().write_parquet([_pack_parquet_column(name, column) for name, column in columns.items()])
    )


def decode_parquet(content: bytes) -> dict[str, ParquetColumn]:
    """Returns the columns of a Parquet file by name.
    Raises ValueError if it is damaged, too large, or has other types of columns.
    """
    return {
        name: ParquetColumn(
            np.frombuffer(data, np.uint32 if kind == _TEXT else kind),
            tuple(texts) if kind == _TEXT else None,
            None if valid is None else np.frombuffer(valid, bool),
        )
        for name, kind, data, texts, valid in load_simulator_module().read_parquet(content, TABLE_VALUES)
    }


def _pack_parquet_column(name: str, column: ParquetColumn) -> tuple[str, str, bytes, list[str], bytes | None]:
    """Returns a column as the simulator's module takes it: name, type, bytes of numbers, texts, and a byte for each row
    that is 1 if it has a value."""
    kind = column.values.dtype.name if column.texts is None else _TEXT
    valid = None if column.valid is None else column.valid.tobytes()
    return name, kind, column.values.tobytes(), list(column.texts or ()), valid
