"""Bounds response times from a task set and a kernel's measured overheads, and checks them against execution.

`taskset` reads the tasks, `overheads` what the kernel costs, `system` puts both on one integer time base. `analysis`
bounds, `sensitivity` asks how much may grow. `fit` makes overheads from measured samples, `board_check` runs the task
set on a virtual board and sets what was observed against the bounds."""

from rtoslab.rta.analysis import compute_response_time_bounds
from rtoslab.rta.arrange import image_task_rows, virtual_interrupt_lines
from rtoslab.rta.board_check import run_and_check_task_set
from rtoslab.rta.bound_search import TaskSetTestBench, search_violated_bounds, shrink_violating_task_set
from rtoslab.rta.charges import MODEL_NAMES, KernelOverheadAccountingModel
from rtoslab.rta.findings import summarise_bound_violation_search, write_bound_violation
from rtoslab.rta.images import TaskSetImages
from rtoslab.rta.operations import overheads_with_operation_costs
from rtoslab.rta.overheads import KernelOverheads, read_kernel_overheads, write_kernel_overheads
from rtoslab.rta.randomsets import (
    SHAPES,
    random_event_task_set,
    random_multicore_task_set,
    random_task_set,
    random_task_set_with_release_chains,
    random_timer_task_set,
)
from rtoslab.rta.report import sensitivity_tables_for_terminal, study_tables_for_terminal, task_set_report
from rtoslab.rta.system import IntegerTimeTaskSet
from rtoslab.rta.tables import study_as_json
from rtoslab.rta.task_set_study import TaskSetStudy, add_sensitivity_to_study, compute_task_set_study
from rtoslab.rta.taskset import TaskSet, read_task_set
