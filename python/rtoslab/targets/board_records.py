"""The reports of a virtual board: ends of runs, hits of probes, edges, handlers, intervals."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Stop:
    """Why and where a run ended."""

    reason: str
    """`cycles`, `until`, `watch`, `lockup`, `deadlock`, `strict`, `usbboot`."""
    cycle: int
    core: int
    address: int
    detail: str
    """One sentence."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A probe was passed, or a watched word written."""

    cycle: int
    core: int
    value: int
    """R0, or what was written."""
    pc: int


@dataclass(slots=True)
class Probe:
    """The hits of a probe on an instruction, or on a word."""

    place: str
    address: int
    hits: list[Hit] = field(default_factory=list)

    @property
    def cycles(self) -> list[int]:
        """When."""
        return [hit.cycle for hit in self.hits]


@dataclass(frozen=True, slots=True)
class Edge:
    """A pin changed."""

    cycle: int
    pin: int
    """Its number: GPIO on the RP2040, 16 to a port on an STM32."""
    level: int


@dataclass(frozen=True, slots=True)
class ExceptionEvent:
    """A handler's first cycle, or its return."""

    cycle: int
    core: int
    number: int
    entered: bool
    recognised_cycles: int
    """For an entry: the time since its recognition."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Cycles from one place to another."""

    count: int
    minimum_cycles: int | None
    maximum_cycles: int | None
    total_cycles: int
