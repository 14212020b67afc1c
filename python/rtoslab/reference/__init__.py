"""Reference results: kernels of the papers, measured by this project, for readers who do not have their sources."""

from rtoslab.reference.age import changes_since_point, changes_since_reference
from rtoslab.reference.code_digest import add_code_digests, compiled_files, today_code
from rtoslab.reference.reference_file import (
    ReferenceFile,
    StoredWeight,
    reference_path,
    reference_paths,
    write_reference,
)
from rtoslab.reference.sealed_lines import seal_lines, unseal_lines
from rtoslab.reference.stored_rows import StoredRow, row_as_json, row_from_json, row_from_points, with_placement_values
from rtoslab.reference.substitutes import (
    REFERENCE_MARK,
    further_placements,
    mark_as_reference,
    read_references,
    reference_points_of_paper,
    substitute_points,
    weights_of_paper,
)
from rtoslab.reference.tree_age import tree_changes
