"""The code that a window executed: what each function is, where it is, and how much of it was executed."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rtoslab.analyses import calls_by_function, per_event
from rtoslab.results import MeasuredPoint

CODE_DIGITS: Final = 12
"""The length of a digest of all executed code."""


@dataclass(frozen=True, slots=True)
class ExecutedFunction:
    """One function in the window, on all cores."""

    code: str
    """Digest of its instructions, wherever they are."""
    instructions: float | None
    """Its own, per count or per sample. None of points that were stored before they were counted."""
    calls: float
    """Per count or per sample."""


def executions(result: MeasuredPoint) -> dict[str, ExecutedFunction]:
    """Returns those with a digest, by name."""
    calls = calls_by_function(result)
    instructions = _instructions(result)
    return {
        name: ExecutedFunction(place.digest[:CODE_DIGITS], instructions.get(name), calls.get(name, 0.0))
        for name, place in result.code.items()
        if name in calls
    }


def code_digest(result: MeasuredPoint) -> str:
    """Returns one digest of all code that was executed. It is empty where a part of it has none."""
    return _digest(result, {name: place.digest for name, place in result.code.items()})


def place_digest(result: MeasuredPoint) -> str:
    """Returns the same of the addresses."""
    return _digest(result, {name: place.address for name, place in result.code.items()})


def _digest(result: MeasuredPoint, known: Mapping[str, str | int]) -> str:
    functions = {use.name for use in result.virtual.functions} if result.virtual else set()
    if not functions or not functions <= known.keys():
        return ""
    rows = sorted((name, known[name]) for name in functions)
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:CODE_DIGITS]


def _instructions(result: MeasuredPoint) -> dict[str, float]:
    if result.virtual is None:
        return {}
    counts = Counter[str]()
    for use in result.virtual.functions:
        if use.instructions is None:
            return {}
        counts[use.name] += use.instructions
    return per_event(result, counts)


def waits_of(result: MeasuredPoint) -> dict[str, float]:
    """Returns the cycles per count that all cores spent otherwise than executing. A latency benchmark has none."""
    if result.virtual is None or result.is_latency:
        return {}
    cycles = Counter[str]()
    for core in result.virtual.cores:
        cycles["flash waits"] += core.flash_wait_cycles
        cycles["bus waits"] += core.bus_wait_cycles
        cycles["exceptions"] += core.exception_cycles
        cycles["sleep"] += core.sleep_cycles
    return per_event(result, cycles)
