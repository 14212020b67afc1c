"""From a task set and a kernel's measured overheads to bounds of response times, checked against execution.

`taskset` reads the tasks, `overheads` what the kernel costs, `system` puts both on one integer time base; `analysis`
bounds, `sensitivity` asks how much may grow. `fit` makes overheads from measured samples, `check` runs the task set on
a virtual board and sets what was observed against the bounds.
"""
