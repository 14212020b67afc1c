"""Whether a comparison is fair: differences between the sides, and their costs.

`concepts` lists the compared conditions and reads them from a manifest. `unfairness` compares points. `costs` says
how much a
difference costs, from measured points that differ in nothing else."""

from rtoslab.parity.costs import (
    AS_USUAL,
    COSTS_FILE,
    configuration_costs_from_points,
    read_configuration_change_costs,
    read_cost_file,
    update_configuration_cost_file,
)
from rtoslab.parity.subjects import find_unfair_differences, has_comparable_points, label_points_for_comparison
from rtoslab.parity.unfairness import (
    ComparedMeasuredPoint,
    UnfairDifference,
    group_comparable_measurements,
    unfair_differences_in_groups,
)
