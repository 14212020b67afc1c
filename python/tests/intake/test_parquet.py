"""Parquet files agree with pyarrow, an independent implementation, in both directions. Damage is refused."""

import io
import random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtoslab.intake import ParquetColumn, decode_parquet, encode_parquet, make_parquet_column

KINDS: dict[str, tuple[Any, Any, Any]] = {
    "flag": (np.bool_, pa.bool_(), st.booleans()),
    "small": (np.int32, pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    "signed": (np.int64, pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "address": (np.uint32, pa.uint32(), st.integers(0, 2**32 - 1)),
    "cycles": (np.uint64, pa.uint64(), st.integers(0, 2**64 - 1)),
    "value": (np.float64, pa.float64(), st.floats(allow_nan=False)),
    "text": (None, pa.string(), st.text(st.characters(codec="utf-8"))),
}


def rows(draw: Any) -> dict[str, list[Any]]:
    count = draw(st.integers(0, 40))
    return {
        name: draw(st.lists(st.none() | items, min_size=count, max_size=count)) for name, (*_, items) in KINDS.items()
    }


tables = st.composite(rows)()


@given(tables)
@settings(deadline=None, max_examples=60)
def test_pyarrow_reads_the_same_values_and_types(table: dict[str, list[Any]]) -> None:
    content = encode_parquet({name: make_parquet_column(items, KINDS[name][0]) for name, items in table.items()})
    theirs = pq.read_table(io.BytesIO(content))
    assert theirs.to_pydict() == table
    assert [theirs.schema.field(name).type for name in KINDS] == [kind for _, kind, _ in KINDS.values()]


@given(tables, st.sampled_from(["zstd", "none"]), st.integers(1, 50), st.booleans())
@settings(deadline=None, max_examples=60)
def test_files_of_pyarrow_are_read(table: dict[str, list[Any]], compression: str, group: int, dictionary: bool) -> None:
    out = io.BytesIO()
    arrays = {name: pa.array(items, KINDS[name][1]) for name, items in table.items()}
    pq.write_table(pa.table(arrays), out, compression=compression, row_group_size=group, use_dictionary=dictionary)
    assert {name: column.parquet_row_items() for name, column in decode_parquet(out.getvalue()).items()} == table


def test_same_columns_give_the_same_bytes() -> None:
    columns = {
        "cycles": make_parquet_column([1, None, 3], np.uint64),
        "series": make_parquet_column(["a", "b", "a"], None),
    }
    assert encode_parquet(columns) == encode_parquet(columns)
    assert decode_parquet(encode_parquet(columns))["series"].texts == ("a", "b")


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="column b has 1 rows, the first column 2"):
        encode_parquet({"a": make_parquet_column([1, 2], np.int64), "b": make_parquet_column([1], np.int64)})
    with pytest.raises(ValueError, match="column a has 1 values for 2 rows"):
        encode_parquet({"a": ParquetColumn(np.array([1]), valid=np.array([True, True]))})


@pytest.mark.parametrize(
    ("column", "why"),
    [(pa.array([[1], [2, 3]]), "is nested"), (pa.array([1.5], pa.float32()), "has values of type FLOAT")],
)
def test_other_columns_are_refused(column: Any, why: str) -> None:
    out = io.BytesIO()
    pq.write_table(pa.table({"a": column}), out)
    with pytest.raises(ValueError, match=why):
        decode_parquet(out.getvalue())


def test_damage_is_refused_or_changes_a_value() -> None:
    """A byte that is wrong, and a file that is cut, end in a ValueError or in a table, and in nothing else."""
    items = [number * 7 % 1000 for number in range(500)]
    content = encode_parquet(
        {"cycles": make_parquet_column(items, np.uint64), "series": make_parquet_column(["x", "y"] * 250, None)}
    )
    generator, refused = random.Random(7), 0
    for _ in range(2000):
        damaged = bytearray(content)
        for _ in range(generator.randint(1, 4)):
            damaged[generator.randrange(len(damaged))] = generator.randrange(256)
        try:
            decode_parquet(bytes(damaged[: generator.choice([len(damaged), generator.randrange(len(damaged))])]))
        except ValueError:
            refused += 1
    assert refused > 1500
