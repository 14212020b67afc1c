"""The result of a sweep: the distribution, the worst case and its place, and the claim that follows."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rtoslab.base import count_text
from rtoslab.reports import Deviations
from rtoslab.worst_case.arrivals import SweepSpan
from rtoslab.worst_case.places import InstructionNames, InstructionPlace
from rtoslab.worst_case.scenario import Scenario, undisturbed_entries

WORST_FUNCTIONS: Final = 12
"""The number of listed functions, by the longest wait of an arrival in them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """The latency of handler or task over all arrivals, in cycles."""

    minimum_cycles: int
    median_cycles: float
    p99_cycles: float
    maximum_cycles: int
    worst_offset: int
    """The first arrival that waited longest, in cycles from the span's beginning."""
    worst_count: int
    """The number of arrivals that waited so long."""
    executing: InstructionPlace
    """The instruction that the core executed at the arrival."""
    asleep: bool
    """Whether the core slept at the arrival, and continued there."""
    histogram: tuple[tuple[int, int], ...]
    """(cycles, arrivals), ascending."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Meeting:
    """The arrivals that interrupted one function."""

    function: str
    arrivals: int
    handler_maximum_cycles: int
    task_maximum_cycles: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstCase:
    """The result of one sweep."""

    title: str
    claim: str
    """The claim in one sentence."""
    exhaustive: bool
    span_cycles: int
    span: str
    seed: int | None
    arrivals: int
    first_cycle: int
    clock_hz: int
    period_cycles: int | None
    tick_cycles: int | None
    exception: int
    core: int
    handler: Latency
    task: Latency | None
    met: tuple[Meeting, ...]
    deviations: Deviations
    """The deviations of the kernel from the port contract, as it declares."""
    own_entries: tuple[int, ...] = ()
    """Offsets at which the undisturbed run enters the interrupt's handler, because the image raises it itself."""

    def as_json(self) -> dict[str, Any]:
        """Returns plain values for JSON."""
        return asdict(self)

    def microseconds(self, cycles: float) -> float:
        """Returns microseconds at the clock of the run."""
        return cycles / self.clock_hz * 1e6


def find_worst_case(scenario: Scenario, span: SweepSpan, arrivals: NDArray[np.void]) -> WorstCase:
    """Returns the result of a sweep's arrivals (`ARRIVAL`)."""
    places = InstructionNames(scenario.elf, scenario.symbols)
    handler = _make_latency(scenario, places, arrivals, "handler")
    task = _make_latency(scenario, places, arrivals, "task") if scenario.task is not None else None
    own = undisturbed_entries(
        scenario, span.cycles + max(latency.maximum_cycles for latency in (handler, task) if latency is not None)
    )
    return WorstCase(
        title=scenario.title,
        claim=_claim_sentence(scenario, span, len(arrivals), handler, task) + own_interrupt_sentence(own),
        exhaustive=span.is_exhaustive,
        span_cycles=span.cycles,
        span=span.name,
        seed=span.seed,
        arrivals=len(arrivals),
        first_cycle=scenario.snapshot.cycle(),
        clock_hz=scenario.clock_hz,
        period_cycles=scenario.period_cycles,
        tick_cycles=scenario.tick_cycles,
        exception=scenario.exception,
        core=scenario.core,
        handler=handler,
        task=task,
        met=_find_meetings(scenario, places, arrivals),
        deviations=scenario.deviations,
        own_entries=own,
    )


def own_interrupt_sentence(own: Sequence[int]) -> str:
    """Returns a sentence that an arrival's answer may be to the image's own request. Empty if the image raises none."""
    if not own:
        return ""
    return (
        f" The image itself raises this interrupt there, {count_text(len(own), 'time')}, first before offset "
        f"{own[0]:,}: an arrival near these cycles may have been handled together with the image's own interrupt."
    )


def _make_latency(scenario: Scenario, places: InstructionNames, arrivals: NDArray[np.void], name: str) -> Latency:
    cycles = arrivals[name].astype(np.int64)
    values, counts = np.unique(cycles, return_counts=True)
    worst = int(cycles.argmax())
    return Latency(
        minimum_cycles=int(values[0]),
        median_cycles=float(np.median(cycles)),
        p99_cycles=float(np.percentile(cycles, 99)),
        maximum_cycles=int(values[-1]),
        worst_offset=int(arrivals["cycle"][worst]) - scenario.snapshot.cycle(),
        worst_count=int(counts[-1]),
        executing=places.locate(int(arrivals["pc"][worst])),
        asleep=bool(arrivals["asleep"][worst]),
        histogram=tuple(zip(values.tolist(), counts.tolist(), strict=True)),
    )


def _find_meetings(scenario: Scenario, places: InstructionNames, arrivals: NDArray[np.void]) -> tuple[Meeting, ...]:
    by_place: dict[str, list[NDArray[np.void]]] = {}
    addresses, which = np.unique(arrivals["pc"], return_inverse=True)
    for index, address in enumerate(addresses.tolist()):
        by_place.setdefault(places.function_at(address), []).append(arrivals[which == index])
    meetings = []
    for function, parts in by_place.items():
        mine = np.concatenate(parts)
        longest = int(mine["task"].max()) if scenario.task is not None else None
        meetings.append(
            Meeting(
                function=function,
                arrivals=len(mine),
                handler_maximum_cycles=int(mine["handler"].max()),
                task_maximum_cycles=longest,
            )
        )
    meetings.sort(key=lambda meeting: (-meeting.handler_maximum_cycles, -meeting.arrivals, meeting.function))
    return tuple(meetings[:WORST_FUNCTIONS])


def _claim_sentence(scenario: Scenario, span: SweepSpan, arrivals: int, handler: Latency, task: Latency | None) -> str:
    of_cycles = "" if span.name.endswith("cycles") else f" ({arrivals:,} cycles)"
    over = (
        f"Over every arrival phase of this scenario within {span.name}{of_cycles}"
        if span.is_exhaustive
        else f"Over {count_text(arrivals, 'arrival')} drawn by seed {span.seed} from the {span.cycles:,} cycles of "
        f"{span.name}"
    )
    seen = "" if span.is_exhaustive else ", as observed"

    def of(latency: Latency) -> str:
        return f"{latency.maximum_cycles:,} cycles ({latency.maximum_cycles / scenario.clock_hz * 1e6:.3f} us)"

    tail = f", the woken task at most {of(task)}" if task is not None else ""
    return f"{over}, the handler begins after at most {of(handler)}{tail}{seen}."
