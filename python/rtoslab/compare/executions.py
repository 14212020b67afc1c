"""The code that a window executed: what each function is, where it is, and how much of it was executed."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rtoslab.analyses import calls_by_function, divide_by_measured_events
from rtoslab.results import MeasuredPoint

CODE_DIGITS: Final = 12
"""The length of a digest of all executed code."""


@dataclass(frozen=True, slots=True)
class ExecutedFunction:
    """One function that was executed in the measurement window: the digest of its code, its instructions and calls."""

    code: str
    """Digest of its instructions, wherever they are."""
    instructions: float | None
    """Its own instructions per count or sample. None for points stored before they were counted."""
    calls: float
    """Per count or per sample."""


def executed_functions(result: MeasuredPoint) -> dict[str, ExecutedFunction]:
    """Returns the executed functions of a measured point whose code has a digest, by name."""
    calls = calls_by_function(result)
    instructions = _instructions_by_function(result)
    return {
        name: ExecutedFunction(place.digest[:CODE_DIGITS], instructions.get(name), calls.get(name, 0.0))
        for name, place in result.code.items()
        if name in calls
    }


def executed_code_digest(result: MeasuredPoint) -> str:
    """Returns one digest of all code that a measured point executed. Empty if the digest of a function is unknown."""
    return _functions_digest(result, {name: place.digest for name, place in result.code.items()})


def executed_addresses_digest(result: MeasuredPoint) -> str:
    """Returns one digest of the addresses of all code that a measured point executed. Empty if the address of a
    function is unknown."""
    return _functions_digest(result, {name: place.address for name, place in result.code.items()})


def _functions_digest(result: MeasuredPoint, known: Mapping[str, str | int]) -> str:
    """Returns one digest of a property (`known`) of all executed functions. Empty if it is unknown for one of them."""
    functions = {use.name for use in result.virtual.functions} if result.virtual else set()
    if not functions or not functions <= known.keys():
        return ""
    rows = sorted((name, known[name]) for name in functions)
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:CODE_DIGITS]


def _instructions_by_function(result: MeasuredPoint) -> dict[str, float]:
    """Returns the executed instructions of each function, per count or sample. Empty if they were not counted."""
    if result.virtual is None:
        return {}
    counts = Counter[str]()
    for use in result.virtual.functions:
        if use.instructions is None:
            return {}
        counts[use.name] += use.instructions
    return divide_by_measured_events(result, counts)


def wait_cycles_by_cause(result: MeasuredPoint) -> dict[str, float]:
    """Returns the cycles per count of a measured point in which cores executed nothing, by cause. Empty for a latency
    benchmark."""
    if result.virtual is None or result.has_latency_samples:
        return {}
    cycles = Counter[str]()
    for core in result.virtual.cores:
        cycles["flash waits"] += core.flash_wait_cycles
        cycles["bus waits"] += core.bus_wait_cycles
        cycles["exceptions"] += core.exception_cycles
        cycles["sleep"] += core.sleep_cycles
    return divide_by_measured_events(result, cycles)
