"""Reads the rows of the calibration image: on silicon, and on the virtual board under any settings."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rtoslab.base import PlanError, RunError, count_with_noun
from rtoslab.calibrate.calibration_table import CalibrationTable
from rtoslab.catalogue import Board, Catalogue
from rtoslab.hardware import ConnectedBoard, measure_real_board_with_retries
from rtoslab.images import CALIBRATION_IMAGE, BuiltImage, build_measurement_point_image
from rtoslab.plan import DEFAULT_WINDOW_MS, PlannedPoint
from rtoslab.records import DecodedRun, decode_records, read_wire_constants
from rtoslab.targets import (
    CHUNK_CYCLES,
    DONE_SYMBOL,
    apply_timing_settings_to_virtual_board,
    convert_simulator_errors,
    find_symbol_address,
    load_image_into_board,
    make_board_at_reset,
)

LIMIT_S: Final = 60
"""The limit of the board's time."""
_SHOWN_ROWS: Final = 3
"""The number of missing rows that an error names."""


@dataclass(frozen=True, slots=True)
class CalibrationReadings:
    """The readings of each calibration row in cycles: an array of (values, rounds) by row id."""

    rows: Mapping[str, NDArray[np.int64]]

    def most_probable_readings(self) -> dict[str, NDArray[np.float64]]:
        """Returns the most probable cycles of each value of each calibration row, by the row's id.

        This is the most frequent reading of all rounds, or their median: a few rounds are disturbed even with masked
        interrupts.
        """
        return {
            name: np.array([_calibration_reading_with_bounds(rounds)[0] for rounds in row])
            for name, row in self.rows.items()
        }

    def calibration_reading_bounds(self) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Returns, for each value of each calibration row, the lowest and the highest reading that may be true.

        That is the centre, with all readings at least two thirds as frequent, and down to a reading that occurred
        twice, because disturbances add cycles. Around a median it is its standard error.
        """
        return {
            name: (
                np.array([_calibration_reading_with_bounds(rounds)[1] for rounds in row]),
                np.array([_calibration_reading_with_bounds(rounds)[2] for rounds in row]),
            )
            for name, row in self.rows.items()
        }


def _calibration_reading_with_bounds(rounds: NDArray[np.int64]) -> tuple[float, float, float]:
    """Returns the most probable reading of a value, and the lowest and the highest one that may be true.

    The error of a median is by the median absolute deviation: 1.4826 of it is a normal deviation, and a median's error
    is 1.2533 times a mean's (Rousseeuw and Croux 1993).
    """
    if np.all(rounds == rounds[0]):
        return (float(rounds[0]),) * 3
    values, counts = np.unique(rounds, return_counts=True)
    often, twice = values[3 * counts >= 2 * counts.max()], values[counts >= 2]
    if 3 * counts.max() >= len(rounds) and len(twice):
        return float(values[np.argmax(counts)]), float(min(often[0], twice[0])), float(often[-1])
    median = float(np.median(rounds))
    error = float(1.4826 * 1.2533 * np.median(np.abs(rounds - median)) / np.sqrt(len(rounds)))
    return median, median - error, median + error


def require_same_rows(silicon: CalibrationReadings, model: CalibrationReadings) -> None:
    """Raises RunError if silicon's readings do not have the rows, values and rounds that the virtual board sends."""
    missing, unknown = sorted(set(model.rows) - set(silicon.rows)), sorted(set(silicon.rows) - set(model.rows))
    if missing or unknown:
        shown = ", ".join(missing[:_SHOWN_ROWS]) + (", …" if len(missing) > _SHOWN_ROWS else "")
        problem = (
            f"lack {len(missing)} of {count_with_noun(len(model.rows), 'row')} ({shown})"
            if missing
            else f"have the unknown row {unknown[0]}"
        )
        raise RunError(f"The readings of the real board {problem}; calibrate the board again.")
    for row, readings in silicon.rows.items():
        expected = model.rows[row].shape
        if readings.shape != expected:
            raise RunError(
                f"The row {row} of the real board has {count_with_noun(readings.shape[0], 'value')} in "
                f"{count_with_noun(readings.shape[1], 'round')}, but the calibration image sends {expected[0]} in "
                f"{expected[1]}; calibrate the board again."
            )


RunSettings = Callable[[Mapping[str, int]], CalibrationReadings]
"""Runs the virtual board under settings, and returns its readings."""


