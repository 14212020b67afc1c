"""Measures on connected boards. Finished points stay, and the same command continues with the rest."""

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from rtoslab.api.library import default_out
from rtoslab.base import (
    BoardResetError,
    BoardSilentError,
    FlashError,
    LineNoiseError,
    PlanError,
    PortError,
    count_text,
    find_root,
)
from rtoslab.catalogue import Catalogue
from rtoslab.hardware import (
    SILENCE_LIMIT_S,
    Target,
    choose_target,
    connected_devices,
    listen_to_board,
    measure_whole,
    read_bench,
)
from rtoslab.images import Build
from rtoslab.measure import Outcome, Runner, point_id, run_point
from rtoslab.plan import Options, Plan, Point, make_plan
from rtoslab.records import constants
from rtoslab.store import RunDirectory
from rtoslab.targets import Progress, RunOutput

_BROKEN: Final = (PortError, BoardSilentError, BoardResetError, FlashError, LineNoiseError)
"""What a desk does, and says nothing of the image."""
_RunnerOf = Callable[[Point], Runner]
_Done = tuple[Path, list[Outcome]]


def targets_of(
    catalogue: Catalogue, boards: Iterable[str], targets: str, port: str | None, bench: Path | None
) -> dict[str, Target]:
    """Returns the connected board for each named board, by `hardware.choose_target`. Raises PortError,
    CatalogueError."""
    names = [catalogue.board(board).id for board in boards]
    if not names:
        raise PlanError("Nothing is flashed without the board's name: add --board, as `rtoslab list boards` has it.")
    mapped, devices = read_bench(bench) if bench is not None else None, connected_devices()
    return {
        name: choose_target(targets, catalogue.board(name).facts, catalogue.flash_names(name), devices, port, mapped)
        for name in names
    }


def run_on_targets(
    names: Iterable[str], options: Options, targets: Mapping[str, Target], out: Path | None = None
) -> tuple[Path, list[Outcome]]:
    """Flashes, resets and hears each point's image on its board. `targets` by the boards' names.

    Raises PortError, BoardSilentError, BoardResetError, FlashError, LineNoiseError. Earlier measurements are stored."""
    catalogue = Catalogue(find_root())

    def runner(point: Point) -> Runner:
        def measure(built: Build, progress: Progress) -> RunOutput:
            progress("flashing", 0.0)
            wire, window_s = constants(catalogue.root), point.window_ms / 1000
            return RunOutput(measure_whole(targets[point.board], built.elf, built.expected, wire, window_s, _say))

        return measure

    return _run(catalogue, names, options, out, runner)


def run_on_port(
    names: Iterable[str], options: Options, port: str, out: Path | None = None
) -> tuple[Path, list[Outcome]]:
    """Measures on a real board, point by point: each image must be flashed by the user while the port is listened to.

    Says on standard error which image to flash. Raises PortError, BoardSilentError.
    """
    catalogue = Catalogue(find_root())

    def runner(point: Point) -> Runner:
        def listen(built: Build, progress: Progress) -> RunOutput:
            progress("listening", 0.0)
            board = catalogue.board(point.board).facts
            _say(f"Flash {built.elf} with {board.flash.tool} and reset the board.")
            limit_s = SILENCE_LIMIT_S + point.window_ms / 1000
            return RunOutput(listen_to_board(port, board.uart.baud, built.expected.run, limit_s))

        return listen

    return _run(catalogue, names, options, out, runner)


def readable_on_board(plan: Plan) -> Plan:
    """A real board sends counter readings. Its pin needs a logic analyser, and nothing can probe it."""
    why = "a real board's samples come from its cycle counter; choose --instrument counter"
    points = (
        replace(point, not_applicable=point.not_applicable or why)
        if point.instrument not in {None, "counter"}
        else point
        for point in plan.points
    )
    return replace(plan, points=tuple(points))


def _run(catalogue: Catalogue, names: Iterable[str], options: Options, out: Path | None, runner: _RunnerOf) -> _Done:
    listed = list(names)
    plan = readable_on_board(make_plan(catalogue, listed, options))
    folder = out or default_out(catalogue.root, plan, [*listed, "board"])
    run_folder = RunDirectory.create(folder, plan.suite, [point_id(catalogue, point) for point in plan.points])
    outcomes: list[Outcome] = []
    for point in plan.points:
        try:
            outcomes.append(run_point(catalogue, point, run_folder, runner=runner(point)))
        except _BROKEN as cause:
            done = f"{len(outcomes)} of {count_text(len(plan.points), 'point')}"
            raise type(cause)(f"{cause} {done} are kept in {folder}; the same command goes on with the rest.") from None
    return folder, outcomes


def _say(text: str) -> None:
    print(text, file=sys.stderr)  # noqa: T201
