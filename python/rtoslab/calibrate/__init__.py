"""Silicon against the model: micro-benchmarks on both, and the timing rules under which both say the same.

`calibration_table` reads calibration.toml. `readings` runs the image and keeps what each row gave. `match` says how far
settings are from silicon, `search` finds those that are nearest, `settings_fit` what else would fit. `silicon_file`
keeps and reads what a user contributes. `silicon_figures` sets kernel figures beside each other. `report` shows.
"""

from rtoslab.calibrate.calibration_table import read_table_of
from rtoslab.calibrate.readings import Readings, calibration_image, read_board, virtual_runs
from rtoslab.calibrate.report import findings_table, rows_table
from rtoslab.calibrate.settings_fit import Fit, fit, unexplained_rows
from rtoslab.calibrate.silicon_figures import BoardFigures, KernelFigure, beside, board_figures, figures_table
from rtoslab.calibrate.silicon_file import (
    KernelFigures,
    Silicon,
    figures_for_file,
    grades,
    of_fit,
    read_silicon,
    write_silicon,
)
