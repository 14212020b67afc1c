"""The coverage of `rtoslab choose`: how many points have a figure by kernel and board, and why others have none."""

from collections.abc import Sequence
from dataclasses import dataclass

from rtoslab.choose.matrix_file import Matrix


@dataclass(frozen=True, slots=True)
class Coverage:
    """One kernel on one board."""

    measured: int
    requested: int
    missing: tuple[tuple[str, str], ...]
    """Benchmarks without a figure, each with the reason, once for each number of cores."""


def coverage(matrix: Matrix) -> dict[str, Coverage]:
    """Returns by board what there is. A board on which nothing was tried is not named."""
    cells = {}
    for board in dict.fromkeys(row.stands_for.board for row in matrix.rows):
        rows = [row for row in matrix.rows if row.stands_for.board == board]
        missing = tuple((row.stands_for.benchmark, row.reason) for row in rows if not row.values)
        cells[board] = Coverage(len(rows) - len(missing), len(rows), missing)
    return cells


def reasons(matrices: Sequence[Matrix]) -> list[tuple[str, str, list[str], list[str]]]:
    """Returns each reason once a kernel: kernel, reason, benchmarks, boards."""
    by_cell: dict[tuple[str, str], tuple[dict[str, None], dict[str, None]]] = {}
    for matrix in matrices:
        for board, covered in coverage(matrix).items():
            for benchmark, reason in covered.missing:
                benchmarks, boards = by_cell.setdefault((matrix.kernel, reason), ({}, {}))
                benchmarks[benchmark], boards[board] = None, None
    return [(kernel, reason, [*names], [*boards]) for (kernel, reason), (names, boards) in by_cell.items()]
