"""The busy work of jobs, calibrated on the board: which rounds and extra instructions last exactly so many cycles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rtoslab.base import TaskSetCheckError
from rtoslab.rta.firmware import TaskSetFirmware
from rtoslab.rta.rows import JobWorkSegment, TaskRow
from rtoslab.rta.trace import run_task_set

EXTRA_MAX: Final = 11
_FEW_ROUNDS: Final = 10
_SLOT_TICKS: Final = 2
"""Ticks in which a task runs alone. Its work is far shorter."""


@dataclass(frozen=True, slots=True)
class BusyWork:
    """How long the busy work of jobs lasts on a board, for any number of rounds and extra instructions."""

    iteration_cycles: int
    base_cycles: Mapping[int, int]

    def work_amount_lasting_cycles(self, cycles: int) -> tuple[int, int]:
        """Returns the rounds and extra instructions of the longest work that lasts at most so many cycles.
        If none lasts exactly that long, they are those of the longest work below it.

        Raises TaskSetCheckError for less than the shortest work.
        """
        least = max(self.base_cycles.values()) + _FEW_ROUNDS * self.iteration_cycles
        if cycles < least:
            raise TaskSetCheckError(
                f"Work of {cycles} cycles is too short for this board; the shortest is {least} cycles."
            )
        choices = [(divmod(cycles - base, self.iteration_cycles), extra) for extra, base in self.base_cycles.items()]
        (rounds, _), extra = min(choices, key=lambda row: row[0][1])
        return rounds, extra

    def job_cycles_of_task(self, row: TaskRow) -> int:
        """Returns the cycles that a job of this task works."""
        parts = row.parts or (JobWorkSegment(row.rounds, row.extra),)
        return sum(self.busy_work_duration_cycles(part.rounds, part.extra) for part in parts)

    def busy_work_duration_cycles(self, rounds: int, extra: int) -> int:
        """Returns the cycles that this work lasts."""
        return self.base_cycles[extra] + self.iteration_cycles * rounds


def calibrate_busy_work(firmware: TaskSetFirmware) -> BusyWork:
    """Measures how long busy work lasts, with probes on tasks that run alone.
    Raises TaskSetCheckError where work is not regular.
    """
    longest = firmware.tick_cycles // 40
    rounds = [_FEW_ROUNDS, _FEW_ROUNDS + 1, _FEW_ROUNDS + 2, 25, 100, 101, longest // 2, longest - 1, longest]
    by_rounds = _measured_work_cycles(firmware, [(item, 0) for item in rounds])
    item, left = divmod(by_rounds[-1] - by_rounds[0], rounds[-1] - rounds[0])
    regular = [by_rounds[0] + item * (many - rounds[0]) for many in rounds]
    if left or regular != by_rounds:
        seen = ", ".join(f"{many}: {span}" for many, span in zip(rounds, by_rounds, strict=True))
        raise TaskSetCheckError(
            "The rounds of the generated work do not take the same time on this board, so no WCET "
            f"can be reached exactly ({seen}); choose another board or configuration."
        )
    extras = range(EXTRA_MAX + 1)
    by_extra = _measured_work_cycles(firmware, [(_FEW_ROUNDS, extra) for extra in extras])
    return BusyWork(item, {extra: span - _FEW_ROUNDS * item for extra, span in zip(extras, by_extra, strict=True)})


def _measured_work_cycles(firmware: TaskSetFirmware, works: Sequence[tuple[int, int]]) -> list[int]:
    """Returns the measured cycles of each of these amounts of work. Every job of a task must last the same."""
    result: list[int] = []
    for start in range(0, len(works), firmware.max_tasks):
        part = works[start : start + firmware.max_tasks]
        period = _SLOT_TICKS * len(part)
        rows = [TaskRow(period, _SLOT_TICKS * at, *work, 0) for at, work in enumerate(part)]
        trace = run_task_set(firmware, rows, 3 * period)
        for at, work in enumerate(part):
            spans = {job.end - job.begin for job in trace.jobs if job.task == at}
            if len(spans) != 1:
                raise TaskSetCheckError(
                    f"Work of {work} rounds and extras lasts {sorted(spans)} cycles, but must always "
                    "take the same time."
                )
            result += spans
    return result
