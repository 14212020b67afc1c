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
class AddressProbeHit:
    """An execution of a probed instruction, or a write to a watched word."""

    cycle: int
    core: int
    value: int
    """R0, or the written value."""
    pc: int


@dataclass(slots=True)
class Probe:
    """A probe on an instruction or a word of memory, with the recorded hits: executions or writes."""

    place: str
    address: int
    hits: list[AddressProbeHit] = field(default_factory=list)

    @property
    def cycles(self) -> list[int]:
        """Returns the cycle of each hit of the probe."""
        return [hit.cycle for hit in self.hits]


@dataclass(frozen=True, slots=True)
class RecordedPinEdge:
    """A change of a pin's level, with its cycle."""

    cycle: int
    pin: int
    """Its number: GPIO on the RP2040, 16 to a port on an STM32."""
    level: int


@dataclass(frozen=True, slots=True)
class ExceptionEvent:
    """The entry into an exception's handler, or the return from it."""

    cycle: int
    core: int
    number: int
    entered: bool
    recognised_cycles: int
    """Of an entry: the cycles from the exception's recognition to its handler's first instruction."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Statistics of the cycles that the code took from one address to another, over all its runs."""

    count: int
    minimum_cycles: int | None
    maximum_cycles: int | None
    total_cycles: int
