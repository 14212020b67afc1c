"""The result of a sweep: the distribution, the worst case and its place, and the claim that follows."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rtoslab.base import count_with_noun
from rtoslab.reports import Deviations
from rtoslab.worst_case.arrivals import InterruptSweepCycleRange
from rtoslab.worst_case.own_interrupts import (
    FirmwareRaisedInterrupt,
    arrivals_during_firmware_requests_mask,
    find_firmware_interrupt_requests,
    find_firmware_raised_interrupts,
)
from rtoslab.worst_case.places import InstructionLocation, InstructionNames
from rtoslab.worst_case.scenario import LOOK_S, InterruptSweepScenario

WORST_FUNCTIONS: Final = 12
"""The number of listed functions, by the longest wait of an arrival in them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrivalLatency:
    """The latency from the arrival of an interrupt to handler or task, over all arrivals of a sweep, in cycles."""

    minimum_cycles: int
    median_cycles: float
    p99_cycles: float
    maximum_cycles: int
    worst_offset: int
    """The first arrival that waited longest, in cycles from the span's beginning."""
    worst_count: int
    """The number of arrivals that waited so long."""
    executing: InstructionLocation
    """The instruction that the core executed at the arrival."""
    asleep: bool
    """Whether the core slept at the arrival, and continued there."""
    histogram: tuple[tuple[int, int], ...]
    """(cycles, arrivals), ascending."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InterruptedFunctionArrivals:
    """The arrivals of a sweep's interrupt that interrupted one function, with their longest latencies."""

    function: str
    arrivals: int
    handler_maximum_cycles: int
    task_maximum_cycles: int | None


@dataclass(frozen=True, slots=True)
class FirmwareInterruptRequestLatency:
    """The latency of the image's own requests of the swept interrupt, to the handler's first instruction, in cycles."""

    requests: int
    measured: int
    """How many of them, from the first on, the cycles are of."""
    minimum_cycles: int
    median_cycles: float
    maximum_cycles: int
    period_cycles: int | None
    """The usual distance of two requests. None if there is none."""


@dataclass(frozen=True, slots=True)
class FirmwareRequestArrivalStatistics:
    """The number and longest latency of the arrivals that met the image's own request or handler before they were
    answered."""

    arrivals: int
    maximum_cycles: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstCaseLatencyResult:
    """The result of one sweep: the longest latency of an interrupt over all cycles in which it may arrive."""

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
    handler: ArrivalLatency
    task: ArrivalLatency | None
    met: tuple[InterruptedFunctionArrivals, ...]
    deviations: Deviations
    """The deviations of the kernel from the port contract, as it declares."""
    own_entries: tuple[int, ...] = ()
    """Offsets at which the undisturbed run enters the interrupt's handler, because the image raises it itself."""
    own_latency: FirmwareInterruptRequestLatency | None = None
    """Of the image's own requests of this interrupt, in the undisturbed run. None if there is none."""
    apart: Mapping[str, FirmwareRequestArrivalStatistics] = field(default_factory=dict)
    """The arrivals that the figures of `handler` and `task` leave out."""
    span_reason: str = ""
    """Why this span was chosen. Empty if the user chose it."""
    earlier_arrivals: int = 0
    """How often the interrupt was raised before the sweep began."""
    task_counts_from_give: bool = False
    """Whether `task` counts from the give of another task, which the handler wakes, and not from the arrival."""

    def as_json(self) -> dict[str, Any]:
        """Returns the result as an object for JSON."""
        return asdict(self)

    @property
    def latency_labels(self) -> dict[str, str]:
        """Returns a text for people for each of the latencies `handler` and `task`."""
        return {"handler": "handler", "task": "task, from the give" if self.task_counts_from_give else "task"}

    @property
    def earlier_arrivals_sentence(self) -> str:
        """Returns a sentence that says whether the code that the interrupt runs can be in a cache already."""
        if not self.earlier_arrivals:
            return (
                "Each arrival is the first one of its run, so the handler's code is not in a cache yet; --earlier 3 "
                "lets the interrupt arrive 3 times before the sweep begins."
            )
        times = count_with_noun(self.earlier_arrivals, "time")
        return f"Before the sweep began, the interrupt arrived {times}, so its code had already run."

    @property
    def firmware_requests_latency_sentence(self) -> str:
        """Returns a sentence about the latency of the image's own requests. Empty if the image raises none."""
        own = self.own_latency
        if own is None:
            return ""
        every = "" if own.period_cycles is None else f", every {own.period_cycles:,} cycles"
        first = "" if own.measured == own.requests else f" (the first {count_with_noun(own.measured, 'request')})"
        return (
            f"Without the sweep, the image itself raises the interrupt {count_with_noun(own.requests, 'time')} in "
            f"{LOOK_S:g} s{every}. The handler begins {own.minimum_cycles:,} to {own.maximum_cycles:,} cycles after "
            f"the request, median {own.median_cycles:,.0f}{first}."
        )

    def to_microseconds(self, cycles: float) -> float:
        """Returns cycles as microseconds at the clock of the run."""
        return cycles / self.clock_hz * 1e6


