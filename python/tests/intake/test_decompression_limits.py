"""Stored files of few bytes that stand for gigabytes are refused before they take memory."""

import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rtoslab.intake import CONTAINERS, EVIDENCE_BYTES
from rtoslab.intake.limits import TABLE_VALUES
from rtoslab.results import decode_parquet_columns
from rtoslab.results.sample_file import decode_samples
from rtoslab.store import decode_evidence_file


def compress_zstd(text: bytes) -> bytes:
    return bytes(pa.compress(text, codec="zstd", asbytes=True))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b" " * (EVIDENCE_BYTES + 1), "unpacks to more than"),
        (b'{"steps":[' + b"[]," * CONTAINERS + b"[]]}", "more than 1,000,000 objects and lists"),
        (b"[" * 100_000, "cannot be read"),
        (b'{"a":' * 100_000, "cannot be read"),
        (b"[]", "cannot be read"),
        (b"", "Expecting value"),
    ],
)
def test_evidence_that_unpacks_to_too_much_is_refused(text: bytes, says: str) -> None:
    content = compress_zstd(text)
    assert len(content) < 100_000
    with pytest.raises(ValueError, match=says):
        decode_evidence_file(content, b"")


def test_unpacking_takes_no_more_memory_than_the_limit(tmp_path: Path) -> None:
    (tmp_path / "packed").write_bytes(compress_zstd(bytes(64 * EVIDENCE_BYTES)))
    program = (
        "import resource, sys; from pathlib import Path; from rtoslab.intake import decompress, EVIDENCE_BYTES\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024\n"
        "before = peak()\n"
        "assert decompress(Path(sys.argv[1]).read_bytes(), EVIDENCE_BYTES) is None\n"
        "print(peak() - before)"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "packed")], capture_output=True, text=True, check=True
    )
    assert int(run.stdout) < 4 * EVIDENCE_BYTES


@pytest.mark.parametrize("read", [decode_parquet_columns, decode_samples])
def test_small_file_with_too_many_rows_is_refused(read: object) -> None:
    rows = TABLE_VALUES // 8 + 1
    out = io.BytesIO()
    column = pa.array(np.zeros(rows, np.uint8))
    pq.write_table(pa.table({f"c{number}": column for number in range(8)}), out, compression="zstd")
    assert len(out.getvalue()) < 1_000_000
    with pytest.raises(ValueError, match="it contains more than 64000000 values"):
        read(out.getvalue())  # type: ignore[operator]
