"""The points of the matrix: those of its suite, in several placements where the place of code may matter."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from rtoslab.catalogue import Catalogue, Suite, read_toml
from rtoslab.measure import point_id
from rtoslab.papers import may_depend_on_code_addresses
from rtoslab.plan import Options, Plan, Point, expand_placements, experiment_points
from rtoslab.results import PointId


@dataclass(frozen=True)
class MatrixPoint:
    """One measurement whose figures `rtoslab choose` compares, in all placements of its code."""

    stands_for: PointId
    points: tuple[Point, ...]
    reason: str = ""
    """Why it cannot be measured."""
    place_matters: bool = False
    """Whether the place of its code may move its figures."""


def matrix_suite(root: Path) -> Suite:
    """Returns the suite of the points that `rtoslab choose` compares: `reference/matrix/suite.toml`."""
    return read_toml(root / "reference" / "matrix" / "suite.toml", Suite)


def matrix_kernels(catalogue: Catalogue) -> list[str]:
    """Returns the kernels that `rtoslab choose` compares and that can be built here."""
    experiments = matrix_suite(catalogue.root).experiments
    named = (name for experiment in experiments for name in (*experiment.kernels, *experiment.bring_your_own))
    return [name for name in dict.fromkeys(named) if name in catalogue.buildable_kernels]


def matrix_boards(root: Path) -> list[str]:
    """Returns the boards for which `rtoslab choose` compares kernels."""
    return list(dict.fromkeys(board for experiment in matrix_suite(root).experiments for board in experiment.boards))


def matrix_points(catalogue: Catalogue, kernel: str, boards: Collection[str], placements: int) -> list[MatrixPoint]:
    """Returns the measurements of one kernel on these boards that `rtoslab choose` compares. Raises PlanError,
    UnknownNameError.

    `kernel` may be one that the suite does not name, such as an earlier version.
    """
    result = []
    for experiment in matrix_suite(catalogue.root).experiments:
        of_kernel = experiment.model_copy(update={"kernels": (kernel,), "bring_your_own": ()})
        points = experiment_points(catalogue, of_kernel, Options())
        result += [_matrix_point(catalogue, point, placements) for point in points if point.board in boards]
    return result


def _matrix_point(catalogue: Catalogue, point: Point, placements: int) -> MatrixPoint:
    """Returns a point in `placements` placements of its code, or in one if the placement cannot matter."""
    replaces = point_id(catalogue, point)
    if point.not_applicable is not None:
        return MatrixPoint(replaces, (), point.not_applicable)
    matters = may_depend_on_code_addresses(catalogue, point)
    points = expand_placements(catalogue, Plan((point,), None), placements if matters else 1).points
    return MatrixPoint(replaces, points, place_matters=matters)


def matrix_plan(rows: Sequence[MatrixPoint]) -> Plan:
    """Returns the plan with all points to measure for `rtoslab choose`."""
    return Plan(tuple(point for row in rows for point in row.points), "matrix")