def find_worst_case_interrupt_latency(
    scenario: InterruptSweepScenario, span: InterruptSweepCycleRange, arrivals: NDArray[np.void]
) -> WorstCaseLatencyResult:
    """Returns the result of a sweep from the latencies of its arrivals (an array of `ARRIVAL`)."""
    places = InstructionNames(scenario.elf, scenario.symbols)
    names = ["handler", "task"] if scenario.task is not None else ["handler"]
    longest = max(int(arrivals[name].max()) for name in names)
    seen = find_firmware_raised_interrupts(scenario.snapshot, scenario.core, span.cycles + longest).get(
        scenario.exception
    )
    handlings = seen.handlings if seen is not None else ()
    own_usual = scenario.interrupts.get(scenario.exception)
    requests = _observed_firmware_interrupt_requests(scenario, seen, own_usual)
    latencies: dict[str, ArrivalLatency] = {}
    apart: dict[str, FirmwareRequestArrivalStatistics] = {}
    for name in names:
        offsets = arrivals["cycle"].astype(np.int64) - scenario.snapshot.cycle()
        met = arrivals_during_firmware_requests_mask(
            handlings, requests[: len(handlings)], offsets, arrivals[name].astype(np.int64)
        )
        if met.any():
            apart[name] = FirmwareRequestArrivalStatistics(int(met.sum()), int(arrivals[name][met].max()))
        latencies[name] = _make_arrival_latency(scenario, places, arrivals if met.all() else arrivals[~met], name)
    handler, task = latencies["handler"], latencies.get("task")
    own = tuple(handling.entry for handling in handlings)
    return WorstCaseLatencyResult(
        title=scenario.title,
        claim=_worst_latency_sentence(scenario, span, len(arrivals), handler, task)
        + firmware_raised_interrupt_sentence(own)
        + _arrivals_at_firmware_request_sentences(apart, len(arrivals)),
        exhaustive=span.is_exhaustive,
        span_cycles=span.cycles,
        span=span.name,
        span_reason=span.reason,
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
        met=_find_interrupted_functions(scenario, places, arrivals),
        deviations=scenario.deviations,
        own_entries=own,
        own_latency=None
        if own_usual is None
        else _firmware_interrupt_request_latency(own_usual, requests[: len(own_usual.handlings)]),
        apart=apart,
        earlier_arrivals=scenario.earlier_arrivals,
        task_counts_from_give=scenario.giver is not None,
    )


def firmware_raised_interrupt_sentence(own: Sequence[int]) -> str:
    """Returns a sentence that the image itself raises the swept interrupt. `own` are the offsets of its handler's
    entries. Empty if there are none."""
    if not own:
        return ""
    times = count_with_noun(len(own), "time")
    return f" The image itself raises this interrupt there, {times}, first before offset {own[0]:,}."


def _arrivals_at_firmware_request_sentences(
    apart: Mapping[str, FirmwareRequestArrivalStatistics], arrivals: int
) -> str:
    """Returns sentences on the arrivals that met the image's own request or handler. Empty if there are none.
    `arrivals` is the number of all arrivals."""
    sentences = []
    for name, item in apart.items():
        if item.arrivals == arrivals:
            sentences.append(
                f" Every arrival met the image's own request or handler before the {name} began, so the figures "
                "describe both together. Perhaps the handler waits for a flag that only the hardware sets."
            )
        else:
            sentences.append(
                f" {count_with_noun(item.arrivals, 'arrival')} met the image's own request or handler before the "
                f"{name} began. They are counted separately, with at most {item.maximum_cycles:,} cycles."
            )
    return "".join(sentences)


