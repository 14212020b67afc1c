"""Which modules of the package take part when one of them is used: what it imports, and what that imports.

What is remembered of a result must name every module that helped to make it. A list of paths forgets the next one and
is empty, without a word, once modules move; so the imports themselves are followed, in the sources and without
executing them: those at the top, those inside functions, and every package on the way. A package that looks for its
own modules (a folder that is a registration) takes part whole, and so does everything where a module is imported by a
name that only execution knows. What stands under `if TYPE_CHECKING` is never executed and does not count; of a package
that is only on the way, nor do imports inside its functions.
"""

import ast
import hashlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rtoslab.base.contents import listing, looked_at, one_look
from rtoslab.base.errors import CatalogueError

_BY_NAME = frozenset({"import_module", "__import__", "iter_modules", "walk_packages"})
"""What imports modules without an import statement, or looks for them."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_Import = ast.Import | ast.ImportFrom
Wanted = tuple[str, bool]
"""A module's name, and whether only its top level is executed."""


@cache
def sources_digest(module: str) -> str:
    """SHA-256 over the sources of a module of this package and of all that takes part with it, 64 hex digits."""
    package = Path(str(sys.modules[__name__.partition(".")[0]].__file__)).parent
    return hashlib.sha256(listing(package, module_closure(module, package).values()).encode()).hexdigest()


def module_closure(entry: str, package: Path, *others: str) -> dict[str, Path]:
    """Every module of a package that using `entry` or one of `others` may import, with its file, they among them.

    `package` is the package's folder, whose name starts the name of each module. Raises CatalogueError if it lacks one
    that is named.
    """
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
            wanted += _imported(name, path, package, only_top=only_top)
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


def _imported(name: str, path: Path, package: Path, *, only_top: bool) -> Iterator[Wanted]:
    """What a module may import; some of these are no modules, or of other packages."""
    yield name.rpartition(".")[0], True
    source = _read(path)
    is_package = path.name == "__init__.py"
    for each in source.at_top if only_top else source.anywhere:
        if isinstance(each, ast.Import):
            yield from ((alias.name, False) for alias in each.names)
            continue
        # One dot is the package that the module is in: itself, if it is one.
        above = name.split(".")[: (1 if is_package else 0) - each.level or None] if each.level else []
        base = ".".join([*above, *([each.module] if each.module else [])])
        for alias in each.names:
            part = f"{base}.{alias.name}"
            yield (part, False) if _is_module(part, package) else (base, _is_constant(alias.name, base, package))
    if source.by_name:
        whole = path.parent if is_package else package
        yield from ((_name(each, package), False) for each in whole.rglob("*.py"))


@dataclass(frozen=True, slots=True)
class _Source:
    """What is asked of a module's source. Its tree is many times as large, and not kept."""

    at_top: tuple[_Import, ...]
    """Statements that import, of those that are executed as the module is loaded."""
    anywhere: tuple[_Import, ...]
    constants: frozenset[str]
    """Names that stand for literals."""
    by_name: bool
    """Whether it may import what no statement of it names."""


def _read(path: Path) -> _Source:
    return _read_as(path, path.stat().st_mtime_ns)


@cache
def _read_as(path: Path, _: int) -> _Source:
    text = path.read_bytes()
    tree = ast.parse(text, path)
    assigned = (each for each in tree.body if isinstance(each, ast.Assign) and isinstance(each.value, ast.Constant))
    return _Source(
        tuple(each for each in _statements(tree, only_top=True) if isinstance(each, _Import)),
        tuple(each for each in _statements(tree, only_top=False) if isinstance(each, _Import)),
        frozenset(getattr(target, "id", "") for each in assigned for target in each.targets),
        _by_name(text, tree),
    )


@looked_at
def _is_constant(name: str, module: str, package: Path) -> bool:
    """Whether a module's name stands for a literal: who takes that executes no function of the module."""
    path = _file(module, package)
    return path is None or name in _read(path).constants


def _by_name(source: bytes, tree: ast.AST) -> bool:
    """Whether a module may import what no statement of it names."""
    if not any(word.encode() in source for word in _BY_NAME):
        return False  # most modules: the text says so sooner than the tree
    used = ((getattr(each, "id", None), getattr(each, "attr", None)) for each in ast.walk(tree))
    return any(name in _BY_NAME or attribute in _BY_NAME for name, attribute in used)


def _name(path: Path, package: Path) -> str:
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _statements(tree: ast.AST, *, only_top: bool) -> Iterator[ast.stmt]:
    """Every statement below, but for those that only a type checker reads. Expressions hold none."""
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        if field == "body" and isinstance(tree, ast.If) and _is_for_types(tree.test):
            continue
        for each in getattr(tree, field, ()):
            if isinstance(each, ast.stmt):
                yield each
            if not (only_top and isinstance(each, _FUNCTIONS)):
                yield from _statements(each, only_top=only_top)


def _is_for_types(test: ast.expr) -> bool:
    name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")
    return name == "TYPE_CHECKING"
