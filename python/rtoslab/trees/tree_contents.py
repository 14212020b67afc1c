"""Which files of a tree an image was made of: what the compiler itself says it read, headers included.

The trap: a list of sources says nothing of headers, so that an edited header gives the old number. The read files are
known only after a build, so they are stored by the request, and their present content is part of the image's key. A
file that is new among the headers' folders may come before another, so their names are in the key, too."""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from rtoslab.base import BuildError, Strict, canonical, listing, make_folder, write_whole
from rtoslab.catalogue import Tree, path_variable
from rtoslab.intake import read_object

_UNREAD: Final = "unread"


class _Reads(Strict):
    files: tuple[str, ...]


def names_in(tree: Tree, core: str) -> str:
    """Returns what could be read: the names, without content, of all files in the folders of sources and headers."""
    root, part = Path(tree.path), tree.part(core)
    folders = {root / header.removeprefix("!") for header in part.headers}
    folders |= {(root / source.removeprefix("!")).parent for source in (*part.sources, *tree.linked)}
    result = {
        (Path(base) / name).relative_to(root).as_posix()
        for folder in folders
        for base, _, names in os.walk(folder)
        for name in names
    }
    return "\n".join(sorted(result))


def sources_in(tree: Tree, core: str) -> tuple[str, ...]:
    """The files that a description's patterns stand for, for one core. Relative to the tree, in order."""
    root, files = Path(tree.path), set[str]()
    patterns = tree.part(core).sources
    for pattern in sorted(patterns, key=lambda inside: inside.startswith("!")):  # what is left out comes last
        matches = {path.relative_to(root).as_posix() for path in root.glob(pattern.removeprefix("!"))}
        files = files - matches if pattern.startswith("!") else files | matches
    return tuple(sorted(files))


def linked_digest(tree: Tree) -> str:
    """Returns SHA-256 of the files of an export that images are linked with: names and contents."""
    root = Path(tree.path)
    files = sorted({path for name in tree.linked for path in root.glob(name) if path.is_file()})
    return hashlib.sha256(listing(root, files).encode()).hexdigest()


def names_missing(tree: Tree, core: str | None = None) -> list[str]:
    """A sentence for each pattern or folder of a description, of one core or of all, that names nothing. First for the
    tree itself."""
    root = Path(tree.path)
    if tree.exports:
        gone = [path for path in tree.exports.values() if not Path(path).is_dir()]
        return [f"There is no folder {path}, an export of {tree.id}." for path in gone]
    if not root.is_dir():
        return [f"The tree {tree.id} is not at {tree.path}; {path_variable(tree.id)} names another place for one call."]
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


def contents(tree: Tree, cache: Path) -> str:
    """Returns what the files hold now that were read when this was built last. A word of its own if it never was.

    A file that is gone is said to be, which gives another key."""
    files = load_files(cache)
    if files is None:
        return _UNREAD
    root = Path(tree.path)
    present = [file for file in files if (root / file).is_file()]
    gone = sorted(set(files) - set(present))
    return listing(root, [root / path for path in present]) + "".join(f"{path} gone\n" for path in gone)


def load_files(cache: Path) -> tuple[str, ...] | None:
    """The files, relative to the tree. None if nothing readable is there."""
    try:
        return _Reads.model_validate(read_object(cache, "what was read of a tree", BuildError)).files
    except (BuildError, ValidationError):
        return None


def remember(cache: Path, files: tuple[str, ...]) -> None:
    """Raises StoreError."""
    make_folder(cache.parent)
    write_whole(cache, canonical({"files": files}), "what was read of a tree")


def read_by(read: Iterable[str], tree: Tree) -> tuple[str, ...]:
    """Files of the tree that a build linked, or that are among those its compilers read. Relative to it, in order.

    Raises BuildError if it read none.
    """
    root = Path(os.path.normpath(tree.path)).as_posix() + "/"
    files = {item[len(root) :] for item in read if item.startswith(root)}
    files |= {path.relative_to(root).as_posix() for name in tree.linked for path in Path(root).glob(name)}
    if not files:
        raise BuildError(
            f"No file of the tree {tree.id} was compiled; its description names the wrong ones: "
            f"`rtoslab tree check {tree.id}` tries it."
        )
    return tuple(sorted(files))
