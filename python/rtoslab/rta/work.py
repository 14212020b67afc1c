"""The busy work of a job, calibrated where it runs: which rounds and extra instructions last exactly so many cycles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rtoslab.base import CheckError
from rtoslab.rta.firmware import Firmware, Part, Row
from rtoslab.rta.trace import run

EXTRA_MAX: Final = 11
_FEW: Final = 10
_SLOT_TICKS: Final = 2
"""A task has so many ticks for itself, and its work is far shorter."""


@dataclass(frozen=True, slots=True)
class Work:
    """`base[extra] + each * rounds` cycles from the first instruction to the last, undisturbed."""

    iteration_cycles: int
    base: Mapping[int, int]

    def lasting(self, cycles: int) -> tuple[int, int]:
        """(rounds, extra) of so many cycles, or where no work lasts exactly that long, of the most below it.

        Raises CheckError for less than the shortest work.
        """
        least = max(self.base.values()) + _FEW * self.iteration_cycles
        if cycles < least:
            raise CheckError(f"Work of {cycles} cycles is too short for this board; it can be had from {least} on.")
        choices = [(divmod(cycles - base, self.iteration_cycles), extra) for extra, base in self.base.items()]
        (rounds, _), extra = min(choices, key=lambda row: row[0][1])
        return rounds, extra

    def of(self, row: Row) -> int:
        """How long a job of the row works."""
        parts = row.parts or (Part(row.rounds, row.extra),)
        return sum(self.cycles(part.rounds, part.extra) for part in parts)

    def cycles(self, rounds: int, extra: int) -> int:
        """How long this work lasts."""
        return self.base[extra] + self.iteration_cycles * rounds


def calibrate(firmware: Firmware) -> Work:
    """Measures with probes, each length by a task that runs alone. Raises CheckError where work is not regular."""
    longest = firmware.tick_cycles // 40
    rounds = [_FEW, _FEW + 1, _FEW + 2, 25, 100, 101, longest // 2, longest - 1, longest]
    by_rounds = _spans(firmware, [(item, 0) for item in rounds])
    item, left = divmod(by_rounds[-1] - by_rounds[0], rounds[-1] - rounds[0])
    regular = [by_rounds[0] + item * (many - rounds[0]) for many in rounds]
    if left or regular != by_rounds:
        seen = ", ".join(f"{many}: {span}" for many, span in zip(rounds, by_rounds, strict=True))
        raise CheckError(f"Rounds of work do not last alike on this board, so no wcet can be met exactly ({seen}).")
    extras = range(EXTRA_MAX + 1)
    by_extra = _spans(firmware, [(_FEW, extra) for extra in extras])
    return Work(item, {extra: span - _FEW * item for extra, span in zip(extras, by_extra, strict=True)})


def _spans(firmware: Firmware, works: Sequence[tuple[int, int]]) -> list[int]:
    """Cycles from begin to end of each. Every job of a task must last the same."""
    result: list[int] = []
    for start in range(0, len(works), firmware.most_tasks):
        part = works[start : start + firmware.most_tasks]
        period = _SLOT_TICKS * len(part)
        rows = [Row(period, _SLOT_TICKS * at, *work, 0) for at, work in enumerate(part)]
        trace = run(firmware, rows, 3 * period)
        for at, work in enumerate(part):
            spans = {job.end - job.begin for job in trace.jobs if job.task == at}
            if len(spans) != 1:
                raise CheckError(f"Work of {work} rounds and extras lasts {sorted(spans)} cycles, not always the same.")
            result += spans
    return result
