"""Which port a tree belongs to, and which names of later versions it does not have yet: both read in its files."""

import os
import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Final

from rtoslab.base import CatalogueError
from rtoslab.catalogue import Catalogue, Entry, Kernel, Tree
from rtoslab.intake import read_bytes, shown

MOST_FILES: Final = 400_000
FILE_BYTES: Final = 4 << 20


def recognised(catalogue: Catalogue, path: Path) -> Entry[Kernel]:
    """The one port all of whose headers are in a folder, or whose export it is. Raises CatalogueError."""
    files = islice((name for _, _, names in os.walk(path) for name in names), MOST_FILES)
    there = {name for name in files if name.endswith(".h")}
    ports = [catalogue.port(folder) for folder in sorted({each.folder for each in catalogue.kernels.values()})]
    fitting = [each for each in ports if _fits(each.facts, path, there)]
    if len(fitting) != 1:
        known = ", ".join(each.id for each in fitting or ports if each.facts.tree or each.facts.export)
        why = "more than one port fits" if fitting else "no port finds all its headers there"
        raise CatalogueError(f"Whose kernel {path} is cannot be told, {why}: name it by --port, one of {known}.")
    return fitting[0]


def _fits(facts: Kernel, path: Path, headers: set[str]) -> bool:
    if facts.export is not None:
        return all((path / each).is_file() for each in (facts.export.config, facts.export.version_header))
    return facts.tree is not None and headers.issuperset(Path(each).name for each in facts.tree.headers)


def absent_names(kernel: Kernel, tree: Tree) -> tuple[str, ...]:
    """Of the port's `earlier` names those that no file has in the folders that a description names."""
    root, parts = Path(tree.path), (tree, *tree.cores.values())
    folders = {root / each for part in parts for each in part.headers}
    folders |= {(root / each.removeprefix("!")).parent for part in parts for each in part.sources}
    return _absent_in(kernel, [each for folder in sorted(folders) for each in sorted(folder.glob("*.[ch]"))])


def absent_in_export(kernel: Kernel, headers: Iterable[Path]) -> tuple[str, ...]:
    """The same of an export, by its folders of headers and the folders in these."""
    found = {each for folder in headers for pattern in ("*.h", "*/*.h") for each in folder.glob(pattern)}
    return _absent_in(kernel, sorted(found))


def earlier_names(kernel: Kernel, version: str) -> tuple[str, ...]:
    """Names that a version does not have, by what the port says they came with. Raises CatalogueError."""
    if not re.match(r"[Vv]?\d", version):
        raise CatalogueError(f"{shown(version)} is no version of {kernel.title}; say it in numbers, such as 11.0.")
    return tuple(each.name for each in kernel.earlier if _numbers(version) < _numbers(each.since))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(each) for each in re.findall(r"\d+", version)[:3])


def _absent_in(kernel: Kernel, paths: Iterable[Path]) -> tuple[str, ...]:
    names = tuple(each.name for each in kernel.earlier)
    files = [each for each in paths if each.is_file()] if names else []
    return _absent(names, tuple((each, (state := each.stat()).st_mtime_ns, state.st_size) for each in files))


@lru_cache(maxsize=64)
def _absent(names: tuple[str, ...], files: tuple[tuple[Path, int, int], ...]) -> tuple[str, ...]:
    """Files go with time and size, so that an edited one is read again."""
    texts = [read_bytes(path, FILE_BYTES, "the source file", CatalogueError) for path, _, _ in files]
    return tuple(each for each in names if not any(re.search(rb"\b%b\b" % each.encode(), text) for text in texts))


def another_version(kernel: Entry[Kernel]) -> str | None:
    """Why a description no longer holds of its tree, as a clause; None if it does."""
    tree = kernel.tree
    if tree is None or absent_names(kernel.facts, tree) == tree.absent:
        return None
    return f"the tree {tree.id} is of another version than was described: `rtoslab tree add {tree.id} PATH --force`"
