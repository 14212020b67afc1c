"""Which kernel on which board: every kernel's figures beside each other, who leads for a use, and what speaks against.

`compared_operations` says what is compared, `matrix_points` and `observed_rows` what is measured for it, `matrix_file`
keeps it, `board_comparison` finds the best of each row and over all, `answer` says it in sentences, `document` as a
report.
"""

from rtoslab.choose.answer import answer_in_sentences, partly_present_text
from rtoslab.choose.board_comparison import KernelComparison, make_comparison
from rtoslab.choose.compared_operations import ComparedOperation, OperationFile, make_choice_criteria, read_operations
from rtoslab.choose.coverage import figure_coverage_by_board, kernel_title
from rtoslab.choose.document import MARKS, kernel_choice_report, marked_median_text
from rtoslab.choose.explorer import choice_explorer_page
from rtoslab.choose.matrix_file import KernelMatrix, matrix_path, read_matrices, read_matrix, write_matrix
from rtoslab.choose.matrix_points import matrix_boards, matrix_kernels, matrix_plan, matrix_points
from rtoslab.choose.measured_matrix import board_manifests, changes_since_matrix, matrix_rows, replace_boards_of_matrix
from rtoslab.choose.observed_rows import rows_from_observation
from rtoslab.choose.own_runs import add_user_runs, kernels_section, with_kernels_section
