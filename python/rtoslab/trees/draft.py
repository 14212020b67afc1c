"""A tree's description, drafted by looking into it: where what our port names is defined and declared.

A port says which headers it includes, by which functions it is measured, and by which words folders for one core are
known. The folders where these are found are the kernel's, whatever the tree's layout. A draft is a proposal: the user
may edit it, and `rtoslab tree check` tries it.
"""

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import Final

from rtoslab.base import CatalogueError
from rtoslab.catalogue import Kernel, Tree, TreeWants, tree_description
from rtoslab.intake import read_bytes
from rtoslab.trees.repositories import describe_version
from rtoslab.trees.versions import FILE_BYTES, MOST_FILES, absent_names

_CODE: Final = {".c", ".s", ".S"}
_MOST_SHOWN: Final = 6


@dataclass(frozen=True, slots=True)
class _Index:
    root: Path
    code: tuple[PurePosixPath, ...]
    headers: tuple[PurePosixPath, ...]


def draft(kernel: Kernel, port: str, ident: str, path: Path, version: str | None) -> Tree:
    """A description of the tree in `path` for a port. Raises CatalogueError naming what was not found."""
    wants = kernel.tree
    if wants is None:
        raise CatalogueError(f"The port {port} builds its kernel from a package; it says nothing of trees (`[tree]`).")
    index = _index(path, wants)
    cores = {core: _core_part(index, wants, words) for core, words in wants.cores.items()}
    common = _common(index, kernel, wants)
    usable = {core: part for core, part in cores.items() if part["sources"]}
    if not usable:
        looked = "; ".join(f"{core}: {', '.join(words)}" for core, words in wants.cores.items())
        raise CatalogueError(f"No folder in {path} holds the port for one core (looked for {looked}); check the path.")
    headers = _header_folders(index, wants, common)
    tree = tree_description(
        {
            "id": ident,
            "port": port,
            "path": str(path),
            "version": version or _version(index, wants, headers) or describe_version(path) or "unknown",
            "sources": tuple(common),
            "headers": tuple(headers),
            "cores": usable,
        }
    )
    return tree.model_copy(update={"absent": absent_names(kernel, tree)})


def _index(root: Path, wants: TreeWants) -> _Index:
    code, headers, seen = [], [], 0
    for base, folders, names in os.walk(root):
        folders[:] = sorted(
            folder for folder in folders if not folder.startswith(".") and not _is_avoided(folder, wants)
        )
        seen += len(names)
        if seen > MOST_FILES:
            raise CatalogueError(f"{root} holds more than {MOST_FILES:,} files; name the kernel's own folder.")
        for name in sorted(names):
            place = PurePosixPath(Path(base, name).relative_to(root).as_posix())
            if place.suffix in _CODE and not _has(place.stem, wants.skip) and not _is_avoided(place.stem, wants):
                code.append(place)
            elif place.suffix == ".h":
                headers.append(place)
    if not code:
        raise CatalogueError(f"There is no source file in {root}; check the path.")
    return _Index(root, tuple(code), tuple(headers))


def _has(name: str, words: Iterable[str]) -> bool:
    return any(word.lower() in name.lower() for word in words)


def _is_avoided(name: str, wants: TreeWants) -> bool:
    """Whether a folder's or file's name is, or has between underscores, one of the words to avoid."""
    parts = {name.lower(), *name.lower().split("_")}
    return any(pattern.lower() in parts for pattern in wants.avoid)


