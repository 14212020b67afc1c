"""A user's contribution: the rows as a board measured them, the fit to them, sealed.

A file in a board's folder (`silicon.json`) makes its rules' grade `silicon` where only the default fits and no other
rule makes up for it. The seal is no signature: it finds damage, not a lie. A claim can be
computed again from the raw rounds in it (`rtoslab calibrate --from FILE`)."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from pydantic import Field, ValidationError

from rtoslab.base import (
    AlteredFileError,
    CatalogueError,
    StrictFileSchemaModel,
    __version__,
    to_canonical_json,
    write_file_atomically,
)
from rtoslab.calibrate.readings import CalibrationReadings
from rtoslab.calibrate.settings_fit import BoardTimingFitResult
from rtoslab.calibrate.silicon_figures import BoardMeasuredValues, MeasuredValueWithErrorBar
from rtoslab.catalogue import SILICON_FILE, Catalogue
from rtoslab.intake import first_validation_problem, printable_path, read_json_object
from rtoslab.targets import simulator_sources_digest, timing_settings

FORMAT: Final = 1
SILICON: Final = "silicon"
"""The grade of a rule that a board of silicon confirmed."""


class FittedTimingSettingRange(StrictFileSchemaModel):
    """The fitted value and range of one timing setting."""

    default: int
    best: int
    low: int
    high: int
    error_cycles: float = Field(ge=0)
    unexplained_cycles: float = Field(default=0, ge=0)
    """The difference beyond silicon's bounds that no value explains."""
    together: tuple[str, ...] = ()
    """Rules that compensate it: the rows show only their sum."""


class SiliconMeasuredValue(StrictFileSchemaModel):
    """A kernel figure as silicon gave it, in cycles."""

    repeats: tuple[float, ...] = Field(min_length=1)
    error_cycles: float = Field(ge=0)


class KernelMeasuredValues(StrictFileSchemaModel):
    """All kernel figures that were measured on silicon with one kernel."""

    kernel: str
    window_ms: int = Field(gt=0)
    images: dict[str, str]
    """Benchmark -> SHA-256 of the image that ran."""
    figures: dict[str, SiliconMeasuredValue]
    """Keyed by benchmark and series."""
    missing: dict[str, str]
    """Benchmark -> why it has none."""

    def kernel_values_measured_on_board(self) -> BoardMeasuredValues:
        """Returns the kernel figures as they were measured, for comparisons."""
        seen = {
            name: MeasuredValueWithErrorBar(figure.repeats, figure.error_cycles)
            for name, figure in self.figures.items()
        }
        return BoardMeasuredValues(seen, self.missing, self.images)


class SiliconCalibrationFile(StrictFileSchemaModel):
    """The content of a silicon.json: a real board's calibration rows and the fit to them."""

    format: Literal[1]
    rtoslab: str
    board: str
    chip: str
    clock_hz: int = Field(gt=0)
    about: str = Field(max_length=1000)
    """Whose board, its revision and marking, in the contributor's words."""
    image_sha256: str = Field(pattern=r"[0-9a-f]{64}")
    simulator_sha256: str
    """SHA-256 of the simulator sources whose rules were fitted."""
    rules: dict[str, FittedTimingSettingRange]
    rows: dict[str, tuple[tuple[int, ...], ...]]
    """Raw: row -> value -> rounds, cycles."""
    kernel_figures: KernelMeasuredValues | None = None
    sha256: str
    """SHA-256 of all other content."""

    def calibration_readings(self) -> CalibrationReadings:
        """Returns the raw readings of the calibration rows in this file."""
        return CalibrationReadings({name: np.array(row, dtype=np.int64) for name, row in self.rows.items()})


def kernel_values_for_silicon_file(kernel: str, window_ms: int, seen: BoardMeasuredValues) -> KernelMeasuredValues:
    """Returns a board's kernel figures as a silicon.json has them. `seen`: as measured."""
    figures = {
        name: SiliconMeasuredValue(repeats=figure.repeats, error_cycles=round(figure.error_cycles, 6))
        for name, figure in seen.figures.items()
    }
    return KernelMeasuredValues(
        kernel=kernel, window_ms=window_ms, images=dict(seen.images), figures=figures, missing=dict(seen.missing)
    )


