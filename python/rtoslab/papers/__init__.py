"""A published paper beside a run of ours: its figures, its claims, its slips, its conditions.

A folder `papers/<key>/` with a paper.toml is the registration. Everything a report says of a paper is there.
"""

from rtoslab.papers.compare import ComparedRow
from rtoslab.papers.completeness import require_complete
from rtoslab.papers.document import paper_document
from rtoslab.papers.experiment import missing_benchmarks, paper_plan
from rtoslab.papers.explain import (
    ChangeTrial,
    candidate_setups,
    combined_setups,
    explain_plan,
    paper_setups,
    plain_distance,
    try_changes,
)
from rtoslab.papers.in_setup import SetupResults
from rtoslab.papers.names import reader_names
from rtoslab.papers.on_terminal import print_paper
from rtoslab.papers.over_placements import with_substitutes
from rtoslab.papers.placed_plan import place_may_matter, with_needed_placements
from rtoslab.papers.reproduction import PaperReproduction, reproduce_paper
from rtoslab.papers.weights import weigh_programs