def _folder_without_kernel_name(catalogue: Catalogue) -> str:
    """Returns the name of the kernel folder that contains no kernel."""
    return next(name for name, kernel in catalogue.kernels.items() if not kernel.facts.services.get("tasks", False))


def build_calibration_firmware(
    catalogue: Catalogue, table: CalibrationTable, board: str, clock_hz: int | None
) -> BuiltImage:
    """Returns the built calibration image of a board. Raises PlanError if the table does not have its chip,
    BuildError."""
    facts = catalogue.find_board(board).facts
    registers = table.registers.get(facts.chip)
    if registers is None:
        raise PlanError(
            f"The calibration does not support the {facts.chip} of {facts.id} yet, because its registers are not "
            f"listed; it supports {', '.join(sorted(table.registers))} (firmware/calibration/calibration.toml)."
        )
    point = PlannedPoint(
        benchmark=CALIBRATION_IMAGE,
        kernel=_folder_without_kernel_name(catalogue),
        board=facts.id,
        cores=1,
        window_ms=DEFAULT_WINDOW_MS,
        clock_hz=clock_hz,
        params={name: str(value) for name, value in sorted(registers.model_dump().items())},
    )
    return build_measurement_point_image(catalogue, point)


def measure_calibration_on_real_board(
    catalogue: Catalogue, table: CalibrationTable, built: BuiltImage, target: ConnectedBoard, say: Callable[[str], None]
) -> CalibrationReadings:
    """Writes the calibration image to a real board's flash, runs it, and returns its readings. `say`: is told what
    happens.

    Raises the errors of `hardware.measure_real_board_with_retries`, DecodeError, RunError.
    """
    wire = read_wire_constants(catalogue.root)
    heard = measure_real_board_with_retries(target, built.elf_path, built.expected, wire, LIMIT_S, say)
    return _calibration_readings_of_run(table, decode_records(heard, wire, built.expected))


def calibration_image_runner(
    catalogue: Catalogue, table: CalibrationTable, built: BuiltImage, board: str
) -> RunSettings:
    """Returns a function that takes timing settings, runs the calibration image under them on the virtual board, and
    returns its readings."""
    facts, image, wire = (
        catalogue.find_board(board).facts,
        built.elf_path.read_bytes(),
        read_wire_constants(catalogue.root),
    )
    known: dict[tuple[tuple[str, int], ...], CalibrationReadings] = {}

    def run_calibration_image(settings: Mapping[str, int]) -> CalibrationReadings:
        """Returns the readings of the calibration image on the virtual board under these settings."""
        key = tuple(sorted(settings.items()))
        if key not in known:
            output = _run_image(facts, image, settings)
            known[key] = _calibration_readings_of_run(table, decode_records(output, wire, built.expected))
        return known[key]

    return run_calibration_image


def _run_image(board: Board, image: bytes, settings: Mapping[str, int]) -> bytes:
    """Runs the calibration image on the virtual board. Returns its serial output. Raises RunError if it does not
    end."""
    machine = make_board_at_reset(board, cores=board.cores)
    apply_timing_settings_to_virtual_board(machine, settings)
    load_image_into_board(machine, image, CALIBRATION_IMAGE)
    output = bytearray()
    with convert_simulator_errors(RunError):
        machine.until(find_symbol_address(machine, DONE_SYMBOL))
        while machine.cycle() < LIMIT_S * board.clock.sys_hz:
            stop = machine.run(CHUNK_CYCLES)
            output += machine.take_uart()
            if stop["reason"] != "cycles":
                return bytes(output)
    raise RunError(
        f"The calibration's image did not end within {LIMIT_S} s of virtual time with the settings {dict(settings)}."
    )


def _calibration_readings_of_run(table: CalibrationTable, decoded: DecodedRun) -> CalibrationReadings:
    """Returns the readings of each calibration row that a run reported. Raises RunError if a row does not have whole
    rounds."""
    values: dict[str, list[int]] = {}
    for sample in decoded.samples:
        values.setdefault(sample.metric, []).extend(sample.values)
    rows = {}
    for row in table.row:
        value = values.get(row.id)
        if value is None:
            continue
        if len(value) % row.values or not value:
            raise RunError(
                f"The board sent {len(value)} values for the row {row.id}, not a multiple of {row.values}; "
                "build the calibration's image again."
            )
        rows[row.id] = np.array(value, dtype=np.int64).reshape(row.values, -1)
    return CalibrationReadings(rows)
