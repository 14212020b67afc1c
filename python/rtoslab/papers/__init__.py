"""A published paper beside a run of ours: its figures, its claims, its slips, its conditions.

A folder `papers/<key>/` with a paper.toml is the registration. Everything a report says of a paper is there.
"""

from rtoslab.papers.compare import ComparedFigure
from rtoslab.papers.completeness import require_consistent_paper_folder
from rtoslab.papers.document import paper_comparison_report
from rtoslab.papers.experiment import benchmarks_missing_for_paper, plan_paper_experiments
from rtoslab.papers.explain import (
    ConfigurationChangeTrial,
    alternative_configurations_of_paper,
    combine_best_changes,
    evaluate_configuration_changes,
    paper_deviation_without_setting_change,
    plan_paper_points_with_setup_changes,
    single_change_setups,
)
from rtoslab.papers.in_setup import PaperSetupResults
from rtoslab.papers.names import reader_names
from rtoslab.papers.on_terminal import print_paper_reproduction
from rtoslab.papers.over_placements import add_values_for_missing_operations
from rtoslab.papers.placed_plan import add_required_code_placements, may_depend_on_code_addresses
from rtoslab.papers.reproduction import PaperReproduction, reproduce_paper
from rtoslab.papers.weights import measure_minimal_program_sizes
