"""Kernel trees that a user named: a small description each, kept with the user's configuration, never in a checkout.

A description says where the tree is, which port of ours it belongs to, and which of its files are sources and headers.
CMake reads the same file (`firmware/cmake/KernelTree.cmake`), so lists are on one line and hold plain words.
"""

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import platformdirs
from pydantic import AfterValidator, Field, ValidationError

from rtoslab.base import CatalogueError, Strict
from rtoslab.catalogue.defaults import DEFAULT_OPT
from rtoslab.catalogue.strict_files import strictly
from rtoslab.intake import problem, read_table, visible

FOLDER_VARIABLE: Final = "RTOSLAB_TREES"
"""Names another folder for the descriptions."""
PATH_VARIABLE: Final = "RTOSLAB_TREE_"
"""With a tree's id after it, in capitals, other characters as `_`: another place of that tree."""
PORTS_VARIABLE: Final = "RTOSLAB_PORTS"
"""Folders outside the checkout that hold ports, as PATH does programs."""
_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
_WORD: Final = re.compile(r"!?[^\s\",;\\$()]{1,240}")


def _word(text: str) -> str:
    if not _WORD.fullmatch(text):
        raise ValueError(f"{visible(text)} may not hold spaces, commas, quotes, `;`, `$`, brackets or backslashes")
    return text


def _inside(text: str) -> str:
    if text.removeprefix("!").startswith("/") or ".." in Path(text).parts:
        raise ValueError("it must be relative to the tree and stay inside")
    return _word(text)


def _plain(text: str) -> str:
    if re.search(r'[";\\\n]', text):
        raise ValueError(f"{visible(text)} may not hold quotes, `;`, backslashes or line ends")
    return text


def _id(text: str) -> str:
    if not _ID.fullmatch(text):
        raise ValueError("an id is up to 40 letters, digits, `.`, `_` and `-`")
    return text


Word = Annotated[str, AfterValidator(_word)]
Inside = Annotated[str, AfterValidator(_inside)]
Plain = Annotated[str, AfterValidator(_plain)]


class TreePart(Strict):
    """The compiled part of a tree: patterns relative to it (`!` before one excludes files), header folders, macros."""

    sources: tuple[Inside, ...] = ()
    headers: tuple[Inside, ...] = ()
    defines: tuple[Word, ...] = ()
    flags: tuple[Word, ...] = ()


class Tree(TreePart):
    """`<id>.toml` in the user's folder of trees."""

    id: Annotated[str, AfterValidator(_id)]
    """What the kernel is called in `--kernel`."""
    port: Plain
    """The folder of its port: a name in firmware/kernels or RTOSLAB_PORTS, or an absolute path."""
    path: Plain
    """Where the tree is, absolute. Of exports the first one's."""
    version: Plain
    lacks: tuple[Word, ...] = ()
    """Services that the exports were made without."""
    absent: tuple[Word, ...] = ()
    """Names that later versions of the kernel have (`[[earlier]]` of the port)."""
    exports: dict[str, Plain] = Field(default_factory=dict)
    """For a kernel that builds itself: the folder of each export, by its purpose (`export_key`)."""
    linked: tuple[Inside, ...] = Field(default=(), exclude=True)
    """For one export: patterns of the files that are linked, or read without a compiler."""
    cores: dict[str, TreePart] = Field(default_factory=dict)
    """Keyed by a board's core, beside what is for all of them."""

    def of_export(self, key: str, headers: tuple[str, ...], linked: tuple[str, ...]) -> "Tree":
        """One of the exports as a tree of its own."""
        part = {"path": self.exports[key], "exports": {}, "headers": headers, "linked": linked}
        return self.model_copy(update=part)

    def part(self, core: str) -> TreePart:
        """All that is compiled for one core."""
        own = self.cores.get(core, TreePart())
        return TreePart(
            sources=(*self.sources, *own.sources),
            headers=(*self.headers, *own.headers),
            defines=(*self.defines, *own.defines),
            flags=(*self.flags, *own.flags),
        )


