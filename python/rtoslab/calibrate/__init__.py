"""Silicon against the model: micro-benchmarks on both, and the timing rules under which both say the same.

`table` reads firmware/calibration/calibration.toml; `readings` runs the image and keeps what each row gave; `fit`
finds the settings that fit best, with what else would fit; `silicon_file` keeps and reads what a user contributes;
`report` shows.
"""

from rtoslab.calibrate.fit import Finding, Fit, fit, unexplained
from rtoslab.calibrate.readings import Readings, Runs, calibration_image, read_board, virtual_runs
from rtoslab.calibrate.report import findings_table, rows_table
from rtoslab.calibrate.silicon_file import Silicon, grades, of_fit, read_silicon, write_silicon
from rtoslab.calibrate.table import CalibrationTable, read_table_of

__all__ = [
    "CalibrationTable",
    "Finding",
    "Fit",
    "Readings",
    "Runs",
    "Silicon",
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
