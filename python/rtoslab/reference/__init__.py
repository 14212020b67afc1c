"""Reference results: kernels of the papers, measured by this project, for readers who do not have their sources."""

from rtoslab.reference.age import changed_since, out_of_date
from rtoslab.reference.reference_file import Reference, reference_path, write_reference
from rtoslab.reference.stand_ins import WORD, labelled, of_paper, references, stand_ins

__all__ = [
    "WORD",
    "Reference",
    "changed_since",
    "labelled",
    "of_paper",
    "out_of_date",
    "reference_path",
    "references",
    "stand_ins",
    "write_reference",
]
