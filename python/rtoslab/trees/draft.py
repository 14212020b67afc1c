"""Drafts a tree's description by searching its files for the names that our port uses.

A port says which headers it includes, which functions are measured, and which words are in the names of folders for one
core. The folders where these are found are the kernel's, whatever the tree's layout. A draft is a proposal: the user
may edit it, and `rtoslab kernel tree check` tries it.
"""

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import Final

from rtoslab.base import CatalogueError
from rtoslab.catalogue import Kernel, KernelTreeRequirements, SourceTree, make_source_tree_description
from rtoslab.intake import read_bytes
from rtoslab.trees.repositories import version_from_git
from rtoslab.trees.versions import FILE_BYTES, MOST_FILES, names_absent_in_kernel_tree

_CODE: Final = {".c", ".s", ".S"}
_MOST_SHOWN: Final = 6


@dataclass(frozen=True, slots=True)
class _KernelSourceFileIndex:
    """Lists of the source files and headers of a kernel's source tree, relative to its root."""

    root: Path
    code: tuple[PurePosixPath, ...]
    headers: tuple[PurePosixPath, ...]


def draft_kernel_tree_description(kernel: Kernel, port: str, ident: str, path: Path, version: str | None) -> SourceTree:
    """Returns a proposal for the description of the kernel sources in `path`: which files and header folders the port
    uses.

    `ident`: the id of the new tree. `version`: None to find it in the sources. Raises CatalogueError, which names what
    was not found.
    """
    wants = kernel.tree
    if wants is None:
        raise CatalogueError(
            f"The port {port} builds its kernel from a package, because its kernel.toml has no "
            "[tree]; use another port."
        )
    index = _index_source_files(path, wants)
    cores = {core: _source_files_for_core(index, wants, words) for core, words in wants.cores.items()}
    common = _file_patterns_for_all_cores(index, kernel, wants)
    usable = {core: part for core, part in cores.items() if part["sources"]}
    if not usable:
        looked = "; ".join(f"{core}: {', '.join(words)}" for core, words in wants.cores.items())
        raise CatalogueError(
            f"No folder in {path} contains the kernel's port for one core (searched for {looked}); check the path."
        )
    headers = _find_needed_header_folders(index, wants, common)
    tree = make_source_tree_description(
        {
            "id": ident,
            "port": port,
            "path": str(path),
            "version": version or _read_version(index, wants, headers) or version_from_git(path) or "unknown",
            "sources": tuple(common),
            "headers": tuple(headers),
            "cores": usable,
        }
    )
    return tree.model_copy(update={"absent": names_absent_in_kernel_tree(kernel, tree)})


def _index_source_files(root: Path, wants: KernelTreeRequirements) -> _KernelSourceFileIndex:
    """Returns the lists of a kernel's source files and headers below `root`, without those that the port avoids.

    Raises CatalogueError for too many files, or no source file.
    """
    code, headers, seen = [], [], 0
    for base, folders, names in os.walk(root):
        folders[:] = sorted(
            folder
            for folder in folders
            if not folder.startswith(".") and not _is_name_avoided_by_kernel_port(folder, wants)
        )
        seen += len(names)
        if seen > MOST_FILES:
            raise CatalogueError(
                f"{root} contains more than {MOST_FILES:,} files; give the folder of the kernel alone."
            )
        for name in sorted(names):
            place = PurePosixPath(Path(base, name).relative_to(root).as_posix())
            if (
                place.suffix in _CODE
                and not _contains_any_word(place.stem, wants.skip)
                and not _is_name_avoided_by_kernel_port(place.stem, wants)
            ):
                code.append(place)
            elif place.suffix == ".h":
                headers.append(place)
    if not code:
        raise CatalogueError(f"There is no source file in {root}; check the path.")
    return _KernelSourceFileIndex(root, tuple(code), tuple(headers))


def _contains_any_word(name: str, words: Iterable[str]) -> bool:
    """Whether a name contains one of the words, in whichever letter case."""
    return any(word.lower() in name.lower() for word in words)


def _is_name_avoided_by_kernel_port(name: str, wants: KernelTreeRequirements) -> bool:
    """Whether the name of a folder or file is one that the port avoids, or has such a word between underscores."""
    parts = {name.lower(), *name.lower().split("_")}
    return any(pattern.lower() in parts for pattern in wants.avoid)


