"""Runs a sweep: chooses the cycles, and records the latency of the arrival in each. The loop itself is the virtual
board's."""

import os
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rtoslab.base import PlanError, RunError
from rtoslab.intake import parse_integer, quote_text
from rtoslab.targets import convert_simulator_errors, exception_name
from rtoslab.worst_case.scenario import InterruptSweepScenario

ARRIVAL: Final = np.dtype([("cycle", "<u8"), ("handler", "<u8"), ("task", "<u8"), ("pc", "<u4"), ("asleep", "<u4")])
"""One arrival, 32 bytes. See `_sim.pyi`. Cycles from the arrival to the first instruction of handler and task. If
another task wakes the task (`InterruptSweepScenario.giver`), `task` has the cycles from its give."""
UNANSWERED: Final = np.uint64(2**64 - 1)
BATCH: Final = 8192
_TRIED_FIRST: Final = 8
"""Arrivals between two checks of progress and Ctrl-C."""
MOST_CYCLES: Final = 10**12
MOST_CHOSEN_CYCLES: Final = 2_000_000
MOST_CHOSEN_ARRIVALS: Final = 100_000
"""If a span that nobody chose has more cycles than the first, so many of them are drawn."""
PATIENCE_S: Final = 1.0
"""The longest virtual time to wait for an answer."""


@dataclass(frozen=True, slots=True)
class InterruptSweepCycleRange:
    """The cycles of a run in which a sweep raises its interrupt, one after another."""

    cycles: int
    """The number of cycles, from the snapshot on."""
    name: str
    """A text for people: `one period`, `one tick`, `100,000 cycles`."""
    offsets: tuple[int, ...] | None = None
    """The drawn cycles, in order. None: all."""
    seed: int | None = None
    reason: str = ""
    """Why this span was chosen, as a sentence. Empty if the user chose it."""

    @property
    def is_exhaustive(self) -> bool:
        """Whether the sweep raises its interrupt in every cycle of the span."""
        return self.offsets is None

    def cycle_range_covered_by_arrivals(self, arrivals: int) -> "InterruptSweepCycleRange":
        """Returns the part of the span that its first `arrivals` arrivals cover, for a sweep that ended early."""
        cycles = arrivals if self.offsets is None else self.offsets[arrivals]
        name = f"{self.name}, ended after the first {cycles:,} cycles"
        return InterruptSweepCycleRange(
            cycles, name, None if self.offsets is None else self.offsets[:arrivals], self.seed, self.reason
        )


class SweepInterruptedError(KeyboardInterrupt):
    """Raised for a sweep that was ended from outside. It has the finished part of the span and its arrivals."""

    def __init__(self, cause: KeyboardInterrupt, span: InterruptSweepCycleRange, arrivals: NDArray[np.void]) -> None:
        super().__init__(*cause.args)
        self.span = span
        self.arrivals = arrivals


def parse_sweep_cycle_range(
    scenario: InterruptSweepScenario, text: str | None, samples: int | None = None, seed: int = 1
) -> InterruptSweepCycleRange:
    """Returns the cycles to sweep from the user's text: `period`, `tick`, either with a number in front (`2period`), or
    a number of cycles. None chooses a period of the scenario. Raises PlanError.

    All cycles are swept, or `samples` of them, drawn by `seed`.
    """
    if text is None and scenario.period_cycles is None:
        return _default_interrupt_sweep_range(scenario, samples, seed)
    text = text or "period"
    units = {"period": scenario.period_cycles, "tick": scenario.tick_cycles}
    unit = next((item for item in units if text.endswith(item)), None)
    count = text.removesuffix(unit) if unit else text
    try:
        number = parse_integer(count or ("1" if unit else ""), 1, MOST_CYCLES)
    except ValueError:
        raise PlanError(
            f"{quote_text(text)} is not a valid span; give up to {MOST_CYCLES:,} cycles, or `period`, `tick`, "
            "`3period` "
            "and so on."
        ) from None
    if unit is None:
        cycles, name = number, f"{number:,} cycles"
    else:
        length = units[unit]
        if length is None:
            raise PlanError(
                f"No {unit} was observed in this run, so its length is not known; leave out --span, or give it in "
                "cycles."
            )
        cycles, name = number * length, f"one {unit}" if number == 1 else f"{number} {unit}s"
    return _make_sweep_cycle_range(cycles, name, samples, seed)


def _make_sweep_cycle_range(
    cycles: int, name: str, samples: int | None, seed: int, reason: str = ""
) -> InterruptSweepCycleRange:
    """Returns a span of so many cycles, or of `samples` cycles drawn from them."""
    if samples is None or samples >= cycles:
        return InterruptSweepCycleRange(cycles, name, reason=reason)
    return InterruptSweepCycleRange(cycles, name, draw_distinct_random_offsets(cycles, samples, seed), seed, reason)


