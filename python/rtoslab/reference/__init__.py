"""Reference results: kernels of the papers, measured by this project, for readers who do not have their sources."""

from rtoslab.reference.age import changes_since_point, changes_since_reference
from rtoslab.reference.code_digest import (
    add_code_digests,
    changed_firmware_files,
    compiled_firmware_files,
    oldest_equal_code_of_file_now,
    store_equal_code,
)
from rtoslab.reference.reference_file import (
    ReferenceFile,
    StoredProgramSize,
    reference_file_path,
    reference_file_paths,
    write_reference_file,
)
from rtoslab.reference.sealed_lines import lines_checked_by_seal, objects_as_sealed_lines
from rtoslab.reference.stored_rows import (
    StoredRow,
    stored_row_as_json,
    stored_row_from_json,
    stored_row_from_points,
    with_placement_values,
)
from rtoslab.reference.substitutes import (
    REFERENCE_MARK,
    mark_kernels_as_reference,
    program_sizes_of_paper,
    read_reference_files,
    reference_points_for_unmeasured,
    reference_points_of_paper,
    reference_values_by_placement,
)
from rtoslab.reference.tree_age import source_tree_changes_since
