"""Recognises by a tree's files its port, and the names of later versions that it does not have yet."""

import os
import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Final

from rtoslab.base import CatalogueError
from rtoslab.catalogue import Catalogue, CatalogueEntry, Kernel, SourceTree
from rtoslab.intake import quote_text, read_bytes

MOST_FILES: Final = 400_000
FILE_BYTES: Final = 4 << 20


def recognise_kernel_port(catalogue: Catalogue, path: Path) -> CatalogueEntry[Kernel]:
    """Returns the port that a folder of kernel sources, or an export, belongs to. Raises CatalogueError unless exactly
    one fits."""
    files = islice((name for _, _, names in os.walk(path) for name in names), MOST_FILES)
    headers = {name for name in files if name.endswith(".h")}
    ports = [
        catalogue.read_kernel_port(folder)
        for folder in sorted({kernel.folder for kernel in catalogue.kernels.values()})
    ]
    fitting = [port for port in ports if _is_source_tree_of_kernel_port(port.facts, path, headers)]
    if len(fitting) != 1:
        known = ", ".join(entry.id for entry in fitting or ports if entry.facts.tree or entry.facts.export)
        why = "more than one port fits" if fitting else "it does not contain all headers of any port"
        raise CatalogueError(
            f"The kernel in {path} cannot be recognised, because {why}; choose its port with --port, one of {known}."
        )
    return fitting[0]


def _is_source_tree_of_kernel_port(facts: Kernel, path: Path, headers: set[str]) -> bool:
    """Whether a folder is a source tree, or an export, of this port. `headers`: the names of the headers in it."""
    if facts.export is not None:
        return all((path / name).is_file() for name in (facts.export.config, facts.export.version_header))
    return facts.tree is not None and headers.issuperset(Path(header).name for header in facts.tree.headers)


def names_absent_in_kernel_tree(kernel: Kernel, tree: SourceTree) -> tuple[str, ...]:
    """Returns the names (of functions and options) of later kernel versions that no file of a source tree contains."""
    root, parts = Path(tree.path), (tree, *tree.cores.values())
    folders = {root / header for part in parts for header in part.headers}
    folders |= {(root / source.removeprefix("!")).parent for part in parts for source in part.sources}
    return _names_absent_in_files(
        kernel, [path for folder in sorted(folders) for path in sorted(folder.glob("*.[ch]"))]
    )


def api_names_absent_in_kernel_export(kernel: Kernel, headers: Iterable[Path]) -> tuple[str, ...]:
    """Returns the names (of functions and options) of later kernel versions that no header of an export contains.

    `headers`: their folders.
    """
    paths = {path for folder in headers for pattern in ("*.h", "*/*.h") for path in folder.glob(pattern)}
    return _names_absent_in_files(kernel, sorted(paths))


def api_names_added_after_version(kernel: Kernel, version: str) -> tuple[str, ...]:
    """Returns the names (of functions and options) that came only after a version of the kernel.

    Raises CatalogueError if the text is no version.
    """
    if not re.match(r"[Vv]?\d", version):
        raise CatalogueError(f"{quote_text(version)} is not a version of {kernel.title}; write numbers, such as 11.0.")
    return tuple(
        earlier.name for earlier in kernel.earlier if _version_numbers(version) < _version_numbers(earlier.since)
    )


def _version_numbers(version: str) -> tuple[int, ...]:
    """Returns the first three numbers of a version at most, by which versions are compared."""
    return tuple(int(digits) for digits in re.findall(r"\d+", version)[:3])


def _names_absent_in_files(kernel: Kernel, paths: Iterable[Path]) -> tuple[str, ...]:
    """Returns the names (of functions and options) of later kernel versions that none of these files contains."""
    names = tuple(earlier.name for earlier in kernel.earlier)
    files = [path for path in paths if path.is_file()] if names else []
    return _find_names_in_no_file(
        names, tuple((file, (state := file.stat()).st_mtime_ns, state.st_size) for file in files)
    )


@lru_cache(maxsize=64)
def _find_names_in_no_file(names: tuple[str, ...], files: tuple[tuple[Path, int, int], ...]) -> tuple[str, ...]:
    """Returns the names that none of the files contains. Files come with their time and size, so that an edited one is
    read again."""
    texts = [read_bytes(path, FILE_BYTES, "the source file", CatalogueError) for path, _, _ in files]
    return tuple(name for name in names if not any(re.search(rb"\b%b\b" % name.encode(), text) for text in texts))


def reason_kernel_tree_version_mismatch(kernel: CatalogueEntry[Kernel]) -> str | None:
    """Returns why a tree's description no longer fits the kernel version of its files, as a clause. None if it does."""
    tree = kernel.tree
    if tree is None or names_absent_in_kernel_tree(kernel.facts, tree) == tree.absent:
        return None
    again = f"`rtoslab kernel tree add {tree.id} PATH --force`"
    return f"the tree {tree.id} has another version than when it was added; add it again: {again}"