def _default_interrupt_sweep_range(
    scenario: InterruptSweepScenario, samples: int | None, seed: int
) -> InterruptSweepCycleRange:
    """Returns the default span of an image: one period of the swept interrupt, else of the tick, else of its slowest
    interrupt.

    Only drawn cycles of a long one are swept. Raises PlanError if nothing in the image is periodic.
    """
    periods = {number: own.period_cycles for number, own in scenario.interrupts.items()}
    known = {number: period for number, period in periods.items() if period is not None}
    swept, slowest = scenario.exception, max(known, key=lambda number: known[number], default=None)
    if swept in known:
        cycles, name = known[swept], f"one period of {exception_name(swept)}"
        reason = f"the image itself raises {exception_name(swept)} every {cycles:,} cycles"
    elif scenario.tick_cycles is not None:
        cycles, name = scenario.tick_cycles, "one tick"
        reason = f"SysTick comes every {cycles:,} cycles"
    elif slowest is not None:
        cycles, name = known[slowest], f"one period of {exception_name(slowest)}"
        reason = (
            f"{exception_name(slowest)}, the slowest of the image's periodic interrupts, comes every {cycles:,} cycles"
        )
    else:
        raise PlanError(
            "The image raises no interrupt periodically where the sweep begins, so there is no period to sweep; give "
            "--span in cycles, or another place with --from."
        )
    drawn = MOST_CHOSEN_ARRIVALS if samples is None and cycles > MOST_CHOSEN_CYCLES else samples
    limit = "" if drawn == samples else f" That is long, so {MOST_CHOSEN_ARRIVALS:,} cycles of it were drawn."
    return _make_sweep_cycle_range(cycles, name, drawn, seed, f"The span is {name}, because {reason}.{limit}")


def draw_distinct_random_offsets(cycles: int, samples: int, seed: int) -> tuple[int, ...]:
    """Returns `samples` different numbers below `cycles`, in ascending order. The same seed gives the same numbers on
    every machine."""
    generator = random.Random(seed)  # noqa: S311 (repeatable, not secret)
    chosen: set[int] = set()
    while len(chosen) < samples:
        chosen.add(int(generator.random() * cycles))
    return tuple(sorted(chosen))


def inject_interrupt_at_every_cycle(
    scenario: InterruptSweepScenario,
    span: InterruptSweepCycleRange,
    *,
    threads: int | None = None,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> NDArray[np.void]:
    """Raises the interrupt once in each cycle of the span, each time from the same snapshot. Returns the latencies as
    an array of `ARRIVAL`, in order.

    It calls `progress(done, of)`. Raises RunError if an arrival is not answered within a second of virtual time, and
    SweepInterruptedError in place of a KeyboardInterrupt that comes when some arrivals are known.
    """
    first = scenario.snapshot.cycle()
    cycles = [first + offset for offset in (span.offsets if span.offsets is not None else range(span.cycles))]
    arrays: list[NDArray[np.void]] = []
    try:
        _measure_arrivals_in_batches(scenario, cycles, arrays, threads or os.cpu_count() or 1, progress)
    except KeyboardInterrupt as cause:
        known = sum(map(len, arrays))
        if not 0 < known < len(cycles):
            raise
        arrivals = np.concatenate(arrays)
        _require_all_arrivals_were_handled(scenario, arrivals)
        raise SweepInterruptedError(cause, span.cycle_range_covered_by_arrivals(known), arrivals) from None
    arrivals = np.concatenate(arrays)
    _require_all_arrivals_were_handled(scenario, arrivals)
    return arrivals


def _measure_arrivals_in_batches(
    scenario: InterruptSweepScenario,
    cycles: list[int],
    arrays: list[NDArray[np.void]],
    threads: int,
    progress: Callable[[int, int], None],
) -> None:
    """Measures the latencies of arrivals in these cycles and adds them to `arrays`, batch by batch.

    Raises RunError if one of a few arrivals, which it tries first, is not answered: each one that is not takes a second
    of virtual time, and thousands would take many minutes."""

    def measure_latencies_until(batch: list[int], task: int | None) -> NDArray[np.void]:
        """Returns the latencies of arrivals in these cycles, until this instruction of a task."""
        packed = scenario.snapshot.sweep(
            batch,
            scenario.exception,
            core=scenario.core,
            task=task,
            patience_cycles=int(PATIENCE_S * scenario.clock_hz),
            threads=threads,
        )
        return np.frombuffer(packed, ARRIVAL)

    def measure_latencies(batch: list[int]) -> NDArray[np.void]:
        """Returns the latencies of arrivals in these cycles. Those of a task that another task wakes count from its
        give: a second sweep of the same cycles says when that is."""
        arrivals = measure_latencies_until(batch, scenario.task)
        if scenario.giver is None:
            return arrivals
        gives = measure_latencies_until(batch, scenario.giver)
        answered = (arrivals["task"] != UNANSWERED) & (gives["task"] < arrivals["task"])
        arrivals = arrivals.copy()
        arrivals["task"] = np.where(answered, arrivals["task"] - gives["task"], UNANSWERED)
        return arrivals

    with convert_simulator_errors(RunError):
        step = max(1, len(cycles) // _TRIED_FIRST)
        _require_all_arrivals_were_handled(scenario, measure_latencies(sorted({*cycles[::step], cycles[-1]})))
        for start in range(0, len(cycles), BATCH):
            progress(start, len(cycles))
            arrays.append(measure_latencies(cycles[start : start + BATCH]))
            _require_all_arrivals_were_handled(scenario, arrays[-1])
    progress(len(cycles), len(cycles))


def _require_all_arrivals_were_handled(scenario: InterruptSweepScenario, arrivals: NDArray[np.void]) -> None:
    """Raises RunError if an arrival was not followed by its handler or task within the allowed time."""
    advice = {
        "handler": "check that the interrupt is enabled and that nothing masks it",
        "task": "check that the handler wakes the task of --task",
    }
    for name in advice if scenario.task is not None else ("handler",):
        missing = arrivals[arrivals[name] == UNANSWERED]
        if len(missing):
            offset = int(missing["cycle"][0]) - scenario.snapshot.cycle()
            raise RunError(
                f"{len(missing):,} of {len(arrivals):,} arrivals were not followed by the {name} within "
                f"{PATIENCE_S:g} s of virtual time, first at offset {offset}; {advice[name]}."
            )
