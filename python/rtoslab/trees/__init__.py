"""Kernel trees that users name: their files, their origin, and drafts of their descriptions."""

from rtoslab.trees.draft import draft_kernel_tree_description
from rtoslab.trees.kernel_exports import (
    OPTIMISATIONS,
    add_kernel_export,
    find_kernel_export_tree,
    kernel_build_configuration_files,
    reason_kernel_export_is_unusable,
)
from rtoslab.trees.repositories import find_repositories
from rtoslab.trees.tree_contents import (
    kernel_tree_build_inputs_digest_text,
    linked_libraries_digest,
    missing_tree_files,
    names_of_tree_files,
    source_files_of_tree,
    store_build_inputs_from_kernel_tree,
    tree_files_of_build,
)
from rtoslab.trees.versions import reason_kernel_tree_version_mismatch, recognise_kernel_port