def _source_files_for_core(
    index: _KernelSourceFileIndex, wants: KernelTreeRequirements, words: tuple[str, ...]
) -> dict[str, tuple[str, ...]]:
    """Returns the source files and header folders for one core, as fields of `SourceTreeCompileSettings`. `words`:
    those in the paths for this core."""
    named = (
        (header, name)
        for header in index.headers
        for name in wants.headers
        if _does_include_name_match_header(header, name)
    )
    headers = dict.fromkeys(
        str(_find_header_search_folder(item, name)) for item, name in named if _does_path_contain_all_words(item, words)
    )
    return {
        "sources": tuple(str(path) for path in index.code if _does_path_contain_all_words(path, words)),
        "headers": tuple(headers),
    }


def _does_include_name_match_header(path: PurePosixPath, name: str) -> bool:
    """Whether `#include` with this name, which may have folders in front, can mean the header at this path."""
    return path.as_posix() == name or path.as_posix().endswith(f"/{name}")


def _find_header_search_folder(path: PurePosixPath, name: str) -> PurePosixPath:
    """Returns the folder in which `#include` with `name` finds the header at this path."""
    return path.parents[len(PurePosixPath(name).parts) - 1]


def _does_path_contain_all_words(path: PurePosixPath, words: tuple[str, ...]) -> bool:
    """Whether each word is a folder of the path or ends its file's name (as `_gcc`), in whichever letter case."""
    parts = [part.lower() for part in path.parts[:-1]]
    return all(word.lower() in parts or path.stem.lower().endswith(word.lower()) for word in words)


def _file_patterns_for_all_cores(
    index: _KernelSourceFileIndex, kernel: Kernel, wants: KernelTreeRequirements
) -> list[str]:
    """Returns file patterns of the fewest folders that define the measured functions for every core. Raises
    CatalogueError for a missing function.

    Functions that folders for one core define, in C or assembly, need no other folder.
    """
    names = {symbol for symbols in kernel.symbols.values() for symbol in symbols} | set(wants.also)
    own = {path for words in wants.cores.values() for path in index.code if _does_path_contain_all_words(path, words)}
    for path in own:
        text = _read_c_source_file(index.root / path)
        names -= {label.decode() for label in re.findall(rb"^[ \t]*(\w+):", text, re.MULTILINE)}
        names -= _find_defined_functions(text, names)
    headers: dict[PurePosixPath, set[str]] = {}
    for path in index.code:
        if path.suffix == ".c" and path not in own:
            headers.setdefault(path.parent, set()).update(
                _find_defined_functions(_read_c_source_file(index.root / path), names)
            )
    chosen = _folders_defining_all_functions(headers)
    if not chosen:
        raise CatalogueError(
            f"{index.root} contains none of the functions that the port of {kernel.title} calls; check the path, "
            f"or `[symbols]` and `also` in the port's kernel.toml: {_first_sorted_names_text(names)}."
        )
    missing = names.intersection(wants.also).difference(*headers.values())
    if missing:
        raise CatalogueError(f"No file in {index.root} defines {', '.join(sorted(missing))}; check the path.")
    return [
        pattern for folder in sorted(chosen, key=str) for pattern in _patterns_of_source_folder(folder, index, wants)
    ]


def _first_sorted_names_text(names: Iterable[str]) -> str:
    """Returns the first few names in order, as text for an error message."""
    ordered = sorted(names)
    return ", ".join(ordered[:_MOST_SHOWN]) + (", …" if len(ordered) > _MOST_SHOWN else "")


def _find_defined_functions(text: bytes, names: Iterable[str]) -> set[str]:
    """Returns those of the names that are functions with a body in a C source text. The result's type may be in the
    line before the name."""
    words = b"|".join(re.escape(name.encode()) for name in sorted(names))
    pattern = re.compile(rb"^(?:[A-Za-z_][^;=#\n]*?\b)?(" + words + rb")[ \t]*\(", re.MULTILINE)
    return {match[1].decode() for match in pattern.finditer(text) if _does_function_body_follow(text, match.end())}


def _folders_defining_all_functions(names_by_folder: dict[PurePosixPath, set[str]]) -> list[PurePosixPath]:
    """Returns the folders that together define all names: each time the one that defines most of those left.

    Among equal folders the least deep one is chosen.
    """
    chosen: list[PurePosixPath] = []
    covered: set[str] = set()
    while True:
        rest = {folder: names - covered for folder, names in names_by_folder.items()}
        best = min(rest, key=lambda folder: (-len(rest[folder]), len(folder.parts), str(folder)), default=None)
        if best is None or not rest[best]:
            return chosen
        chosen.append(best)
        covered |= rest[best]


