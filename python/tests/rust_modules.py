"""Which files of the Rust crates in `sim/` name items of which other files, read from their text.

A path leads to the file that defines the item: re-exports (`use` and `pub use`) are followed. A module and the modules
inside it name each other as Rust means them to, so that counts as no dependency. Tests inside a file are left out.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

Module = tuple[str, ...]
"""A crate's name and the modules down to one file, such as ("rtoslab_cpu", "v6m", "exec")."""

_USE = re.compile(r"\buse\s+([^;]+);")
_INLINE_PATH = re.compile(r"\b(?:[A-Za-z_]\w*::)+[A-Za-z_]\w*")
_INLINE_TESTS = re.compile(r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*mod \w+ \{")
_MOST_REEXPORTS = 8
"""Longest chain of re-exports that is followed, for a name may lead to itself."""


@dataclass
class Source:
    """One file's text, and the paths in it."""

    text: str
    names: dict[str, list[Module]] = field(default_factory=dict)
    """What a `use` brings into scope: name and paths."""
    inline: set[Module] = field(default_factory=set)
    """Paths outside of any `use`."""

    @classmethod
    def parse(cls, text: str) -> "Source":
        """Reads the paths of a file."""
        source = cls(without_tests(re.sub(r"//[^\n]*", "", text)))
        for match in _USE.finditer(source.text):
            for path, name in expand(match[1]):
                source.names.setdefault(name, []).append(path)
        rest = _USE.sub("", source.text)
        source.inline = {tuple(match[0].split("::")) for match in _INLINE_PATH.finditer(rest)}
        return source


def without_tests(text: str) -> str:
    """The text without the test modules inside it."""
    while match := _INLINE_TESTS.search(text):
        depth, end = 1, match.end()
        while depth and end < len(text):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        text = text[: match.start()] + text[end:]
    return text


def expand(tree: str, prefix: Module = ()) -> Iterator[tuple[Module, str]]:
    """Yields each path of a use tree, and the name that it has from there on."""
    group = re.fullmatch(r"((?:\w+::)*)\{(.*)\}", tree.strip(), re.DOTALL)
    if group:
        inner = prefix + tuple(part for part in group[1].split("::") if part)
        for branch in _branches(group[2]):
            yield from expand(branch, inner)
        return
    path, _, alias = (part.strip() for part in tree.strip().partition(" as "))
    parts = prefix + tuple(path.split("::"))
    parts = parts[:-1] if parts[-1] == "self" else parts
    yield parts, alias or parts[-1]


def _branches(text: str) -> Iterator[str]:
    depth, branch = 0, ""
    for character in text + ",":
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            if branch.strip():
                yield branch
            branch = ""
        else:
            branch += character


@dataclass
class Modules:
    """All crates of a folder such as `sim/`."""

    folder: Path

    @cached_property
    def sources(self) -> dict[Module, Source]:
        """Each module that is a file."""
        sources: dict[Module, Source] = {}
        for path in sorted(self.folder.glob("*/src/**/*.rs")):
            crate, _, *parts = path.relative_to(self.folder).with_suffix("").parts
            modules = [part for part in parts if part not in {"lib", "mod"}]
            if "tests" not in modules:
                sources[(f"rtoslab_{crate}", *modules)] = Source.parse(path.read_text())
        return sources

    def dependencies(self) -> dict[Module, set[Module]]:
        """Modules whose items a module names, without those that it is in and those in it."""
        result: dict[Module, set[Module]] = {}
        for module, source in self.sources.items():
            paths = {path for paths in source.names.values() for path in paths} | source.inline
            homes = {self._home(module, path) for path in paths}
            result[module] = {home for home in homes if home is not None and not _is_inside(home, module)}
        return result

    def _home(self, module: Module, path: Module, followed: int = 0) -> Module | None:
        """The module that defines what a path in this one leads to, if that is one of ours."""
        if followed > _MOST_REEXPORTS:
            return None
        whole = self._from_crate(module, path)
        if whole is None:
            return self._reexported(module, path, followed)
        length = next((length for length in range(len(whole) - 1, 0, -1) if whole[:length] in self.sources), 0)
        if not length or whole in self.sources:
            return None
        home, item = whole[:length], whole[length:]
        return self._reexported(home, item, followed) or home

    def _reexported(self, module: Module, path: Module, followed: int) -> Module | None:
        """The home of a path whose first name a `use` of this module brings into scope."""
        for first in self.sources[module].names.get(path[0], []):
            if first != path and (home := self._home(module, first + path[1:], followed + 1)):
                return home
        return None

    def _from_crate(self, module: Module, path: Module) -> Module | None:
        """The path from its crate on; `None` if a `use` or the standard library says what its first name is."""
        if path[0] == "crate":
            return (module[0], *path[1:])
        if path[0] in {"self", "super"}:
            while path and path[0] in {"self", "super"}:
                module = module[:-1] if path[0] == "super" else module
                path = path[1:]
            return module + path
        if path[0].startswith("rtoslab_"):
            return path
        return module + path if (*module, path[0]) in self.sources else None


def _is_inside(first: Module, second: Module) -> bool:
    """Whether one of two modules is the other, or inside it."""
    return first[: len(second)] == second or second[: len(first)] == first
