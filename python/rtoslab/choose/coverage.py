"""The coverage of `rtoslab choose`: how many points have a figure by kernel and board, and why others have none."""

from collections.abc import Sequence
from dataclasses import dataclass

from rtoslab.catalogue import Catalogue
from rtoslab.choose.matrix_file import KernelBoardMatrix


@dataclass(frozen=True, slots=True)
class MeasuredValueCoverage:
    """How many measurements of one kernel on one board have a figure."""

    measured: int
    requested: int
    missing: tuple[tuple[str, str], ...]
    """Benchmarks without a figure, each with the reason, once for each number of cores."""


def kernel_title(catalogue: Catalogue, kernel: str) -> str:
    """Returns a kernel's title. An earlier version whose tree is not here has the title of the kernel with whose id its
    own begins: `freertos-10.2.1` is called FreeRTOS.
    """
    if kernel in catalogue.kernels:
        return catalogue.kernels[kernel].facts.title
    port = max((name for name in catalogue.kernels if kernel.startswith(f"{name}-")), key=len, default=None)
    return kernel if port is None else catalogue.kernels[port].facts.title


def measurement_coverage_by_board(matrix: KernelBoardMatrix) -> dict[str, MeasuredValueCoverage]:
    """Returns, for each board, how many of a kernel's measurements have a figure."""
    cells = {}
    for board in dict.fromkeys(row.stands_for.board for row in matrix.rows):
        rows = [row for row in matrix.rows if row.stands_for.board == board]
        missing = tuple((row.stands_for.benchmark, row.reason) for row in rows if not row.values)
        cells[board] = MeasuredValueCoverage(len(rows) - len(missing), len(rows), missing)
    return cells


def reasons_for_missing_measured_values(
    matrices: Sequence[KernelBoardMatrix],
) -> list[tuple[str, str, list[str], list[str]]]:
    """Returns why figures of kernels are missing: kernel, reason, benchmarks, boards."""
    by_cell: dict[tuple[str, str], tuple[dict[str, None], dict[str, None]]] = {}
    for matrix in matrices:
        for board, covered in measurement_coverage_by_board(matrix).items():
            for benchmark, reason in covered.missing:
                benchmarks, boards = by_cell.setdefault((matrix.kernel, reason), ({}, {}))
                benchmarks[benchmark], boards[board] = None, None
    return [(kernel, reason, [*names], [*boards]) for (kernel, reason), (names, boards) in by_cell.items()]