def _observed_firmware_interrupt_requests(
    scenario: InterruptSweepScenario, *observed: FirmwareRaisedInterrupt | None
) -> NDArray[np.int64]:
    """Returns the cycles, since the snapshot, in which the image itself requested the swept interrupt. The
    observation with the most handler runs is used."""
    seen = max((item for item in observed if item is not None), key=lambda item: len(item.handlings), default=None)
    return (
        np.zeros(0, np.int64)
        if seen is None
        else find_firmware_interrupt_requests(scenario.snapshot, scenario.core, seen)
    )


def _firmware_interrupt_request_latency(
    own: FirmwareRaisedInterrupt, requests: NDArray[np.int64]
) -> FirmwareInterruptRequestLatency:
    """Returns the latency of the image's own requests of the swept interrupt. `requests` are their cycles."""
    entries = np.array([handling.entry for handling in own.handlings[: len(requests)]], np.int64)
    cycles = entries - requests
    return FirmwareInterruptRequestLatency(
        len(own.handlings),
        len(cycles),
        int(cycles.min()),
        float(np.median(cycles)),
        int(cycles.max()),
        own.period_cycles,
    )


def _make_arrival_latency(
    scenario: InterruptSweepScenario, places: InstructionNames, arrivals: NDArray[np.void], name: str
) -> ArrivalLatency:
    """Returns the statistics of the latency to `name` (handler or task) over the arrivals."""
    cycles = arrivals[name].astype(np.int64)
    values, counts = np.unique(cycles, return_counts=True)
    worst = int(cycles.argmax())
    return ArrivalLatency(
        minimum_cycles=int(values[0]),
        median_cycles=float(np.median(cycles)),
        p99_cycles=float(np.percentile(cycles, 99)),
        maximum_cycles=int(values[-1]),
        worst_offset=int(arrivals["cycle"][worst]) - scenario.snapshot.cycle(),
        worst_count=int(counts[-1]),
        executing=places.locate_instruction(int(arrivals["pc"][worst])),
        asleep=bool(arrivals["asleep"][worst]),
        histogram=tuple(zip(values.tolist(), counts.tolist(), strict=True)),
    )


def _find_interrupted_functions(
    scenario: InterruptSweepScenario, places: InstructionNames, arrivals: NDArray[np.void]
) -> tuple[InterruptedFunctionArrivals, ...]:
    """Returns the functions that the arrivals interrupted, by the longest latency of the handler."""
    by_place: dict[str, list[NDArray[np.void]]] = {}
    addresses, which = np.unique(arrivals["pc"], return_inverse=True)
    for index, address in enumerate(addresses.tolist()):
        by_place.setdefault(places.function_name_at(address), []).append(arrivals[which == index])
    meetings = []
    for function, parts in by_place.items():
        mine = np.concatenate(parts)
        longest = int(mine["task"].max()) if scenario.task is not None else None
        meetings.append(
            InterruptedFunctionArrivals(
                function=function,
                arrivals=len(mine),
                handler_maximum_cycles=int(mine["handler"].max()),
                task_maximum_cycles=longest,
            )
        )
    meetings.sort(key=lambda meeting: (-meeting.handler_maximum_cycles, -meeting.arrivals, meeting.function))
    return tuple(meetings[:WORST_FUNCTIONS])


def _worst_latency_sentence(
    scenario: InterruptSweepScenario,
    span: InterruptSweepCycleRange,
    arrivals: int,
    handler: ArrivalLatency,
    task: ArrivalLatency | None,
) -> str:
    """Returns the sentence that states the longest latency and the arrivals over which it was measured."""
    of_cycles = "" if span.name.endswith("cycles") else f" ({arrivals:,} cycles)"
    over = (
        f"Over every arrival phase of this scenario within {span.name}{of_cycles}"
        if span.is_exhaustive
        else f"Over {count_with_noun(arrivals, 'arrival')} drawn by seed {span.seed} from the {span.cycles:,} "
        f"cycles of {span.name}"
    )
    seen = "" if span.is_exhaustive else ", as observed"

    def longest_latency_text(latency: ArrivalLatency) -> str:
        """Returns the longest latency in cycles and microseconds, as text."""
        return f"{latency.maximum_cycles:,} cycles ({latency.maximum_cycles / scenario.clock_hz * 1e6:.3f} us)"

    given = "" if scenario.giver is None else " after the give of another task"
    tail = f", the woken task at most {longest_latency_text(task)}{given}" if task is not None else ""
    return f"{over}, the handler begins after at most {longest_latency_text(handler)}{tail}{seen}."
