"""The strict form of the conformance suite's table."""

from typing import Literal

from rtoslab.base import Strict


class Check(Strict):
    """One check of the conformance suite: what the notes of its scene must be."""

    id: str
    title: str
    demands: str
    services: tuple[str, ...] = ()
    needs_fpu: bool = False
    first_core_only: bool = False
    kind: Literal["sequence", "timer", "slices", "growth", "ticks"]
    notes: tuple[int, ...] = ()
    ticks: tuple[int, ...] = ()
    span_ticks: int = 0
    least: int = 0
    tolerance_percent: float = 0
    total_tolerance_percent: float = 0


class ConformanceSuite(Strict):
    """`firmware/conformance/conformance.toml`."""

    id: Literal["conformance"]
    title: str
    tasks_per_core: int
    stack_bytes: int
    services: tuple[str, ...]
    check: tuple[Check, ...]
