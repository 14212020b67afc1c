"""Bounds response times from a task set and a kernel's measured overheads, and checks them against execution.

`taskset` reads the tasks, `overheads` what the kernel costs, `system` puts both on one integer time base. `analysis`
bounds, `sensitivity` asks how much may grow. `fit` makes overheads from measured samples, `board_check` runs the task
set on a virtual board and sets what was observed against the bounds."""

from rtoslab.rta.analysis import analyse
from rtoslab.rta.arrange import lines_of, rows_of
from rtoslab.rta.board_check import check
from rtoslab.rta.bound_search import Bench, search, shrunk
from rtoslab.rta.charges import MODEL_NAMES, Model
from rtoslab.rta.findings import summary, write_finding
from rtoslab.rta.images import Images
from rtoslab.rta.operations import with_operations
from rtoslab.rta.overheads import Overheads, read_overheads, write_overheads
from rtoslab.rta.randomsets import SHAPES, cores_system, event_system, random_system
from rtoslab.rta.report import document, growth_tables, terminal_tables
from rtoslab.rta.system import System
from rtoslab.rta.tables import as_json
from rtoslab.rta.task_set_study import Study, study_bounds, with_growth
from rtoslab.rta.taskset import TaskSet, read_task_set