def _core_part(index: _Index, wants: TreeWants, words: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """The files for one core (`TreePart`), each by its name: those of another one may be beside them."""
    named = ((header, name) for header in index.headers for name in wants.headers if _is_called(header, name))
    headers = dict.fromkeys(str(_folder(item, name)) for item, name in named if _fits(item, words))
    return {"sources": tuple(str(path) for path in index.code if _fits(path, words)), "headers": tuple(headers)}


def _is_called(path: PurePosixPath, name: str) -> bool:
    """Whether `#include` with a name, which may begin with folders, can mean this header."""
    return path.as_posix() == name or path.as_posix().endswith(f"/{name}")


def _folder(path: PurePosixPath, name: str) -> PurePosixPath:
    """The folder of headers in which a header is found by its name."""
    return path.parents[len(PurePosixPath(name).parts) - 1]


def _fits(path: PurePosixPath, words: tuple[str, ...]) -> bool:
    """Whether each word, but for letter case, is a part of the path or the end of its file's name (`_gcc`)."""
    parts = [part.lower() for part in path.parts[:-1]]
    return all(word.lower() in parts or path.stem.lower().endswith(word.lower()) for word in words)


def _common(index: _Index, kernel: Kernel, wants: TreeWants) -> list[str]:
    """The fewest folders, for every core, in which the measured functions are defined, as patterns.

    Those that folders for one core define, in whatever language, need no other.
    """
    names = {symbol for symbols in kernel.symbols.values() for symbol in symbols} | set(wants.also)
    own = {path for words in wants.cores.values() for path in index.code if _fits(path, words)}
    for path in own:
        text = _text(index.root / path)
        names -= {label.decode() for label in re.findall(rb"^[ \t]*(\w+):", text, re.MULTILINE)}
        names -= _defined_names(text, names)
    headers: dict[PurePosixPath, set[str]] = {}
    for path in index.code:
        if path.suffix == ".c" and path not in own:
            headers.setdefault(path.parent, set()).update(_defined_names(_text(index.root / path), names))
    chosen = _covering(headers)
    if not chosen:
        raise CatalogueError(
            f"Nothing that the port of {kernel.title} calls is in {index.root}; check the path, or what `[symbols]` "
            f"and `also` of the port's kernel.toml name: {_some(names)}."
        )
    missing = names.intersection(wants.also).difference(*headers.values())
    if missing:
        raise CatalogueError(f"No file in {index.root} defines {', '.join(sorted(missing))}; check the path.")
    return [pattern for folder in sorted(chosen, key=str) for pattern in _glob(folder, index, wants)]


def _some(names: Iterable[str]) -> str:
    ordered = sorted(names)
    return ", ".join(ordered[:_MOST_SHOWN]) + (", …" if len(ordered) > _MOST_SHOWN else "")


def _defined_names(text: bytes, names: Iterable[str]) -> set[str]:
    """Those of the names that are functions with a body there."""
    words = b"|".join(re.escape(name.encode()) for name in sorted(names))
    pattern = re.compile(rb"^[A-Za-z_][^;=#\n]*?\b(" + words + rb")[ \t]*\(", re.MULTILINE)
    return {match[1].decode() for match in pattern.finditer(text) if _is_definition(text, match.end())}


def _covering(headers: dict[PurePosixPath, set[str]]) -> list[PurePosixPath]:
    """Chooses, folder by folder, the one that defines most of the names that those before it do not. Among equal ones
    the least deep one counts."""
    chosen: list[PurePosixPath] = []
    covered: set[str] = set()
    while True:
        rest = {folder: names - covered for folder, names in headers.items()}
        best = min(rest, key=lambda folder: (-len(rest[folder]), len(folder.parts), str(folder)), default=None)
        if best is None or not rest[best]:
            return chosen
        chosen.append(best)
        covered |= rest[best]


def _is_definition(text: bytes, at: int) -> bool:
    """Whether a body follows the parameters that begin at `at`."""
    depth = 1
    for place in range(at, min(at + 2000, len(text))):
        letter = text[place : place + 1]
        depth += (letter == b"(") - (letter == b")")
        if depth == 0:
            return re.match(rb"[^;=(]{0,200}\{", text[place + 1 : place + 300]) is not None
    return False


def _glob(folder: PurePosixPath, index: _Index, wants: TreeWants) -> Iterator[str]:
    yield str(folder / "*.c")
    for path in sorted((index.root / folder).glob("*.c")):
        if _has(path.stem, wants.skip) or _is_avoided(path.stem, wants):
            yield f"!{folder / path.name}"


def _header_folders(index: _Index, wants: TreeWants, common: list[str]) -> list[str]:
    """The folder of each header that is not one core's: of several the one nearest to the sources."""
    near = [PurePosixPath(folder.removeprefix("!")).parent for folder in common]
    folders = []
    for name in wants.headers:
        places = [_folder(header, name) for header in index.headers if _is_called(header, name)]
        if not places:
            raise CatalogueError(f"There is no {name} in {index.root}; check the path.")
        if not any(_fits(path / name, words) for words in wants.cores.values() for path in places):
            folders.append(str(min(places, key=lambda place: (_distance(place, near), str(place)))))
    return list(dict.fromkeys(folders))


def _distance(place: PurePosixPath, near: list[PurePosixPath]) -> int:
    def apart(other: PurePosixPath) -> int:
        shared = takewhile(lambda pair: pair[0] == pair[1], zip(place.parts, other.parts, strict=False))
        return len(place.parts) + len(other.parts) - 2 * len(list(shared))

    return min(map(apart, near))


def _version(index: _Index, wants: TreeWants, used: list[str]) -> str:
    """Returns what the text of a header says, or the values of the macros that tell it, joined by dots. Empty if they
    are not there. Headers of the folders that are used come first: an old one of the same name may lie elsewhere."""
    values = []
    headers = sorted(index.headers, key=lambda path: str(path.parent) not in used)
    if wants.version_text:
        pattern = re.compile(re.escape(wants.version_text.encode()) + rb"[ \t]+([Vv]?\d[\w.+-]*)")
        texts = (
            _text(index.root / header) for header in headers if any(_is_called(header, name) for name in wants.headers)
        )
        if match := next(filter(None, map(pattern.search, texts)), None):
            return match[1].decode()
    for macro in wants.version:
        value = next(filter(None, (_macro(index.root / header, macro) for header in headers)), None)
        if value is None:
            return ""
        values.append(value)
    return ".".join(_parts("".join(values), wants.version_digits) if wants.version_digits else values)


def _parts(number: str, digits: tuple[int, ...]) -> list[str]:
    """One number cut into its first part and those after it."""
    parts = []
    for digit in reversed(digits):
        number, part = number[:-digit], number[-digit:]
        parts.append(part)
    return [number, *reversed(parts)]


def _macro(path: Path, name: str) -> str | None:
    """Its value. The last of several words counts."""
    text = _text(path)
    value = rb"[ \t]+\(?\"?(?:[\w ]+ )?([\w.+-]+?)[uUlL]*\"?\)?[ \t]*(?:/|\r?$)"
    match = re.search(rb"^[ \t]*#[ \t]*define[ \t]+" + name.encode() + value, text, re.MULTILINE)
    return match[1].decode() if match else None


def _text(path: Path) -> bytes:
    return read_bytes(path, FILE_BYTES, "the source file", CatalogueError)
