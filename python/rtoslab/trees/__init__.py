"""Kernel trees that users name: their files, their origin, and drafts of their descriptions."""

from rtoslab.trees.draft import draft_description
from rtoslab.trees.kernel_exports import OPTIMISATIONS, add_export, build_files, export_problem, find_export
from rtoslab.trees.repositories import find_repositories
from rtoslab.trees.tree_contents import (
    build_inputs,
    file_names,
    inputs_listing,
    linked_digest,
    missing_files,
    source_files,
    store_inputs,
)
from rtoslab.trees.versions import recognise_port, version_problem
