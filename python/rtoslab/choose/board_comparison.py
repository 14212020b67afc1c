"""Kernels on one board beside each other: a cell for each operation, the best of each row, and who is best over all.

No kernel wins by less than the effect of the code's placement. So each figure is a range over placements, and two
kernels differ only if their ranges do not overlap.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp, log
from typing import Final

from rtoslab.analyses import CodePlacementValueRange, MeasuredValue, MeasuredValueRatio, select_values_by_coordinates
from rtoslab.choose.compared_operations import ComparedOperation, KernelChoiceCriteria
from rtoslab.reference import StoredPointValues

NOT_MEASURED: Final = "it was not measured"


@dataclass(frozen=True, slots=True)
class OperationMeasuredValue:
    """The figure of one kernel for one operation, or the reason why there is none."""

    band: CodePlacementValueRange | None
    """None: `reason` says why there is no figure."""
    reason: str = ""
    clock_hz: int = 0
    n: int = 0

    @property
    def may_code_placement_change_value(self) -> bool:
        """Whether the figure was measured in one placement, and another placement could change it."""
        return self.band is not None and not self.band.is_known


@dataclass(frozen=True, slots=True)
class KernelScore:
    """How much more time or memory a kernel needs than the leading one, over the operations that both have."""

    kernel: str
    ratio: MeasuredValueRatio
    """The weighted geometric mean: 1 of the leader, above 1 of who needs more."""
    operations: int
    """The number of operations that both have. For the leader: all that count."""
    firsts: int
    """The number of operations in which it is the best, or not to be told from the best."""


@dataclass(frozen=True)
class KernelComparison:
    """The kernels on one board compared by operations, with their ranking."""

    board: str
    question: KernelChoiceCriteria
    kernels: tuple[str, ...]
    operations: tuple[ComparedOperation, ...]
    """The operations of which at least one kernel has a figure."""
    cells: Mapping[tuple[str, str], OperationMeasuredValue]
    """Keyed by kernel and operation."""
    lacking: Mapping[str, tuple[str, ...]]
    """Kernel -> services that the question needs and it does not have."""
    services: Mapping[str, Mapping[str, str]]
    """Kernel -> all services that it lacks, each with the reason."""

    def kernel_operation_value(self, kernel: str, operation: ComparedOperation) -> OperationMeasuredValue:
        """Returns the figure of a kernel for an operation (such as a context switch), or the reason why there is
        none."""
        return self.cells[kernel, operation.id]

    @cached_property
    def kernel_ranking(self) -> tuple[str, ...]:
        """Returns the kernels that take part in the ranking, because they have all required services. They are in the
        table's order, not by rank."""
        return tuple(kernel for kernel in self.kernels if not self.lacking[kernel])

    def best_kernels_for_operation(
        self, operation: ComparedOperation, kernels: Sequence[str] | None = None
    ) -> tuple[str, ...]:
        """Returns the kernel with the best figure for an operation, then those whose figures do not differ from it.
        Empty without a figure."""
        among = self.kernels if kernels is None else kernels
        known = [
            (kernel, band)
            for kernel in among
            if (band := self.kernel_operation_value(kernel, operation).band) is not None
        ]
        if not known:
            return ()
        ordered = sorted(known, key=lambda pair: pair[1].median, reverse=operation.better == "more")
        first = ordered[0]
        near = [kernel for kernel, band in ordered[1:] if not _do_values_differ_in_all_placements(first[1], band)]
        return (first[0], *near)

    @cached_property
    def operations_used_in_ranking(self) -> tuple[ComparedOperation, ...]:
        """Returns the operations that count for the ranking: those with a weight for which two kernels have a
        figure."""
        return tuple(
            operation
            for operation in self._operations_with_ranking_weight
            if sum(self._is_value_usable_for_ranking(kernel, operation) for kernel in self.kernel_ranking) > 1
        )

    @cached_property
    def kernels_with_too_few_measurements(self) -> dict[str, int]:
        """Returns the ranked kernels that have figures for less than half of the total weight, each with its number of
        figures."""
        whole = self._total_weight(self.operations_used_in_ranking)
        return {
            kernel: len(own)
            for kernel in self.kernel_ranking
            if 2 * self._total_weight(own := self._operations_measured_for_all_kernels(kernel)) < whole or not own
        }

    @property
    def kernels_by_rank(self) -> list[str]:
        """Returns all kernels: the ranked ones, the best first, then the others."""
        ranked = [score.kernel for score in self.kernel_scores]
        return [*ranked, *(kernel for kernel in self.kernels if kernel not in ranked)]

    @cached_property
    def kernel_scores(self) -> list[KernelScore]:
        """Returns the scores of the ranked kernels with enough figures, the leading kernel first. Empty if no operation
        counts.

        The leader is the kernel nearest to the best figure of each operation, in the mean over its operations. The
        others are compared with the leader alone, so that none gains by operations that it lacks.
        """
        known = [kernel for kernel in self.kernel_ranking if kernel not in self.kernels_with_too_few_measurements]
        if not known:
            return []
        leader = min(known, key=lambda kernel: self._kernel_ratio_to_best_kernel(kernel, known).value)
        scores_ = [
            KernelScore(
                kernel,
                self._mean_of_operation_ratios_by_weight(
                    [
                        (operation, self.times_worse_than(kernel, leader, operation))
                        for operation in self._operations_measured_for_all_kernels(kernel, leader)
                    ]
                ),
                len(self._operations_measured_for_all_kernels(kernel, leader)),
                sum(
                    kernel in self.best_kernels_for_operation(operation)
                    for operation in self._operations_measured_for_all_kernels(kernel)
                ),
            )
            for kernel in known
        ]
        return sorted(scores_, key=lambda score: (score.kernel != leader, score.ratio.value))

    @property
    def _operations_with_ranking_weight(self) -> list[ComparedOperation]:
        """Returns those operations that have a weight in the ranking."""
        return [operation for operation in self.operations if operation.id in self.question.weights]

    def _total_weight(self, operations: Iterable[ComparedOperation]) -> float:
        """Returns the sum of the operations' weights."""
        return sum(self.question.weights[operation.id] for operation in operations)

    def _is_value_usable_for_ranking(self, kernel: str, operation: ComparedOperation) -> bool:
        """Whether a kernel's figure for an operation counts: it is above zero, and another placement of the code cannot
        change it."""
        cell = self.kernel_operation_value(kernel, operation)
        return cell.band is not None and cell.band.smallest > 0 and not cell.may_code_placement_change_value

    def _operations_measured_for_all_kernels(self, *kernels: str) -> list[ComparedOperation]:
        """Returns the operations of the ranking for which all these kernels have a figure."""
        return [
            operation
            for operation in self.operations_used_in_ranking
            if all(self._is_value_usable_for_ranking(kernel, operation) for kernel in kernels)
        ]

    def _kernel_ratio_to_best_kernel(self, kernel: str, known: Sequence[str]) -> MeasuredValueRatio:
        """Returns the weighted mean ratio of a kernel to the best one of the kernels `known` in each operation."""
        ratios = []
        for operation in self._operations_measured_for_all_kernels(kernel):
            having = [name for name in known if self._is_value_usable_for_ranking(name, operation)]
            sign = -1 if operation.better == "more" else 1
            best = min(
                having,
                key=lambda name: sign * _median_over_code_placements(self.kernel_operation_value(name, operation)),
            )
            ratios.append((operation, self.times_worse_than(kernel, best, operation)))
        return self._mean_of_operation_ratios_by_weight(ratios)

    def _mean_of_operation_ratios_by_weight(
        self, ratios: Sequence[tuple[ComparedOperation, MeasuredValueRatio]]
    ) -> MeasuredValueRatio:
        """Returns the weighted geometric mean of ratios by operation. It is marked as unknown if there are none."""
        whole = self._total_weight(operation for operation, _ in ratios)
        if not whole:
            return MeasuredValueRatio(1.0, 1.0, 1.0, is_known=False)

        def weighted_geometric_mean(numbers: Iterable[float]) -> float:
            """Returns the weighted geometric mean of the numbers."""
            weights = (self.question.weights[operation.id] for operation, _ in ratios)
            return exp(sum(weight * log(number) for weight, number in zip(weights, numbers, strict=True)) / whole)

        return MeasuredValueRatio(
            weighted_geometric_mean(ratio.value for _, ratio in ratios),
            weighted_geometric_mean(ratio.smallest for _, ratio in ratios),
            weighted_geometric_mean(ratio.largest for _, ratio in ratios),
            all(ratio.is_known for _, ratio in ratios),
        )

    def times_worse_than(self, kernel: str, other: str, operation: ComparedOperation) -> MeasuredValueRatio:
        """Returns how many times worse `kernel` is than `other` in one operation, above 1 if it is worse. Raises
        ValueError without figures."""
        mine, theirs = (
            self.kernel_operation_value(kernel, operation).band,
            self.kernel_operation_value(other, operation).band,
        )
        if mine is None or theirs is None:
            raise ValueError(f"{operation.id} has no figure of {kernel} and {other}")
        if kernel == other:
            return MeasuredValueRatio(1.0, 1.0, 1.0)
        return theirs.ratio_to(mine) if operation.better == "more" else mine.ratio_to(theirs)