def make_silicon_calibration_file(
    catalogue: Catalogue,
    board: str,
    clock_hz: int,
    image_sha256: str,
    about: str,
    silicon: CalibrationReadings,
    fit_result: BoardTimingFitResult,
    figures: KernelMeasuredValues | None = None,
) -> SiliconCalibrationFile:
    """Returns the content of a silicon.json for a finished calibration, with its digest. `about`: the contributor's
    words on the board."""
    body: dict[str, Any] = {
        "format": FORMAT,
        "rtoslab": __version__,
        "board": board,
        "chip": catalogue.find_board(board).facts.chip,
        "clock_hz": clock_hz,
        "about": about,
        "image_sha256": image_sha256,
        "simulator_sha256": simulator_sources_digest(catalogue.root),
        "rules": {
            finding.key: {
                "default": finding.default,
                "best": finding.best,
                "low": finding.low,
                "high": finding.high,
                "error_cycles": round(finding.error_cycles, 6),
                "unexplained_cycles": round(finding.unexplained_cycles, 6),
                "together": list(finding.together),
            }
            for finding in fit_result.findings
            if finding.has_effect
        },
        "rows": {name: row.tolist() for name, row in silicon.rows.items()},
        "kernel_figures": None if figures is None else figures.model_dump(mode="json"),
    }
    return SiliconCalibrationFile.model_validate({**body, "sha256": _content_digest(body)})


def write_silicon_calibration_file(path: Path, silicon: SiliconCalibrationFile) -> None:
    """Writes a silicon.json. Raises StoreError."""
    write_file_atomically(path, to_canonical_json(silicon.model_dump(mode="json")) + "\n", "the calibration")


def read_silicon_calibration_file(path: Path) -> SiliconCalibrationFile:
    """Returns the content of a silicon.json. Raises CatalogueError if the file has another form, AlteredFileError if it
    was changed."""
    table = read_json_object(path, "the calibration", CatalogueError)
    try:
        silicon = SiliconCalibrationFile.model_validate(table)
        for name, rows in silicon.rows.items():
            if len({len(row) for row in rows}) != 1 or not rows[0]:
                raise CatalogueError(
                    f"{printable_path(path)}, rows.{name}: its values do not all have the same number "
                    "of rounds; write the file again."
                )
    except ValidationError as cause:
        raise CatalogueError(
            f"{printable_path(path)}, {first_validation_problem(cause)}; correct or remove it."
        ) from None
    if silicon.sha256 != _content_digest({key: value for key, value in table.items() if key != "sha256"}):
        raise AlteredFileError(f"{printable_path(path)} was changed after it was written; restore it from a copy.")
    return silicon


def timing_setting_confidence_grades(catalogue: Catalogue, board: str) -> Mapping[str, str]:
    """Returns how well each timing setting of a board is known (its grade): `silicon` for those that a silicon.json
    confirms.

    Raises CatalogueError, AlteredFileError.
    """
    entry = catalogue.find_board(board)
    defaults = {key: (default, grade) for key, default, _, grade in timing_settings(entry.facts.chip)}
    grades_ = {key: grade for key, (_, grade) in defaults.items()}
    path = entry.folder / SILICON_FILE
    if path.is_file():
        silicon = read_silicon_calibration_file(path)
        if silicon.chip != entry.facts.chip:
            raise CatalogueError(
                f"{printable_path(path)} was measured on a {silicon.chip}, not on a {entry.facts.chip}; remove it."
            )
        for key, rule in silicon.rules.items():
            is_only_fit = key in defaults and rule.low == rule.high == defaults[key][0]
            if is_only_fit and not rule.together and not rule.unexplained_cycles:
                grades_[key] = SILICON
    return grades_


def _content_digest(body: Mapping[str, Any]) -> str:
    """Returns the SHA-256 of a silicon.json's content without this digest."""
    return hashlib.sha256(to_canonical_json(body).encode()).hexdigest()
