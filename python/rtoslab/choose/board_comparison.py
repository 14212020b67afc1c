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
    """None means: `reason` says why."""
    reason: str = ""
    clock_hz: int = 0
    n: int = 0

    @property
    def is_single_placement(self) -> bool:
        """Whether it is in one placement, though another could move it."""
        return self.band is not None and not self.band.is_known


@dataclass(frozen=True, slots=True)
class Score:
    """Returns how much a kernel needs of the leader's figure, over the operations that both have."""

    kernel: str
    ratio: Ratio
    """The weighted geometric mean: 1 of the leader, above 1 of who needs more."""
    operations: int
    """So many operations both have. Of the leader: how many count at all."""
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
    """Keyed by kernel and operation."""
    lacking: Mapping[str, tuple[str, ...]]
    """Kernel -> services that the question needs and it does not have."""
    services: Mapping[str, Mapping[str, str]]
    """Keyed by kernel all services that it lacks, each with the reason."""

    def cell(self, kernel: str, operation: Operation) -> Cell:
        """Returns one cell."""
        return self.cells[kernel, operation.id]

    @cached_property
    def ranked_kernels(self) -> tuple[str, ...]:
        """Kernels that have what the question needs."""
        return tuple(kernel for kernel in self.kernels if not self.lacking[kernel])

    def best(self, operation: Operation, kernels: Sequence[str] | None = None) -> tuple[str, ...]:
        """Returns the one of these kernels (of all) with the best figure, then those that cannot be told from it."""
        among = self.kernels if kernels is None else kernels
        known = [(kernel, band) for kernel in among if (band := self.cell(kernel, operation).band) is not None]
        if not known:
            return ()
        ordered = sorted(known, key=lambda pair: pair[1].median, reverse=operation.better == "more")
        first = ordered[0]
        near = [kernel for kernel, band in ordered[1:] if not _differ(first[1], band)]
        return (first[0], *near)

    @cached_property
    def counted_operations(self) -> tuple[Operation, ...]:
        """The operations that count: with a weight, and with figures above zero of at least two ranked kernels."""
        return tuple(
            operation
            for operation in self._weighted_operations
            if sum(self._counts(kernel, operation) for kernel in self.ranked_kernels) > 1
        )

    @property
    def partly_present(self) -> list[tuple[Operation, list[str]]]:
        """The operations with a weight that not all ranked kernels have, and the kernels that do not."""
        missing = [
            (operation, [name for name in self.ranked_kernels if not self._counts(name, operation)])
            for operation in self._weighted_operations
        ]
        return [(kernel, kernels) for kernel, kernels in missing if kernels]

    @cached_property
    def too_little_known(self) -> dict[str, int]:
        """Ranked kernels that have figures of less than half the weight of all operations, and how many they have."""
        whole = self._weight(self.counted_operations)
        return {
            kernel: len(own)
            for kernel in self.ranked_kernels
            if 2 * self._weight(own := self._shared(kernel)) < whole or not own
        }

    @cached_property
    def scores(self) -> list[Score]:
        """The kernels that are ranked and well enough known, the leader first. Empty if no operation counts.

        The leader is the kernel nearest to the best figure of each operation, in the mean over its operations. The
        others are held against the leader alone, so that none gains by what it lacks."""
        known = [kernel for kernel in self.ranked_kernels if kernel not in self.too_little_known]
        if not known:
            return []
        leader = min(known, key=lambda kernel: self._to_the_best(kernel, known).value)
        scores_ = [
            Score(
                kernel,
                self._mean(
                    [(operation, self.ratio(kernel, leader, operation)) for operation in self._shared(kernel, leader)]
                ),
                len(self._shared(kernel, leader)),
                sum(kernel in self.best(operation) for operation in self._shared(kernel)),
            )
            for kernel in known
        ]
        return sorted(scores_, key=lambda score: (score.kernel != leader, score.ratio.value))

    @property
    def _weighted_operations(self) -> list[Operation]:
        return [operation for operation in self.operations if operation.id in self.question.weights]

    def _weight(self, operations: Iterable[Operation]) -> float:
        return sum(self.question.weights[operation.id] for operation in operations)

    def _counts(self, kernel: str, operation: Operation) -> bool:
        """Whether there is a figure for a ratio. A jitter of zero is none, nor is what another placement might move."""
        cell = self.cell(kernel, operation)
        return cell.band is not None and cell.band.least > 0 and not cell.is_single_placement

    def _shared(self, *kernels: str) -> list[Operation]:
        return [
            operation
            for operation in self.counted_operations
            if all(self._counts(kernel, operation) for kernel in kernels)
        ]

    def _to_the_best(self, kernel: str, known: Sequence[str]) -> Ratio:
        ratios = []
        for operation in self._shared(kernel):
            having = [name for name in known if self._counts(name, operation)]
            sign = -1 if operation.better == "more" else 1
            best = min(having, key=lambda name: sign * _median(self.cell(name, operation)))
            ratios.append((operation, self.ratio(kernel, best, operation)))
        return self._mean(ratios)

    def _mean(self, ratios: Sequence[tuple[Operation, Ratio]]) -> Ratio:
        """The weighted geometric mean. Without a common operation the ratio is not known."""
        whole = self._weight(operation for operation, _ in ratios)
        if not whole:
            return Ratio(1.0, 1.0, 1.0, is_known=False)

        def mean(numbers: Iterable[float]) -> float:
            weights = (self.question.weights[operation.id] for operation, _ in ratios)
            return exp(sum(weight * log(number) for weight, number in zip(weights, numbers, strict=True)) / whole)

        return Ratio(
            mean(ratio.value for _, ratio in ratios),
            mean(ratio.least for _, ratio in ratios),
            mean(ratio.most for _, ratio in ratios),
            all(ratio.is_known for _, ratio in ratios),
        )

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
    shown = tuple(item for item in operations if any(cells[kernel, item.id].band is not None for kernel in kernels))
    lacking = {kernel: tuple(need for need in question.needs if need in services.get(kernel, {})) for kernel in kernels}
    return Comparison(board, question, kernels, shown, cells, lacking, services)


def _cell(rows: Sequence[StoredRow], operation: Operation, lacks: Mapping[str, str]) -> Cell:
    key = (operation.benchmark, operation.cores)
    own = [row for row in rows if (row.stands_for.benchmark, row.stands_for.cores) == key]
    for row in own:
        values = select(row.values, operation.place)
        if values:
            return _of_value(values[0], one_of_many=row.one_of_many)
    for service in operation.services:
        if service in lacks:
            return Cell(None, lacks[service])
    reasons = [row.reason for row in own if row.reason]
    return Cell(None, reasons[0] if reasons else NOT_MEASURED)


def _of_value(value: Value, *, one_of_many: bool) -> Cell:
    band = value.placement_band
    return Cell(Band(band.values, is_known=not one_of_many), "", value.clock_hz, value.n)
