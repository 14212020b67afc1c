"""Measures on connected boards. Finished points stay, and the same command continues with the rest."""

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from rtoslab.api.library import default_run_directory
from rtoslab.base import (
    BoardResetError,
    BoardSilentError,
    FlashError,
    LineNoiseError,
    PlanError,
    SerialPortError,
    count_with_noun,
    find_checkout_root,
)
from rtoslab.catalogue import Catalogue
from rtoslab.hardware import (
    SILENCE_LIMIT_S,
    ConnectedBoard,
    connected_devices,
    find_connected_board,
    listen_to_board,
    measure_real_board_with_retries,
    read_hardware_map,
)
from rtoslab.images import BuiltImage
from rtoslab.measure import MeasurementPointOutcome, Runner, identity_of_point, measure_and_store_point
from rtoslab.plan import MeasurementPlan, PlannedPoint, PlanOptions, make_measurement_plan
from rtoslab.records import read_wire_constants
from rtoslab.store import RunDirectory
from rtoslab.targets import Progress, RunOutput

_BENCH_ERRORS: Final = (SerialPortError, BoardSilentError, BoardResetError, FlashError, LineNoiseError)
"""Errors of the bench and its wiring, which say nothing of the image."""
_MakeRunner = Callable[[PlannedPoint], Runner]
_RunResult = tuple[Path, list[MeasurementPointOutcome]]


def find_target_for_each_board(
    catalogue: Catalogue, boards: Iterable[str], targets: str, port: str | None, bench: Path | None
) -> dict[str, ConnectedBoard]:
    """Returns the connected real board for each board name. `targets`: as in `hardware.find_connected_board`.

    Raises SerialPortError, CatalogueError.
    """
    names = [catalogue.find_board(board).id for board in boards]
    if not names:
        raise PlanError(
            "A real board is only flashed if its type is given; add --board with a name from `rtoslab list boards`."
        )
    mapped, devices = read_hardware_map(bench) if bench is not None else None, connected_devices()
    return {
        name: find_connected_board(
            targets,
            catalogue.find_board(name).facts,
            catalogue.chip_names_in_flash_programs(name),
            devices,
            port,
            mapped,
        )
        for name in names
    }


def measure_on_connected_boards(
    names: Iterable[str], options: PlanOptions, targets: Mapping[str, ConnectedBoard], out: Path | None = None
) -> tuple[Path, list[MeasurementPointOutcome]]:
    """Flashes each point's image onto its real board, starts it, and reads its records. `targets`: real boards by board
    name.

    Raises SerialPortError, BoardSilentError, BoardResetError, FlashError, LineNoiseError. Earlier measurements are
    stored.
    """
    catalogue = Catalogue(find_checkout_root())

    def point_runner(point: PlannedPoint) -> Runner:
        """Returns a function that measures this point on its real board."""

        def flash_and_run(built: BuiltImage, progress: Progress) -> RunOutput:
            """Flashes an image onto the real board and runs it. Returns what it sends."""
            progress("flashing", 0.0)
            wire, window_s = read_wire_constants(catalogue.root), point.window_ms / 1000
            return RunOutput(
                measure_real_board_with_retries(
                    targets[point.board], built.elf_path, built.expected, wire, window_s, _print_on_stderr
                )
            )

        return flash_and_run

    return _run_measurements_on_real_boards(catalogue, names, options, out, point_runner)


def measure_over_serial_port(
    names: Iterable[str], options: PlanOptions, port: str, out: Path | None = None
) -> tuple[Path, list[MeasurementPointOutcome]]:
    """Measures on a real board, point by point: each image must be flashed by the user while the port is listened to.

    Says on standard error which image to flash. Raises SerialPortError, BoardSilentError.
    """
    catalogue = Catalogue(find_checkout_root())

    def point_runner(point: PlannedPoint) -> Runner:
        """Returns a function that reads a run of this point from the serial port."""

        def ask_to_flash_and_listen(built: BuiltImage, progress: Progress) -> RunOutput:
            """Asks the user to flash an image. Returns what it sends."""
            progress("listening", 0.0)
            board = catalogue.find_board(point.board).facts
            _print_on_stderr(f"Flash {built.elf_path} with {board.flash.tool} and reset the board.")
            limit_s = SILENCE_LIMIT_S + point.window_ms / 1000
            return RunOutput(listen_to_board(port, board.uart.baud, built.expected.run, limit_s))

        return ask_to_flash_and_listen

    return _run_measurements_on_real_boards(catalogue, names, options, out, point_runner)


def mark_unreadable_points(plan: MeasurementPlan) -> MeasurementPlan:
    """Returns the plan, in which points that need a pin or a probe are marked as n/a: a real board sends only counter
    readings.

    Pairs of kernels are marked too, because each of their points has records of both images.
    """
    points = (
        replace(point, not_applicable=point.not_applicable or _reason_board_cannot_measure_point(point))
        for point in plan.points
    )
    return replace(plan, points=tuple(points))


def _reason_board_cannot_measure_point(point: PlannedPoint) -> str | None:
    """Returns why a point cannot be measured on a real board. None if it can."""
    if point.beside is not None:
        return "two kernels at the same time are not measured on a real board yet"
    if point.instrument not in {None, "counter"}:
        return "a real board measures latencies with its cycle counter; add --instrument counter"
    return None


def _run_measurements_on_real_boards(
    catalogue: Catalogue, names: Iterable[str], options: PlanOptions, out: Path | None, runner: _MakeRunner
) -> _RunResult:
    """Measures points, each with the function that `runner` returns for it, and stores them. Returns the run directory
    and how each ended."""
    listed = list(names)
    plan = mark_unreadable_points(make_measurement_plan(catalogue, listed, options))
    folder = out or default_run_directory(catalogue.root, plan, [*listed, "board"])
    run_folder = RunDirectory.create_run_directory(
        folder, plan.suite, [identity_of_point(catalogue, point) for point in plan.points]
    )
    outcomes: list[MeasurementPointOutcome] = []
    for point in plan.points:
        try:
            outcomes.append(measure_and_store_point(catalogue, point, run_folder, runner=runner(point)))
        except _BENCH_ERRORS as cause:
            done = f"{len(outcomes)} of {count_with_noun(len(plan.points), 'point')}"
            raise type(cause)(
                f"{cause} {done} are stored in {folder}; run the same command again to measure the rest."
            ) from None
    return folder, outcomes


def _print_on_stderr(text: str) -> None:
    """Prints a message on stderr."""
    print(text, file=sys.stderr)  # noqa: T201
