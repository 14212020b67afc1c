"""Whether a comparison is fair: what one side does that the other does not, and what that costs.

`concepts` says what is looked at and reads it out of a manifest, `unfairness` compares points, `costs` tells what a
difference is worth where points that differ in nothing else were measured.
"""

from rtoslab.parity.costs import AS_USUAL, COSTS_FILE, costs_from_runs, read_cost_file, read_costs, write_costs
from rtoslab.parity.subjects import comparable, lint_points, subjects_of
from rtoslab.parity.unfairness import Subject, Unfairness, alike, lint
