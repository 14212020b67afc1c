"""Kernel trees that users name: their files, their origin, and drafts of their descriptions."""

from rtoslab.trees.draft import draft_tree_description
from rtoslab.trees.kernel_exports import (
    OPTIMISATIONS,
    add_kernel_export,
    find_kernel_export,
    kernel_build_configuration_files,
    why_export_is_unusable,
)
from rtoslab.trees.repositories import find_repositories
from rtoslab.trees.tree_contents import (
    linked_libraries_digest,
    missing_tree_files,
    names_of_tree_files,
    source_files_of_tree,
    store_tree_inputs,
    tree_files_of_build,
    tree_inputs_listing,
)
from rtoslab.trees.versions import recognise_port, why_version_no_longer_fits
