"""The files of a tree that an image was built from, as the compiler reports them, headers included.

A list of sources does not name headers, so an edited header would give the old number. The files are known only after a
build, so a cache file per request stores them, and their present content is part of the image's key. A new file in a
headers' folder may hide another, so the names of all files are in the key, too."""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from rtoslab.base import (
    BuildError,
    StrictFileSchemaModel,
    listing_of_file_hashes,
    make_folder,
    to_canonical_json,
    write_file_atomically,
)
from rtoslab.catalogue import SourceTree, kernel_tree_path_environment_variable
from rtoslab.intake import read_json_object

_UNREAD: Final = "unread"


class _ReadFilesCache(StrictFileSchemaModel):
    """The cache file that lists the files which the last build read from a tree."""

    files: tuple[str, ...]


def names_of_tree_files(tree: SourceTree, core: str) -> str:
    """Returns the names of all files in the folders of sources and headers for one core, one on each line."""
    root, part = Path(tree.path), tree.compiled_tree_part_for_core(core)
    folders = {root / header.removeprefix("!") for header in part.headers}
    folders |= {(root / source.removeprefix("!")).parent for source in (*part.sources, *tree.linked)}
    result = {
        (Path(base) / name).relative_to(root).as_posix()
        for folder in folders
        for base, _, names in os.walk(folder)
        for name in names
    }
    return "\n".join(sorted(result))


def source_files_of_tree(tree: SourceTree, core: str) -> tuple[str, ...]:
    """Returns the source files that a tree's description names for one core, relative to the tree and in order."""
    root, files = Path(tree.path), set[str]()
    patterns = tree.compiled_tree_part_for_core(core).sources
    for pattern in sorted(patterns, key=lambda inside: inside.startswith("!")):  # exclusions come last
        matches = {path.relative_to(root).as_posix() for path in root.glob(pattern.removeprefix("!"))}
        files = files - matches if pattern.startswith("!") else files | matches
    return tuple(sorted(files))


def linked_libraries_digest(tree: SourceTree) -> str:
    """Returns a SHA-256 over the names and contents of the libraries that images are linked with."""
    root = Path(tree.path)
    files = sorted({path for name in tree.linked for path in root.glob(name) if path.is_file()})
    return hashlib.sha256(listing_of_file_hashes(root, files).encode()).hexdigest()


def missing_tree_files(tree: SourceTree, core: str | None = None) -> list[str]:
    """Returns a sentence for each pattern or folder in a tree's description that matches nothing.

    `core`: only its part and the common one are checked. If the tree itself is missing, that is the only sentence.
    """
    root = Path(tree.path)
    if tree.exports:
        gone = [path for path in tree.exports.values() if not Path(path).is_dir()]
        return [f"There is no folder {path}, an export of {tree.id}." for path in gone]
    if not root.is_dir():
        return [
            (
                f"The tree {tree.id} is not at {tree.path}; set "
                f"{kernel_tree_path_environment_variable(tree.id)} to its folder."
            )
        ]
    missing = []
    cores = {name: part for name, part in tree.cores.items() if core in (None, name)}
    for where, part in (("", tree), *((f" (for {name})", part) for name, part in cores.items())):
        present = {source: any(root.glob(source.removeprefix("!"))) for source in part.sources}
        missing += [
            f"No file is {source}{where}." for source in part.sources if not present[source] and source[0] != "!"
        ]
        left = (source[1:] for source in part.sources if not present[source] and source[0] == "!")
        missing += [f"No file is {item}, which is to be left out{where}." for item in left]
        missing += [f"There is no folder {header}{where}." for header in part.headers if not (root / header).is_dir()]
    return missing


def kernel_tree_build_inputs_digest_text(tree: SourceTree, cache: Path) -> str:
    """Returns the names of the tree's files that the last build read, with digests of their present content, as text.

    A file that no longer exists is listed as gone, which gives another key. Without a build it is a fixed word.
    `cache`: the file of `load_build_inputs_from_kernel_tree`.
    """
    files = load_build_inputs_from_kernel_tree(cache)
    if files is None:
        return _UNREAD
    root = Path(tree.path)
    present = [file for file in files if (root / file).is_file()]
    gone = sorted(set(files) - set(present))
    return listing_of_file_hashes(root, [root / path for path in present]) + "".join(f"{path} gone\n" for path in gone)


def load_build_inputs_from_kernel_tree(cache: Path) -> tuple[str, ...] | None:
    """Returns the names of the tree's files that the last build read, from a file that lists them.

    None if there is no such file, or it cannot be read.
    """
    try:
        return _ReadFilesCache.model_validate(
            read_json_object(cache, "the list of files that were read from a tree", BuildError)
        ).files
    except (BuildError, ValidationError):
        return None


def store_build_inputs_from_kernel_tree(cache: Path, files: tuple[str, ...]) -> None:
    """Stores the names of the tree's files that a build read in the file `cache`. Raises StoreError."""
    make_folder(cache.parent)
    write_file_atomically(cache, to_canonical_json({"files": files}), "the list of files that were read from a tree")


def tree_files_of_build(paths: Iterable[str], tree: SourceTree) -> tuple[str, ...]:
    """Returns those of the files a build read that belong to the tree, and its linked libraries. They are relative to
    it and in order.

    Raises BuildError if it read none.
    """
    root = Path(os.path.normpath(tree.path)).as_posix() + "/"
    files = {item[len(root) :] for item in paths if item.startswith(root)}
    files |= {path.relative_to(root).as_posix() for name in tree.linked for path in Path(root).glob(name)}
    if not files:
        raise BuildError(
            f"No file of the tree {tree.id} was compiled, because its description lists the wrong files; run "
            f"`rtoslab kernel tree check {tree.id}`."
        )
    return tuple(sorted(files))
