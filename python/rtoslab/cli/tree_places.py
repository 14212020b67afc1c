"""`rtoslab --tree ID=PATH`: another path of a known tree, for one call.

The path is stored in the tree's environment variable, so that all processes of the call see it."""

import os
from collections.abc import Iterable
from pathlib import Path

import click

from rtoslab.base import CatalogueError
from rtoslab.catalogue import kernel_tree_path_environment_variable, read_user_kernel_trees


def set_tree_path_variables(places: Iterable[str]) -> None:
    """Sets, for each ID=PATH, the environment variable by which a known source tree is searched in another folder.

    Raises CatalogueError for a tree that is not known or has several paths, UsageError for another form.
    """
    trees = read_user_kernel_trees()
    for place in places:
        ident, parts, path = place.partition("=")
        if not parts or not path:
            raise click.UsageError(f"--tree {place!r} is not understood; write --tree ID=PATH.")
        if ident not in trees:
            raise CatalogueError(f"There is no tree {ident}; add it with `rtoslab kernel tree add {ident} {path}`.")
        if trees[ident].exports:
            raise CatalogueError(
                f"The tree {ident} consists of exports, one for each board, so --tree cannot replace its folder; "
                f"add another export with `rtoslab kernel tree add {ident} {path}`."
            )
        os.environ[kernel_tree_path_environment_variable(ident)] = str(Path(path).expanduser().absolute())
