"""Reads the rows of the calibration image: on silicon, and on the virtual board under any settings."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rtoslab.base import PlanError, RunError
from rtoslab.calibrate.calibration_table import CalibrationTable
from rtoslab.catalogue import Board, Catalogue
from rtoslab.hardware import Target, measure_whole
from rtoslab.images import CALIBRATION_IMAGE, Build, build
from rtoslab.plan import DEFAULT_WINDOW_MS, Point
from rtoslab.records import DecodedRun, constants, decode
from rtoslab.targets import (
    CHUNK_CYCLES,
    DONE_SYMBOL,
    apply_settings,
    find_address,
    load_image,
    make_machine,
    simulator_errors,
)

LIMIT_S: Final = 60
"""The limit of the board's time."""


@dataclass(frozen=True, slots=True)
class Readings:
    """Rounds of each row: id -> array of (values, rounds), cycles."""

    rows: Mapping[str, NDArray[np.int64]]

    def centres(self) -> dict[str, NDArray[np.float64]]:
        """Returns for each value the reading of most rounds. Some disturbances reach even a core with masked
        interrupts, now and then. The median where no value is said by a third of them."""
        return {name: np.array([_summary(rounds)[0] for rounds in row]) for name, row in self.rows.items()}

    def bounds(self) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Returns for each value the lowest and highest that may be the true one. That is the centre, with all
        readings at least two thirds as frequent, and down to a reading that occurred twice, because disturbances add
        cycles. Around a median it is its standard error."""
        return {
            name: (
                np.array([_summary(rounds)[1] for rounds in row]),
                np.array([_summary(rounds)[2] for rounds in row]),
            )
            for name, row in self.rows.items()
        }


def _summary(rounds: NDArray[np.int64]) -> tuple[float, float, float]:
    """Centre and bounds. The error of a median is by the median absolute deviation (1.4826 of it is a normal deviation,
    and a median's error is 1.2533 times a mean's: Rousseeuw and Croux 1993)."""
    if np.all(rounds == rounds[0]):
        return (float(rounds[0]),) * 3
    values, counts = np.unique(rounds, return_counts=True)
    often, twice = values[3 * counts >= 2 * counts.max()], values[counts >= 2]
    if 3 * counts.max() >= len(rounds):
        return float(values[np.argmax(counts)]), float(min(often[0], twice[0])), float(often[-1])
    median = float(np.median(rounds))
    error = float(1.4826 * 1.2533 * np.median(np.abs(rounds - median)) / np.sqrt(len(rounds)))
    return median, median - error, median + error


Runs = Callable[[Mapping[str, int]], Readings]
"""The virtual board's readings under settings."""


def _no_kernel(catalogue: Catalogue) -> str:
    """The folder that is no kernel: the image's program is all that runs."""
    return next(name for name, kernel in catalogue.kernels.items() if not kernel.facts.services.get("tasks", False))


def calibration_image(catalogue: Catalogue, table: CalibrationTable, board: str, clock_hz: int | None) -> Build:
    """The image for a board. Raises PlanError for one whose registers the table does not know, BuildError."""
    facts = catalogue.board(board).facts
    registers = table.registers.get(facts.chip)
    if registers is None:
        raise PlanError(
            f"The calibration has no registers for the {facts.chip} of {facts.id} yet; it knows "
            f"{', '.join(sorted(table.registers))} (firmware/calibration/calibration.toml)."
        )
    point = Point(
        benchmark=CALIBRATION_IMAGE,
        kernel=_no_kernel(catalogue),
        board=facts.id,
        cores=1,
        window_ms=DEFAULT_WINDOW_MS,
        clock_hz=clock_hz,
        params={name: str(value) for name, value in sorted(registers.model_dump().items())},
    )
    return build(catalogue, point)


def read_board(
    catalogue: Catalogue, table: CalibrationTable, built: Build, target: Target, say: Callable[[str], None]
) -> Readings:
    """Flashes the image and hears it. Raises what `hardware.measure_whole` raises, DecodeError, RunError."""
    wire = constants(catalogue.root)
    heard = measure_whole(target, built.elf, built.expected, wire, LIMIT_S, say)
    return _readings(table, decode(heard, wire, built.expected))


def virtual_runs(catalogue: Catalogue, table: CalibrationTable, built: Build, board: str) -> Runs:
    """The image on the virtual board, each combination of settings run once."""
    facts, image, wire = catalogue.board(board).facts, built.elf.read_bytes(), constants(catalogue.root)
    known: dict[tuple[tuple[str, int], ...], Readings] = {}

    def run(settings: Mapping[str, int]) -> Readings:
        key = tuple(sorted(settings.items()))
        if key not in known:
            output = _run(facts, image, settings)
            known[key] = _readings(table, decode(output, wire, built.expected))
        return known[key]

    return run


def _run(board: Board, image: bytes, settings: Mapping[str, int]) -> bytes:
    machine = make_machine(board, cores=board.cores)
    apply_settings(machine, settings)
    load_image(machine, image, CALIBRATION_IMAGE)
    output = bytearray()
    with simulator_errors(RunError):
        machine.until(find_address(machine, DONE_SYMBOL))
        while machine.cycle() < LIMIT_S * board.clock.sys_hz:
            stop = machine.run(CHUNK_CYCLES)
            output += machine.take_uart()
            if stop["reason"] != "cycles":
                return bytes(output)
    raise RunError(f"The calibration's image did not end within {LIMIT_S} s of virtual time under {dict(settings)}.")


def _readings(table: CalibrationTable, decoded: DecodedRun) -> Readings:
    values: dict[str, list[int]] = {}
    for sample in decoded.samples:
        values.setdefault(sample.metric, []).extend(sample.values)
    rows = {}
    for row in table.row:
        value = values.get(row.id)
        if value is None:
            continue
        if len(value) % row.values or not value:
            raise RunError(f"The row {row.id} sent {len(value)} values, no multiple of {row.values}; build it anew.")
        rows[row.id] = np.array(value, dtype=np.int64).reshape(row.values, -1)
    return Readings(rows)
