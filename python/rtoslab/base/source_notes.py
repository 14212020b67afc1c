"""What a module's source says of imports, noted by its content.

To parse some two hundred sources takes half a second, and every process that measures needs it. So what was found is
kept in a file, under the digest of the source and of this module, which says what is looked for. The file bears its
digest: one that is missing or not whole is as none. One that cannot be written stays away.
"""

import ast
import hashlib
import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from rtoslab.base.digest_line import with_digest, without_digest
from rtoslab.base.errors import StoreError
from rtoslab.base.output_files import make_folder, write_whole

_BY_NAME = frozenset({"import_module", "__import__", "iter_modules", "walk_packages"})
"""What imports modules without an import statement, or looks for them."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_MOST = 4096
"""Sources that are noted: when there are more, those that were asked for last stay."""


@dataclass(frozen=True, slots=True)
class Import:
    """A statement that imports."""

    level: int | None
    """Dots in front of the module; None: modules themselves are imported, and not names from one."""
    module: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """What is asked of a module's source. Its tree is many times as large, and not kept."""

    at_top: tuple[Import, ...]
    """Of the statements that are executed as the module is loaded."""
    anywhere: tuple[Import, ...]
    constants: frozenset[str]
    """Names that stand for literals."""
    by_name: bool
    """Whether it may import what no statement of it names."""


@dataclass(slots=True)
class SourceNotes:
    """The file, or none."""

    file: Path | None = None
    _known: dict[str, Any] = field(init=False)
    _asked: set[str] = field(default_factory=set, init=False)
    _is_more: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._known = _kept(self.file)

    def read(self, path: Path) -> Source:
        """A module's source. Raises OSError, SyntaxError."""
        text = path.read_bytes()
        key = hashlib.sha256(_maker() + text).hexdigest()
        self._asked.add(key)
        if key in self._known:
            return _of_plain(self._known[key])
        found = _parsed(text, path)
        self._known[key], self._is_more = _plain(found), True
        return found

    def keep(self) -> None:
        """Writes what was found meanwhile."""
        if self.file is not None and self._is_more:
            if len(self._known) > _MOST:
                self._known = {key: self._known[key] for key in self._asked}
            with suppress(StoreError):  # next time it is looked for again
                make_folder(self.file.parent)
                write_whole(self.file, with_digest(json.dumps(self._known).encode()), "what modules import")


def _kept(file: Path | None) -> dict[str, Any]:
    noted = None
    if file is not None:
        with suppress(OSError):
            noted = without_digest(file.read_bytes())
    known: dict[str, Any] = {} if noted is None else json.loads(noted)
    return known


@cache
def _maker() -> bytes:
    return hashlib.sha256(Path(__file__).read_bytes()).digest()


def _plain(source: Source) -> list[Any]:
    imports = [[[each.level, each.module, each.names] for each in found] for found in (source.at_top, source.anywhere)]
    return [*imports, sorted(source.constants), source.by_name]


def _of_plain(noted: Any) -> Source:
    at_top, anywhere = (
        tuple(Import(level, module, tuple(names)) for level, module, names in found) for found in noted[:2]
    )
    return Source(at_top, anywhere, frozenset(noted[2]), bool(noted[3]))


def _parsed(text: bytes, path: Path) -> Source:
    tree = ast.parse(text, path)
    assigned = (each for each in tree.body if isinstance(each, ast.Assign) and isinstance(each.value, ast.Constant))
    return Source(
        tuple(_imports(tree, only_top=True)),
        tuple(_imports(tree, only_top=False)),
        frozenset(getattr(target, "id", "") for each in assigned for target in each.targets),
        _by_name(text, tree),
    )


def _imports(tree: ast.AST, *, only_top: bool) -> Iterator[Import]:
    for each in _statements(tree, only_top=only_top):
        if isinstance(each, ast.Import):
            yield Import(None, "", _names(each))
        elif isinstance(each, ast.ImportFrom):
            yield Import(each.level, each.module or "", _names(each))


def _names(statement: ast.Import | ast.ImportFrom) -> tuple[str, ...]:
    return tuple(alias.name for alias in statement.names)


def _by_name(source: bytes, tree: ast.AST) -> bool:
    if not any(word.encode() in source for word in _BY_NAME):
        return False  # most modules: the text says so sooner than the tree
    used = ((getattr(each, "id", None), getattr(each, "attr", None)) for each in ast.walk(tree))
    return any(name in _BY_NAME or attribute in _BY_NAME for name, attribute in used)


def _statements(tree: ast.AST, *, only_top: bool) -> Iterator[ast.stmt]:
    """Every statement below, but for those that only a type checker reads. Expressions hold none."""
    for part in ("body", "orelse", "finalbody", "handlers", "cases"):
        if part == "body" and isinstance(tree, ast.If) and _is_for_types(tree.test):
            continue
        for each in getattr(tree, part, ()):
            if isinstance(each, ast.stmt):
                yield each
            if not (only_top and isinstance(each, _FUNCTIONS)):
                yield from _statements(each, only_top=only_top)


def _is_for_types(test: ast.expr) -> bool:
    name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")
    return name == "TYPE_CHECKING"
