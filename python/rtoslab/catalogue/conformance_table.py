"""The strict form of the conformance suite's table."""

from typing import Literal

from pydantic import Field

from rtoslab.base import StrictFileSchemaModel


class ConformanceCheckOverride(StrictFileSchemaModel):
    """The requirements of a conformance check for a kernel that declares other behaviour than the contract assumes."""

    when: str = Field(pattern=r"^[a-z_]+ = [a-z0-9_]+$")
    """`fact = word`: a service, or a fact of `[behaviour]`, as kernel.toml has it."""
    demands: str
    notes: tuple[int, ...] = ()
    ticks: tuple[int, ...] = ()


class ConformanceCheck(StrictFileSchemaModel):
    """One check of the conformance suite: what the program of the check must report."""

    id: str
    title: str
    demands: str
    services: tuple[str, ...] = ()
    needs_fpu: bool = False
    first_core_only: bool = False
    min_cores: int = 1
    """Fewer cores cannot show it."""
    kind: Literal["sequence", "timer", "slices", "growth", "ticks"]
    notes: tuple[int, ...] = ()
    instead: ConformanceCheckOverride | None = None
    ticks: tuple[int, ...] = ()
    span_ticks: int = 0
    least: int = 0
    tolerance_percent: float = 0
    total_tolerance_percent: float = 0


class ConformanceSuite(StrictFileSchemaModel):
    """The content of `firmware/conformance/conformance.toml`."""

    id: Literal["conformance"]
    title: str
    tasks_per_core: int
    stack_bytes: int
    services: tuple[str, ...]
    params: dict[str, int]
    check: tuple[ConformanceCheck, ...]
