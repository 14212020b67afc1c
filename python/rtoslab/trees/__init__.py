"""Kernel trees that users name: what is read of them, where they come from, how a description is drafted."""

from rtoslab.trees.draft import draft
from rtoslab.trees.kernel_exports import OPTIMISATIONS, add_export, build_files, export_trouble, one_export
from rtoslab.trees.repositories import repositories
from rtoslab.trees.tree_contents import contents, linked_digest, names_in, names_missing, read_by, remember, sources_in
from rtoslab.trees.versions import another_version, recognise
