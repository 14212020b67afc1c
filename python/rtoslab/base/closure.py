"""Which modules of the package take part when one of them is used: what it imports, and what that imports.

What is remembered of a result must name every module that helped to make it. A list of paths forgets the next one and
is empty, without a word, once modules move; so the imports themselves are followed, in the sources and without
executing them: those at the top, those inside functions, and every package on the way. A package that looks for its
own modules (a folder that is a registration) takes part whole, and so does everything where a module is imported by a
name that only execution knows. What stands under `if TYPE_CHECKING` is never executed and does not count; of a package
that is only on the way, nor do imports inside its functions.
"""

import hashlib
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

from rtoslab.base.contents import listing, looked_at, one_look
from rtoslab.base.errors import CatalogueError
from rtoslab.base.paths import find_root, results_folder
from rtoslab.base.source_notes import Source, SourceNotes

Wanted = tuple[str, bool]
"""A module's name, and whether only its top level is executed."""
_NOTES: Final = "imports.json"
"""Beside the results that are kept."""
_READ: Final[dict[tuple[Path, int], Source]] = {}
"""What was read in this process, by file and when that was written."""


@cache
def sources_digest(module: str) -> str:
    """SHA-256 over the sources of a module of this package and of all that takes part with it, 64 hex digits."""
    package = Path(str(sys.modules[__name__.partition(".")[0]].__file__)).parent
    file: Path | None = None
    with suppress(CatalogueError):  # without a checkout nothing is kept
        file = results_folder(find_root()) / _NOTES
    notes = SourceNotes(file)
    files = module_closure(module, package, notes=notes).values()
    notes.keep()
    return hashlib.sha256(listing(package, files).encode()).hexdigest()


def module_closure(entry: str, package: Path, *others: str, notes: SourceNotes | None = None) -> dict[str, Path]:
    """Every module of a package that using `entry` or one of `others` may import, with its file, they among them.

    `package` is the package's folder, whose name starts the name of each module. Raises CatalogueError if it lacks one
    that is named. What modules import is taken from `notes` where it stands there, and noted.
    """
    known = SourceNotes() if notes is None else notes
    wanted: list[Wanted] = [(each, False) for each in (entry, *others)]
    for name, _ in wanted:
        if _file(name, package) is None:
            raise CatalogueError(
                f"{package} has no module {name}, whose imports tell what a result depends on; install rtoslab again."
            )
    found: dict[str, Path] = {}
    seen: set[Wanted] = set()
    with one_look():
        while wanted:
            name, only_top = each = wanted.pop()
            path = _file(name, package)
            if path is None or each in seen or (name, False) in seen:
                continue
            seen.add(each)
            found[name] = path
            wanted += _imported(name, path, package, known, only_top=only_top)
    return found


@looked_at
def _file(name: str, package: Path) -> Path | None:
    """The file of a module; None if the package has none of that name."""
    first, *rest = name.split(".")
    if first != package.name:
        return None
    place = package.joinpath(*rest)
    candidates = (place / "__init__.py", place.with_name(f"{place.name}.py"))
    return next((each for each in candidates if each.is_file()), None)


@looked_at
def _is_module(name: str, package: Path) -> bool:
    """Whether the package has a module of that name, be it one without a source here (an extension)."""
    first, *rest = name.split(".")
    place = package.joinpath(*rest)
    return first == package.name and (place.name in _stems(place.parent) or _file(name, package) is not None)


@looked_at
def _stems(folder: Path) -> frozenset[str]:
    """What stands before the first dot in the names of a folder's files; empty if it is no folder."""
    if not folder.is_dir():
        return frozenset()
    return frozenset(each.partition(".")[0] for each in os.listdir(folder) if "." in each)  # noqa: PTH208 (names alone)


def _imported(name: str, path: Path, package: Path, notes: SourceNotes, *, only_top: bool) -> Iterator[Wanted]:
    """What a module may import; some of these are no modules, or of other packages."""
    yield name.rpartition(".")[0], True
    source = _read(path, notes)
    is_package = path.name == "__init__.py"
    for each in source.at_top if only_top else source.anywhere:
        if each.level is None:
            yield from ((one, False) for one in each.names)
            continue
        # One dot is the package that the module is in: itself, if it is one.
        above = name.split(".")[: (1 if is_package else 0) - each.level or None] if each.level else []
        base = ".".join([*above, *([each.module] if each.module else [])])
        for one in each.names:
            part = f"{base}.{one}"
            yield (part, False) if _is_module(part, package) else (base, _is_constant(one, base, package, notes))
    if source.by_name:
        whole = path.parent if is_package else package
        yield from ((_name(each, package), False) for each in whole.rglob("*.py"))


def _read(path: Path, notes: SourceNotes) -> Source:
    key = path, path.stat().st_mtime_ns
    if key not in _READ:
        _READ[key] = notes.read(path)
    return _READ[key]


def _is_constant(name: str, module: str, package: Path, notes: SourceNotes) -> bool:
    """Whether a module's name stands for a literal: who takes that executes no function of the module."""
    path = _file(module, package)
    return path is None or name in _read(path, notes).constants


def _name(path: Path, package: Path) -> str:
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