def _does_function_body_follow(text: bytes, start: int) -> bool:
    """Whether a function's body follows the parameter list that begins at `start` in C source text."""
    depth = 1
    for place in range(start, min(start + 2000, len(text))):
        letter = text[place : place + 1]
        depth += (letter == b"(") - (letter == b")")
        if depth == 0:
            return re.match(rb"[^;=(]{0,200}\{", text[place + 1 : place + 300]) is not None
    return False


def _patterns_of_source_folder(
    folder: PurePosixPath, index: _KernelSourceFileIndex, wants: KernelTreeRequirements
) -> Iterator[str]:
    """Yields the pattern of a folder's source files, then a pattern for each file to leave out, which begins with
    `!`."""
    yield str(folder / "*.c")
    for path in sorted((index.root / folder).glob("*.c")):
        if _contains_any_word(path.stem, wants.skip) or _is_name_avoided_by_kernel_port(path.stem, wants):
            yield f"!{folder / path.name}"


def _find_needed_header_folders(
    index: _KernelSourceFileIndex, wants: KernelTreeRequirements, common: list[str]
) -> list[str]:
    """Returns the folder of each header that the port needs. If there are several, it is the one nearest to the
    sources. Raises CatalogueError.

    `common`: the patterns of the source files.
    """
    near = [PurePosixPath(folder.removeprefix("!")).parent for folder in common]
    folders = []
    for name in wants.headers:
        places = [
            _find_header_search_folder(header, name)
            for header in index.headers
            if _does_include_name_match_header(header, name)
        ]
        if not places:
            raise CatalogueError(f"There is no {name} in {index.root}; check the path.")
        if not any(
            _does_path_contain_all_words(path / name, words) for words in wants.cores.values() for path in places
        ):
            folders.append(str(min(places, key=lambda place: (_distance_to_nearest_folder(place, near), str(place)))))
    return list(dict.fromkeys(folders))


def _distance_to_nearest_folder(folder: PurePosixPath, near: list[PurePosixPath]) -> int:
    """Returns the number of steps in the tree from a folder to the nearest of `near`."""

    def count_path_steps_between_folders(other: PurePosixPath) -> int:
        """Returns the number of folders between `folder` and another one."""
        shared = takewhile(lambda pair: pair[0] == pair[1], zip(folder.parts, other.parts, strict=False))
        return len(folder.parts) + len(other.parts) - 2 * len(list(shared))

    return min(map(count_path_steps_between_folders, near))


def _read_version(index: _KernelSourceFileIndex, wants: KernelTreeRequirements, used_folders: list[str]) -> str:
    """Returns a kernel's version from a text or from macros in its headers. Empty if there is none.

    Headers of the used folders come first, because an old one of the same name may be elsewhere.
    """
    values = []
    headers = sorted(index.headers, key=lambda path: str(path.parent) not in used_folders)
    if wants.version_text:
        pattern = re.compile(re.escape(wants.version_text.encode()) + rb"[ \t]+([Vv]?\d[\w.+-]*)")
        texts = (
            _read_c_source_file(index.root / header)
            for header in headers
            if any(_does_include_name_match_header(header, name) for name in wants.headers)
        )
        if match := next(filter(None, map(pattern.search, texts)), None):
            return match[1].decode()
    for macro in wants.version:
        value = next(filter(None, (_macro_value(index.root / header, macro) for header in headers)), None)
        if value is None:
            return ""
        values.append(value)
    return ".".join(_split_version_number("".join(values), wants.version_digits) if wants.version_digits else values)


def _split_version_number(number: str, digits: tuple[int, ...]) -> list[str]:
    """Splits a version number without dots, such as 60401, into its parts.
    `digits`: the width of each part but the first.
    """
    parts = []
    for digit in reversed(digits):
        number, part = number[:-digit], number[-digit:]
        parts.append(part)
    return [number, *reversed(parts)]


def _macro_value(path: Path, name: str) -> str | None:
    """Returns the value of the macro `name` in a header, the last one of several words. None without the macro."""
    text = _read_c_source_file(path)
    value = rb"[ \t]+\(?\"?(?:[\w ]+ )?([\w.+-]+?)[uUlL]*\"?\)?[ \t]*(?:/|\r?$)"
    match = re.search(rb"^[ \t]*#[ \t]*define[ \t]+" + name.encode() + value, text, re.MULTILINE)
    return match[1].decode() if match else None


def _read_c_source_file(path: Path) -> bytes:
    """Returns the content of a source file or header. Raises CatalogueError."""
    return read_bytes(path, FILE_BYTES, "the source file", CatalogueError)
