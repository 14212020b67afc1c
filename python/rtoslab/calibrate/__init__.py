"""Silicon against the model: micro-benchmarks on both, and the timing rules under which both say the same.

`calibration_table` reads calibration.toml. `readings` runs the image and keeps what each row gave. `match` says how far
settings are from silicon, `search` finds those that are nearest, `settings_fit` what else would fit. `silicon_file`
keeps and reads what a user contributes. `silicon_figures` sets kernel figures beside each other. `report` shows.
"""

from rtoslab.calibrate.calibration_table import read_calibration_table
from rtoslab.calibrate.readings import (
    CalibrationReadings,
    build_calibration_firmware,
    calibration_image_runner,
    measure_calibration_on_real_board,
    require_same_rows,
)
from rtoslab.calibrate.report import calibration_rows_table, timing_settings_table
from rtoslab.calibrate.settings_fit import (
    BoardTimingFitResult,
    calibrate_timing_settings_to_silicon,
    calibration_rows_outside_bounds,
    counter_difference_cycles,
)
from rtoslab.calibrate.silicon_figures import (
    BoardMeasuredValues,
    KernelFigure,
    kernel_values_measured_in_runs,
    pair_silicon_and_virtual_measurements,
    silicon_comparison_table,
)
from rtoslab.calibrate.silicon_file import (
    KernelMeasuredValues,
    SiliconCalibrationFile,
    kernel_values_for_silicon_file,
    make_silicon_calibration_file,
    read_silicon_calibration_file,
    timing_setting_confidence_grades,
    write_silicon_calibration_file,
)
