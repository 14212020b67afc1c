"""What the virtual board saw of a run, kept beside its point: by it proofs are judged and figures computed anew.

`evidence.json.zst`: the run's `RunOutput` without its serial bytes, which lie in uart.txt, as JSON compressed with
Zstandard. The same run gives the same bytes.
"""

import json
from dataclasses import fields
from functools import cache
from typing import Any, Final, get_type_hints

import pyarrow as pa

from rtoslab.base import Reader, to_text
from rtoslab.intake import CONTAINERS, EVIDENCE_BYTES
from rtoslab.targets import Handled, Intervals, RunOutput, Step

EVIDENCE_FILE: Final = "evidence.json.zst"
_NAMES: Final = {"Intervals": Intervals, "Handled": Handled, "Step": Step, "Stats": Any}
"""Types that annotations name without importing them. The simulator's statistics are JSON already, but for keys that
are numbers: they come back as texts, which `results.CoreCycles` takes."""
_READER: Final = Reader(_NAMES)


def write_evidence(output: RunOutput) -> bytes:
    """The file's content."""
    parts = {name: getattr(output, name) for name in _parts()}
    texts = {name: _compact(value) if name == "stats" else to_text(value) for name, value in parts.items()}
    whole = ",".join(f"{_compact(name)}:{text}" for name, text in texts.items())
    return bytes(pa.compress(f"{{{whole}}}".encode(), codec="zstd", asbytes=True))


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def read_evidence(content: bytes, uart: bytes) -> RunOutput:
    """The run again. Raises ValueError where the content is of another version of this package, or damaged."""
    try:
        plain = json.loads(_unpacked(content))
        parts = {name: _READER.read(hint, plain[name]) for name, hint in _parts().items()}
    except (OSError, KeyError, TypeError, RecursionError, pa.ArrowException) as cause:
        raise ValueError(f"the evidence cannot be read ({type(cause).__name__})") from None
    return RunOutput(uart=uart, **parts)


def _unpacked(content: bytes) -> bytes:
    """The JSON. Raises ValueError before it takes much memory, OSError, ArrowException."""
    text = bytes(pa.CompressedInputStream(pa.BufferReader(content), "zstd").read(EVIDENCE_BYTES + 1))
    if len(text) > EVIDENCE_BYTES:
        raise ValueError(f"the evidence unpacks to more than {EVIDENCE_BYTES:,} bytes")
    if text.count(b"[") + text.count(b"{") > CONTAINERS:
        raise ValueError(f"the evidence holds more than {CONTAINERS:,} objects and lists")
    return text


@cache
def _parts() -> dict[str, Any]:
    """Field -> type, without the serial bytes."""
    hints = get_type_hints(RunOutput, localns=_NAMES)
    return {each.name: hints[each.name] for each in fields(RunOutput) if each.name != "uart"}
