"""Reference results: kernels of the papers, measured by this project, for readers who do not have their sources."""

from rtoslab.reference.age import changed_since, out_of_date
from rtoslab.reference.code_digest import add_code_digests, compiled_files, today_code
from rtoslab.reference.reference_file import (
    Reference,
    StoredWeight,
    reference_path,
    reference_paths,
    write_reference,
)
from rtoslab.reference.sealed_lines import seal_lines, unseal_lines
from rtoslab.reference.stored_rows import StoredRow, in_placements, row_as_json, row_from_json, row_of_points
from rtoslab.reference.substitutes import (
    WORD,
    further_placements,
    mark_as_reference,
    of_paper,
    references,
    substitutes,
    weights_of_paper,
)
from rtoslab.reference.tree_age import tree_changes
