"""Silicon against the model: micro-benchmarks on both, and the timing rules under which both say the same.

`calibration_table` reads calibration.toml; `readings` runs the image and keeps what each row gave; `match` says how far
settings are from silicon, `search` finds those that are nearest, `settings_fit` what else would fit; `silicon_file`
keeps and reads what a user contributes; `report` shows.
"""

from rtoslab.calibrate.calibration_table import CalibrationTable, read_table_of
from rtoslab.calibrate.readings import Readings, calibration_image, read_board, virtual_runs
from rtoslab.calibrate.report import findings_table, rows_table
from rtoslab.calibrate.settings_fit import Fit, fit, unexplained
from rtoslab.calibrate.silicon_file import grades, of_fit, read_silicon, write_silicon

__all__ = [
    "CalibrationTable",
    "Fit",
    "Readings",
    "calibration_image",
    "findings_table",
    "fit",
    "grades",
    "of_fit",
    "read_board",
    "read_silicon",
    "read_table_of",
    "rows_table",
    "unexplained",
    "virtual_runs",
    "write_silicon",
]
