"""Kernel figures for `rtoslab calibrate`: measured several times on the real board, and on the virtual one."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from rtoslab.api import default_run_directory, measure_on_connected_boards, run
from rtoslab.base import PlanError, find_checkout_root, to_canonical_json
from rtoslab.calibrate import (
    BoardMeasuredValues,
    KernelFigure,
    KernelMeasuredValues,
    SiliconCalibrationFile,
    kernel_values_for_silicon_file,
    kernel_values_measured_in_runs,
    pair_silicon_and_virtual_measurements,
    read_calibration_table,
)
from rtoslab.catalogue import Catalogue
from rtoslab.hardware import ConnectedBoard
from rtoslab.plan import DEFAULT_WINDOW_MS, PlanOptions, make_measurement_plan

ALL = "all"


@dataclass(frozen=True, slots=True)
class KernelMeasurementRequest:
    """A request of `rtoslab calibrate` to measure kernel figures."""

    board: str
    kernel: str
    names: tuple[str, ...]
    window_ms: int
    repeats: int
    jobs: int
    folder: Path

    def make_measurement_plan_options(self) -> PlanOptions:
        """Returns the options of the plan by which the figures are measured.

        A real board has its own counter as the only instrument.
        """
        return PlanOptions([self.kernel], [self.board], None, self.window_ms, {"instrument": "counter"})


def make_kernel_measurement_request(
    figures: str, board: str, kernel: str, window_ms: int | None, repeats: int, jobs: int, out: Path | None
) -> KernelMeasurementRequest:
    """Returns the request to measure the kernel figures that a user names: `all`, or benchmarks and suites.

    Raises UnknownNameError, or PlanError if none of them can be measured.
    """
    root = find_checkout_root()
    catalogue = Catalogue(root)
    all_of_them = figures == ALL
    names = (
        read_calibration_table(catalogue).figures if all_of_them else tuple(part.strip() for part in figures.split(","))
    )
    request = KernelMeasurementRequest(
        board, kernel, names, window_ms or DEFAULT_WINDOW_MS, repeats, jobs, out or Path()
    )
    plan = make_measurement_plan(catalogue, names, request.make_measurement_plan_options())
    if all(point.not_applicable is not None for point in plan.points):
        raise PlanError(
            f"{figures} cannot be measured with {kernel} on {board}; choose other benchmarks with --figures."
        )
    return request if out else replace(request, folder=default_run_directory(root, plan, ["calibrate", board]))


def change_request_to_stored_calibration(
    request: KernelMeasurementRequest, silicon: SiliconCalibrationFile
) -> KernelMeasurementRequest:
    """Returns the request changed so that it measures the figures of a stored calibration. Raises PlanError if it has
    none."""
    figures = silicon.kernel_figures
    if figures is None:
        raise PlanError("This calibration has no kernel figures; leave --figures out, or measure them with --target.")
    return replace(request, kernel=figures.kernel, window_ms=figures.window_ms, names=tuple(sorted(figures.images)))


def measure_kernel_values_on_real_board(
    request: KernelMeasurementRequest, targets: Mapping[str, ConnectedBoard]
) -> KernelMeasuredValues:
    """Measures the requested kernel figures on a real board.
    Points that are in the folder already are not measured again.
    """
    runs = [request.folder / f"silicon-{number}" for number in range(1, request.repeats + 1)]
    for run_folder in runs:
        click.echo(f"Kernel figures on the real board, into {run_folder}.", err=True)
        measure_on_connected_boards(request.names, request.make_measurement_plan_options(), targets, run_folder)
    return kernel_values_for_silicon_file(request.kernel, request.window_ms, kernel_values_measured_in_runs(runs))


def compare_silicon_with_virtual_board(
    request: KernelMeasurementRequest, silicon: KernelMeasuredValues, settings: Mapping[str, int]
) -> list[KernelFigure]:
    """Measures the same kernel figures on the virtual board. Returns each beside silicon's. `settings`: those that fit
    silicon."""
    default = _measure_on_virtual_board(request, "default", {})
    # Another fit is another measurement, and a folder holds one.
    name = "fitted-" + hashlib.sha256(to_canonical_json(dict(settings)).encode()).hexdigest()[:8]
    fitted = _measure_on_virtual_board(request, name, settings) if settings else None
    return pair_silicon_and_virtual_measurements(silicon.kernel_values_measured_on_board(), default, fitted)


def _measure_on_virtual_board(
    request: KernelMeasurementRequest, name: str, settings: Mapping[str, int]
) -> BoardMeasuredValues:
    """Measures the requested kernel figures on the virtual board under these settings. `name`: of the folder for the
    run."""
    folder = request.folder / name
    click.echo(f"Kernel figures on the virtual board, into {folder}.", err=True)
    config = {"instrument": "counter", **{key: str(value) for key, value in settings.items()}}
    kernels, boards = [request.kernel], [request.board]
    run(
        *request.names,
        kernels=kernels,
        boards=boards,
        window_ms=request.window_ms,
        config=config,
        out=folder,
        jobs=request.jobs,
    )
    return kernel_values_measured_in_runs([folder])


def kernel_value_comparisons_as_json(compared: Sequence[KernelFigure], missing: Mapping[str, str]) -> dict[str, Any]:
    """Returns the kernel figures on silicon and on the virtual board as a JSON object. `missing`: benchmark ->
    reason."""
    if not compared and not missing:
        return {}
    figures = {
        figure.name: {
            "silicon_cycles": figure.silicon.median_cycles,
            "error_cycles": figure.silicon.error_cycles,
            "repeats": list(figure.silicon.repeats),
            "default_cycles": figure.default_cycles,
            "default_differs_by_cycles": figure.virtual_minus_silicon_cycles(),
            "default_differs_by_percent": figure.percent_difference_from_silicon(),
            "fitted_cycles": figure.fitted_cycles,
            "agrees_with_default": figure.is_virtual_value_within_silicon_error(),
            "agrees_with_fit": figure.is_virtual_value_within_silicon_error(fitted=True),
        }
        for figure in compared
    }
    return {"kernel_figures": figures, "kernel_figures_missing": dict(missing)}
