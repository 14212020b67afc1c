"""Whether a comparison is fair: differences between the sides, and their costs.

`concepts` lists the compared conditions and reads them from a manifest. `unfairness` compares points. `costs` says
how much a
difference costs, from measured points that differ in nothing else."""

from rtoslab.parity.costs import AS_USUAL, COSTS_FILE, costs_from_runs, read_cost_file, read_costs, update_cost_file
from rtoslab.parity.subjects import has_comparable_points, lint_points, points_as_lint_subjects
from rtoslab.parity.unfairness import LintSubject, UnfairDifference, find_unfairness, group_comparable
