"""Kernel trees that users name: what is read of them, where they come from, how a description is drafted."""

from rtoslab.trees.draft import draft
from rtoslab.trees.reads import contents, names_in, names_missing, read_by, remember
from rtoslab.trees.repositories import repositories

__all__ = [
    "contents",
    "draft",
    "names_in",
    "names_missing",
    "read_by",
    "remember",
    "repositories",
]