def _median_over_code_placements(cell: OperationMeasuredValue) -> float:
    """Returns the median of a figure over placements of the code."""
    assert cell.band is not None
    return cell.band.median


def _do_values_differ_in_all_placements(one: CodePlacementValueRange, other: CodePlacementValueRange) -> bool:
    """Whether two figures differ in the same direction for all placements of their code."""
    return (
        one.ratio_to(other).differs_in_all_code_placements
        if other.median and other.smallest and other.largest
        else one.median != other.median
    )


def compare_kernels_on_board(
    board: str,
    question: KernelChoiceCriteria,
    operations: Sequence[ComparedOperation],
    rows: Mapping[str, Sequence[StoredPointValues]],
    services: Mapping[str, Mapping[str, str]],
) -> KernelComparison:
    """Returns the comparison of the kernels in `rows` on one board. `services` has, by kernel, the services that it
    lacks with the reasons."""
    on_board = {kernel: [row for row in own if row.stands_for.board == board] for kernel, own in rows.items()}
    kernels = tuple(kernel for kernel, own in on_board.items() if any(row.values for row in own))
    cells = {
        (kernel, operation.id): _find_measured_operation_value(on_board[kernel], operation, services.get(kernel, {}))
        for kernel in kernels
        for operation in operations
    }
    shown = tuple(item for item in operations if any(cells[kernel, item.id].band is not None for kernel in kernels))
    lacking = {kernel: tuple(need for need in question.needs if need in services.get(kernel, {})) for kernel in kernels}
    return KernelComparison(board, question, kernels, shown, cells, lacking, services)


def _find_measured_operation_value(
    rows: Sequence[StoredPointValues], operation: ComparedOperation, lacks: Mapping[str, str]
) -> OperationMeasuredValue:
    """Returns the figure for an operation among a kernel's stored rows, or the reason why there is none. `lacks` are
    missing services."""
    key = (operation.benchmark, operation.cores)
    own = [row for row in rows if (row.stands_for.benchmark, row.stands_for.cores) == key]
    for row in own:
        values = select_values_by_coordinates(row.values, operation.selector_of_measured_value)
        if values:
            return _make_operation_measured_value(values[0], one_of_many=row.single_placement)
    for service in operation.services:
        if service in lacks:
            return OperationMeasuredValue(None, lacks[service])
    reasons = [row.reason for row in own if row.reason]
    return OperationMeasuredValue(None, reasons[0] if reasons else NOT_MEASURED)


def _make_operation_measured_value(value: MeasuredValue, *, one_of_many: bool) -> OperationMeasuredValue:
    """Returns a measured value as the figure of an operation. `one_of_many` tells that another placement of the code
    may change it."""
    band = value.placement_band
    return OperationMeasuredValue(
        CodePlacementValueRange(band.values, is_known=not one_of_many), "", value.clock_hz, value.n
    )
