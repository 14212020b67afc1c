"""Kernels on one board beside each other: a cell for each operation, the best of each row, and who is best over all.

The trap it prevents: a winner by less than what the place of its code is worth. A figure stands for all of its
placements, and two kernels differ where their bands have nothing in common.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp, log
from typing import Final

from rtoslab.analyses import Band, Ratio, Value, select
from rtoslab.choose.compared_operations import Operation, Question
from rtoslab.reference import StoredRow

NOT_MEASURED: Final = "it was not measured"


@dataclass(frozen=True, slots=True)
class Cell:
    """One kernel's figure of one operation."""

    band: Band | None
    """None: `reason` says why."""
    reason: str = ""
    clock_hz: int = 0
    n: int = 0

    @property
    def is_alone(self) -> bool:
        """Whether it stands in one placement, though another could move it."""
        return self.band is not None and not self.band.is_known


@dataclass(frozen=True, slots=True)
class Score:
    """How far a kernel is from the best in the weighted mean of all operations that every ranked kernel has."""

    kernel: str
    ratio: Ratio
    """To the best figure of each operation: 1 would be the best in all of them."""
    firsts: int
    """In so many operations it is the best, or cannot be told from the best."""


@dataclass(frozen=True)
class Comparison:
    """All cells of one board."""

    board: str
    question: Question
    kernels: tuple[str, ...]
    operations: tuple[Operation, ...]
    """Those of which at least one kernel has a figure."""
    cells: Mapping[tuple[str, str], Cell]
    """By kernel and operation."""
    lacking: Mapping[str, tuple[str, ...]]
    """Kernel -> services that the question needs and it does not have."""
    services: Mapping[str, Mapping[str, str]]
    """By kernel all services that it lacks, each with the reason."""

    def cell(self, kernel: str, operation: Operation) -> Cell:
        """Returns one cell."""
        return self.cells[kernel, operation.id]

    @cached_property
    def ranked(self) -> tuple[str, ...]:
        """Kernels that have what the question needs."""
        return tuple(kernel for kernel in self.kernels if not self.lacking[kernel])

    def best(self, operation: Operation) -> tuple[str, ...]:
        """Returns the kernel with the best figure first, then those that cannot be told from it."""
        known = [(kernel, band) for kernel in self.kernels if (band := self.cell(kernel, operation).band) is not None]
        if not known:
            return ()
        ordered = sorted(known, key=lambda pair: pair[1].median, reverse=operation.better == "more")
        first = ordered[0]
        near = [kernel for kernel, band in ordered[1:] if not _differ(first[1], band)]
        return (first[0], *near)

    @cached_property
    def counted(self) -> tuple[Operation, ...]:
        """The operations that count: those with a weight of which every ranked kernel has a figure above zero."""
        return tuple(each for each in self._weighted if all(self._counts(kernel, each) for kernel in self.ranked))

    @property
    def not_counted(self) -> list[tuple[Operation, list[str]]]:
        """The operations with a weight that do not count, and the ranked kernels that have no figure of it."""
        partly = [each for each in self._weighted if each not in self.counted]
        return [(each, [kernel for kernel in self.ranked if not self._has(kernel, each)]) for each in partly]

    @cached_property
    def scores(self) -> list[Score]:
        """The ranked kernels, the best first. Empty if no operation counts."""
        if not self.counted:
            return []
        found = [
            Score(kernel, self._mean(kernel), sum(kernel in self.best(each) for each in self.counted))
            for kernel in self.ranked
        ]
        return sorted(found, key=lambda score: score.ratio.value)

    @property
    def _weighted(self) -> list[Operation]:
        return [each for each in self.operations if each.id in self.question.weights]

    def _counts(self, kernel: str, operation: Operation) -> bool:
        """Whether there is a figure for a ratio. A jitter of zero is none, nor is what another placement might move."""
        cell = self.cell(kernel, operation)
        return cell.band is not None and cell.band.least > 0 and not cell.is_alone

    def _has(self, kernel: str, operation: Operation) -> bool:
        return self.cell(kernel, operation).band is not None

    def _mean(self, kernel: str) -> Ratio:
        """The weighted geometric mean of its ratios to the best of each operation."""
        weights = self.question.weights
        whole = sum(weights[each.id] for each in self.counted)
        ratios = [(weights[each.id], self.ratio(kernel, self.best_of_ranked(each), each)) for each in self.counted]

        def mean(numbers: Iterable[tuple[float, float]]) -> float:
            return exp(sum(weight * log(number) for weight, number in numbers) / whole)

        return Ratio(
            mean((weight, each.value) for weight, each in ratios),
            mean((weight, each.least) for weight, each in ratios),
            mean((weight, each.most) for weight, each in ratios),
            all(each.is_known for _, each in ratios),
        )

    def best_of_ranked(self, operation: Operation) -> str:
        """Returns the ranked kernel with the best figure."""
        having = [kernel for kernel in self.ranked if self._has(kernel, operation)]
        sign = -1 if operation.better == "more" else 1
        return min(having, key=lambda kernel: sign * _median(self.cell(kernel, operation)))

    def ratio(self, kernel: str, other: str, operation: Operation) -> Ratio:
        """Returns how much worse a kernel is than another one in one operation: above 1 is worse."""
        mine, theirs = self.cell(kernel, operation).band, self.cell(other, operation).band
        if mine is None or theirs is None:
            raise ValueError(f"{operation.id} has no figure of {kernel} and {other}")
        if kernel == other:
            return Ratio(1.0, 1.0, 1.0)
        return theirs.over(mine) if operation.better == "more" else mine.over(theirs)


