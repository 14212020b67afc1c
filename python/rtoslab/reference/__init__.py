"""Reference results: kernels of the papers, measured by this project, for readers who do not have their sources."""

from rtoslab.reference.age import changed_since, out_of_date
from rtoslab.reference.reference_file import Reference, StoredWeight, reference_path, write_reference
from rtoslab.reference.stand_ins import WORD, labelled, of_paper, references, stand_ins, weights_of_paper
from rtoslab.reference.tree_age import tree_changes

__all__ = [
    "WORD",
    "Reference",
    "StoredWeight",
    "changed_since",
    "labelled",
    "of_paper",
    "out_of_date",
    "reference_path",
    "references",
    "stand_ins",
    "tree_changes",
    "weights_of_paper",
    "write_reference",
]
