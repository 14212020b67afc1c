"""Kernel trees that users name: their files, their origin, and drafts of their descriptions."""

from rtoslab.trees.draft import draft_description
from rtoslab.trees.kernel_exports import (
    OPTIMISATIONS,
    add_export,
    export_configuration_files,
    find_export,
    why_export_is_unusable,
)
from rtoslab.trees.repositories import find_repositories
from rtoslab.trees.tree_contents import (
    file_names,
    linked_libraries_digest,
    missing_files,
    source_files,
    store_tree_inputs,
    tree_files_of_build,
    tree_inputs_listing,
)
from rtoslab.trees.versions import recognise_port, version_problem