def _median(cell: Cell) -> float:
    assert cell.band is not None
    return cell.band.median


def _differ(one: Band, other: Band) -> bool:
    """Whether two figures differ wherever their code is placed. Figures that are exactly alike never do."""
    return one.over(other).is_claimed if other.median and other.least and other.most else one.median != other.median


def make_comparison(
    board: str,
    question: Question,
    operations: Sequence[Operation],
    rows: Mapping[str, Sequence[StoredRow]],
    services: Mapping[str, Mapping[str, str]],
) -> Comparison:
    """Returns the comparison of the kernels in `rows` on one board.

    `services` are by kernel the services that it lacks, each with the reason.
    """
    on_board = {kernel: [row for row in own if row.stands_for.board == board] for kernel, own in rows.items()}
    kernels = tuple(kernel for kernel, own in on_board.items() if any(row.values for row in own))
    cells = {
        (kernel, operation.id): _cell(on_board[kernel], operation, services.get(kernel, {}))
        for kernel in kernels
        for operation in operations
    }
    shown = tuple(each for each in operations if any(cells[kernel, each.id].band is not None for kernel in kernels))
    lacking = {kernel: tuple(need for need in question.needs if need in services.get(kernel, {})) for kernel in kernels}
    return Comparison(board, question, kernels, shown, cells, lacking, services)


def _cell(rows: Sequence[StoredRow], operation: Operation, lacks: Mapping[str, str]) -> Cell:
    wanted = (operation.benchmark, operation.cores)
    own = [row for row in rows if (row.stands_for.benchmark, row.stands_for.cores) == wanted]
    for row in own:
        found = select(row.values, operation.place)
        if found:
            return _of_value(found[0], one_of_many=row.one_of_many)
    for service in operation.services:
        if service in lacks:
            return Cell(None, lacks[service])
    reasons = [row.reason for row in own if row.reason]
    return Cell(None, reasons[0] if reasons else NOT_MEASURED)


def _of_value(value: Value, *, one_of_many: bool) -> Cell:
    band = value.placed
    return Cell(Band(band.values, is_known=not one_of_many), "", value.clock_hz, value.n)
