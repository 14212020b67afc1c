"""Which kernel on which board: every kernel's figures beside each other, who leads for a use, and what speaks against.

`compared_operations` says what is compared, `matrix_points` and `observed_rows` what is measured for it,
`matrix_file` keeps it, `board_comparison` finds the best of each row and over all, `answer` says it in sentences,
`document` as a report.
"""

from rtoslab.choose.answer import kernel_ranking_sentences
from rtoslab.choose.board_comparison import KernelComparison, compare_kernels_on_board
from rtoslab.choose.compared_operations import (
    ComparedOperation,
    ComparedOperationsFile,
    make_kernel_choice_criteria,
    read_compared_operations,
)
from rtoslab.choose.coverage import kernel_title, measurement_coverage_by_board
from rtoslab.choose.document import (
    MARKS,
    OPERATION_COLUMN,
    kernel_choice_report,
    median_text_with_table_symbols,
)
from rtoslab.choose.explorer import kernel_choice_explorer_page
from rtoslab.choose.matrix_file import (
    KernelBoardMatrix,
    kernel_board_matrix_path,
    read_kernel_board_matrix,
    read_kernel_matrices,
    write_kernel_board_matrix,
)
from rtoslab.choose.matrix_points import (
    boards_to_compare,
    kernels_to_compare,
    measurements_to_compare,
    plan_of_compared_points,
)
from rtoslab.choose.measured_matrix import (
    abridged_manifest_by_board,
    changes_since_measurement,
    kernel_board_matrix_rows,
    replace_boards_in_kernel_board_matrix,
)
from rtoslab.choose.observed_rows import value_rows_from_observed_runs
from rtoslab.choose.own_runs import (
    add_measured_values_of_user_runs,
    kernel_comparison_section,
    with_kernel_comparison_section,
)
