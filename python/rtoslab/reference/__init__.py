"""Reference results: kernels of the papers, measured by this project, for readers who do not have their sources."""

from rtoslab.reference.age import changes_since_point_was_measured, changes_since_reference
from rtoslab.reference.code_digest import (
    add_code_digests,
    changed_firmware_files,
    compiled_firmware_files,
    oldest_code_digest_equivalent_to_file,
    store_equivalent_code_digests,
)
from rtoslab.reference.reference_file import (
    ReferenceResultsFile,
    StoredProgramSize,
    reference_file_path,
    reference_file_paths,
    write_reference_file,
)
from rtoslab.reference.sealed_lines import json_lines_with_digest, verify_and_strip_digest_line
from rtoslab.reference.stored_rows import (
    StoredPointValues,
    make_stored_row_of_code_placements,
    replace_values_by_code_placement,
    stored_row_as_json,
    stored_row_from_json,
)
from rtoslab.reference.substitutes import (
    REFERENCE_MARK,
    mark_kernels_as_reference,
    program_sizes_of_paper,
    read_reference_files,
    reference_points_for_unmeasured_kernels,
    reference_results_for_paper_kernels,
    reference_values_by_code_placement,
)
from rtoslab.reference.tree_age import source_tree_changes_since
