"""Bounds response times from a task set and a kernel's measured overheads, and checks them against execution.

`taskset` reads the tasks, `overheads` what the kernel costs, `system` puts both on one integer time base. `analysis`
bounds, `sensitivity` asks how much may grow. `fit` makes overheads from measured samples, `board_check` runs the task
set on a virtual board and sets what was observed against the bounds."""

from rtoslab.rta.analysis import compute_bounds
from rtoslab.rta.arrange import interrupt_lines, task_rows
from rtoslab.rta.board_check import check_on_board
from rtoslab.rta.bound_search import TaskSetBench, search_broken_bounds, shrink_set
from rtoslab.rta.charges import MODEL_NAMES, OverheadModel
from rtoslab.rta.findings import summarise_search, write_finding
from rtoslab.rta.images import TaskSetImages
from rtoslab.rta.operations import with_operation_costs
from rtoslab.rta.overheads import KernelOverheads, read_overheads, write_overheads
from rtoslab.rta.randomsets import (
    SHAPES,
    event_system,
    multicore_system,
    random_system,
    send_system,
    timer_system,
)
from rtoslab.rta.report import sensitivity_tables, study_document, terminal_tables
from rtoslab.rta.system import IntegerTaskSet
from rtoslab.rta.tables import study_json
from rtoslab.rta.task_set_study import TaskSetStudy, study_bounds, with_sensitivity
from rtoslab.rta.taskset import TaskSet, read_task_set