def export_key(board: str, cores: int, opt: str = DEFAULT_OPT) -> str:
    """Returns what an export is for. `export_place` reads it. The usual optimisation is not said."""
    return f"{board}-{cores}{'' if opt == DEFAULT_OPT else opt}"


def export_place(key: str) -> tuple[str, int, str]:
    """The board, the number of cores and the optimisation that an export is for."""
    place, marked, opt = key.partition("-O")
    board, _, cores = place.rpartition("-")
    return board, int(cores), f"-O{opt}" if marked else DEFAULT_OPT


def trees_folder() -> Path:
    """Returns the folder of descriptions: the user's configuration, or the folder that RTOSLAB_TREES names."""
    named = os.environ.get(FOLDER_VARIABLE)
    return Path(named).resolve() if named else platformdirs.user_config_path("rtoslab") / "trees"


def description_path(ident: str) -> Path:
    """The file of one tree's description. Raises CatalogueError for what can be no id."""
    try:
        return trees_folder() / f"{_id(ident)}.toml"
    except ValueError as cause:
        raise CatalogueError(f"No tree can be called {visible(ident)!r}: {cause}.") from None


def tree_description(facts: Mapping[str, Any]) -> Tree:
    """Describes the parts found in a tree. Raises CatalogueError for names that none can hold."""
    try:
        return Tree(**facts)
    except ValidationError as cause:
        raise CatalogueError(
            f"{facts['path']} cannot be described, {problem(cause)}; rename what is called so, or name another folder."
        ) from None


def path_variable(ident: str) -> str:
    """The environment variable that names another place of a tree."""
    return PATH_VARIABLE + re.sub(r"[^A-Z0-9]", "_", ident.upper())


def read_trees() -> Mapping[str, Tree]:
    """Reads the trees by id. Raises CatalogueError naming the file and what to do."""
    return {path.stem: read_tree(path) for path in sorted(trees_folder().glob("*.toml"))}


def read_tree(path: Path) -> Tree:
    """One description, with the path that the environment names instead. Raises CatalogueError."""
    tree = strictly(read_table(path, "the tree's description", CatalogueError), str(path), Tree)
    if tree.id != path.stem:
        raise CatalogueError(f"{path} says id = {tree.id!r}; make it the file's name, or `rtoslab tree add` it again.")
    named = os.environ.get(path_variable(tree.id))
    if not named:
        return tree
    try:
        return tree.model_copy(update={"path": _plain(str(Path(named).absolute()))})
    except ValueError as cause:
        raise CatalogueError(f"{path_variable(tree.id)}: {cause}; name another folder.") from None


def port_folders(root: Path) -> list[Path]:
    """Folders that hold ports: the checkout's first, then those of RTOSLAB_PORTS."""
    named = os.environ.get(PORTS_VARIABLE, "")
    return [root / "firmware" / "kernels", *(Path(part).absolute() for part in named.split(os.pathsep) if part)]


def tree_text(tree: Tree) -> str:
    """The description as TOML that CMake reads too: each list on one line."""
    lines = [
        f"# What `--kernel {tree.id}` is built from. Edit it as you like; `rtoslab tree check {tree.id}` tries it.",
        *(f'{key} = "{getattr(tree, key)}"' for key in ("id", "port", "path", "version")),
        *([f"lacks = {_toml_list(tree.lacks)}"] if tree.exports else _part_lines(tree)),
        *([f"absent = {_toml_list(tree.absent)}"] if tree.absent else []),
    ]
    if tree.exports:
        lines += ["", "[exports]", *(f'{key} = "{path}"' for key, path in sorted(tree.exports.items()))]
    for core, part in tree.cores.items():
        lines += ["", f"[cores.{core}]", *_part_lines(part)]
    return "\n".join(lines) + "\n"


def _part_lines(part: TreePart) -> Iterable[str]:
    for key in ("sources", "headers", "defines", "flags"):
        yield f"{key} = {_toml_list(getattr(part, key))}"


def _toml_list(items: Iterable[str]) -> str:
    return "[" + ", ".join(f'"{item}"' for item in items) + "]"
