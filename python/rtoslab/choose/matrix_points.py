"""The points of the matrix: those of its suite, in several placements where the place of code may matter."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from rtoslab.catalogue import Catalogue, MeasurementSuite, read_validated_toml
from rtoslab.measure import identity_of_point
from rtoslab.papers import may_depend_on_code_addresses
from rtoslab.plan import MeasurementPlan, PlannedPoint, PlanOptions, experiment_points, repeat_plan_in_code_placements
from rtoslab.results import PointId


@dataclass(frozen=True)
class ComparedMeasurement:
    """One measurement whose figures `rtoslab choose` compares, in all placements of its code."""

    stands_for: PointId
    points: tuple[PlannedPoint, ...]
    reason: str = ""
    """Why it cannot be measured."""
    place_matters: bool = False
    """Whether the place of its code may move its figures."""


def kernel_board_matrix_suite(root: Path) -> MeasurementSuite:
    """Returns the suite of the points that `rtoslab choose` compares: `reference/matrix/suite.toml`."""
    return read_validated_toml(root / "reference" / "matrix" / "suite.toml", MeasurementSuite)


def kernels_to_compare(catalogue: Catalogue) -> list[str]:
    """Returns the kernels that `rtoslab choose` compares and that can be built here."""
    experiments = kernel_board_matrix_suite(catalogue.root).experiments
    named = (name for experiment in experiments for name in (*experiment.kernels, *experiment.bring_your_own))
    return [name for name in dict.fromkeys(named) if name in catalogue.buildable_kernels]


def boards_to_compare(root: Path) -> list[str]:
    """Returns the boards for which `rtoslab choose` compares kernels."""
    return list(
        dict.fromkeys(
            board for experiment in kernel_board_matrix_suite(root).experiments for board in experiment.boards
        )
    )


def measurements_to_compare(
    catalogue: Catalogue, kernel: str, boards: Collection[str], placements: int
) -> list[ComparedMeasurement]:
    """Returns the measurements of one kernel on these boards that `rtoslab choose` compares. Raises PlanError,
    UnknownNameError.

    `kernel` may be one that the suite does not name, such as an earlier version.
    """
    result = []
    for experiment in kernel_board_matrix_suite(catalogue.root).experiments:
        of_kernel = experiment.model_copy(update={"kernels": (kernel,), "bring_your_own": ()})
        points = experiment_points(catalogue, of_kernel, PlanOptions())
        result += [
            _measurement_in_code_placements(catalogue, point, placements) for point in points if point.board in boards
        ]
    return result


def _measurement_in_code_placements(catalogue: Catalogue, point: PlannedPoint, placements: int) -> ComparedMeasurement:
    """Returns a point in `placements` placements of its code, or in one if the placement cannot matter."""
    replaces = identity_of_point(catalogue, point)
    if point.not_applicable is not None:
        return ComparedMeasurement(replaces, (), point.not_applicable)
    matters = may_depend_on_code_addresses(catalogue, point)
    points = repeat_plan_in_code_placements(
        catalogue, MeasurementPlan((point,), None), placements if matters else 1
    ).points
    return ComparedMeasurement(replaces, points, place_matters=matters)


def plan_of_compared_points(rows: Sequence[ComparedMeasurement]) -> MeasurementPlan:
    """Returns the plan with all points to measure for `rtoslab choose`."""
    return MeasurementPlan(tuple(point for row in rows for point in row.points), "matrix")
