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

from rtoslab.base import CatalogueError, StrictFileSchemaModel
from rtoslab.catalogue.defaults import DEFAULT_OPT
from rtoslab.catalogue.strict_files import validate_table
from rtoslab.intake import escape_unprintable, first_validation_problem, read_toml_table

FOLDER_VARIABLE: Final = "RTOSLAB_TREES"
"""Names another folder for the descriptions."""
PATH_VARIABLE: Final = "RTOSLAB_TREE_"
"""The beginning of the variables that name another folder of a tree: the tree's id in capitals follows."""
PORTS_VARIABLE: Final = "RTOSLAB_PORTS"
"""Folders outside the checkout that hold ports, as PATH does programs."""
_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
_WORD: Final = re.compile(r"!?[^\s\",;\\$()]{1,240}")


def _require_plain_word(text: str) -> str:
    """Returns a text that is one plain word. Raises ValueError for characters that CMake would interpret."""
    if not _WORD.fullmatch(text):
        raise ValueError(
            f"{escape_unprintable(text)} must not contain spaces, commas, quotes, `;`, `$`, brackets or backslashes"
        )
    return text


def _require_path_inside_tree(text: str) -> str:
    """Returns a relative path that stays inside the tree. Raises ValueError for any other."""
    if text.removeprefix("!").startswith("/") or ".." in Path(text).parts:
        raise ValueError("it must be relative to the tree and stay inside")
    return _require_plain_word(text)


def _require_plain_text(text: str) -> str:
    """Returns a text without quotes, `;`, backslashes and line ends. Raises ValueError for any other."""
    if re.search(r'[";\\\n]', text):
        raise ValueError(f"{escape_unprintable(text)} must not contain quotes, `;`, backslashes or line ends")
    return text


def _require_valid_source_tree_id(text: str) -> str:
    """Returns a valid id of a tree. Raises ValueError for any other."""
    if not _ID.fullmatch(text):
        raise ValueError("an id is up to 40 letters, digits, `.`, `_` and `-`")
    return text


PlainWord = Annotated[str, AfterValidator(_require_plain_word)]
InsidePath = Annotated[str, AfterValidator(_require_path_inside_tree)]
PlainText = Annotated[str, AfterValidator(_require_plain_text)]


class SourceTreeCompileSettings(StrictFileSchemaModel):
    """The compiled part of a tree: file patterns (`!` before one excludes files), header folders, macros."""

    sources: tuple[InsidePath, ...] = ()
    headers: tuple[InsidePath, ...] = ()
    defines: tuple[PlainWord, ...] = ()
    flags: tuple[PlainWord, ...] = ()


class SourceTree(SourceTreeCompileSettings):
    """A kernel's source tree that a user named: the content of `<id>.toml` in the user's folder of trees."""

    id: Annotated[str, AfterValidator(_require_valid_source_tree_id)]
    """The kernel's name in `--kernel`."""
    port: PlainText
    """The folder of its port: a name in firmware/kernels or RTOSLAB_PORTS, or an absolute path."""
    path: PlainText
    """Where the tree is, absolute. Of exports the first one's."""
    version: PlainText
    lacks: tuple[PlainWord, ...] = ()
    """Services that the exports were made without."""
    absent: tuple[PlainWord, ...] = ()
    """Names that later versions of the kernel have (`[[earlier]]` of the port)."""
    exports: dict[str, PlainText] = Field(default_factory=dict)
    """For a kernel that builds itself: the folder of each export, by its purpose (`kernel_export_identifier`)."""
    linked: tuple[InsidePath, ...] = Field(default=(), exclude=True)
    """For one export: patterns of the files that are linked, or read without a compiler."""
    cores: dict[str, SourceTreeCompileSettings] = Field(default_factory=dict)
    """Keyed by a board's core, beside what is for all of them."""

    def kernel_export_as_source_tree(self, key: str, headers: tuple[str, ...], linked: tuple[str, ...]) -> "SourceTree":
        """Returns one of the kernel's exports (libraries and headers built by its own build system) as a source tree.
        `key` names it."""
        part = {"path": self.exports[key], "exports": {}, "headers": headers, "linked": linked}
        return self.model_copy(update=part)

    def compiled_tree_part_for_core(self, core: str) -> SourceTreeCompileSettings:
        """Returns the sources, headers, macros and compiler flags for a processor core."""
        own = self.cores.get(core, SourceTreeCompileSettings())
        return SourceTreeCompileSettings(
            sources=(*self.sources, *own.sources),
            headers=(*self.headers, *own.headers),
            defines=(*self.defines, *own.defines),
            flags=(*self.flags, *own.flags),
        )


def kernel_export_identifier(board: str, cores: int, opt: str = DEFAULT_OPT) -> str:
    """Returns the key of a kernel's export: board, number of cores, and the optimisation unless it is the default
    one."""
    return f"{board}-{cores}{'' if opt == DEFAULT_OPT else opt}"


def parse_kernel_export_identifier(key: str) -> tuple[str, int, str]:
    """Returns the board, the number of cores and the optimisation of an export's key."""
    place, marked, opt = key.partition("-O")
    board, _, cores = place.rpartition("-")
    return board, int(cores), f"-O{opt}" if marked else DEFAULT_OPT


def kernel_tree_descriptions_folder() -> Path:
    """Returns the folder with the descriptions of users' source trees: RTOSLAB_TREES, or in the user's
    configuration."""
    named = os.environ.get(FOLDER_VARIABLE)
    return Path(named).resolve() if named else platformdirs.user_config_path("rtoslab") / "trees"


def source_tree_description_path(ident: str) -> Path:
    """Returns the path of the description of a source tree. Raises CatalogueError for an invalid id."""
    try:
        return kernel_tree_descriptions_folder() / f"{_require_valid_source_tree_id(ident)}.toml"
    except ValueError as cause:
        raise CatalogueError(f"{escape_unprintable(ident)!r} cannot be the name of a tree: {cause}.") from None


def make_source_tree_description(facts: Mapping[str, Any]) -> SourceTree:
    """Returns a tree's description from its facts. Raises CatalogueError for names that it cannot contain."""
    try:
        return SourceTree(**facts)
    except ValidationError as cause:
        raise CatalogueError(
            f"{facts['path']} cannot be described, {first_validation_problem(cause)}; rename that file or folder, or "
            "use another tree."
        ) from None


def kernel_tree_path_environment_variable(ident: str) -> str:
    """Returns the name of the environment variable that can move a tree to another folder."""
    return PATH_VARIABLE + re.sub(r"[^A-Z0-9]", "_", ident.upper())


def read_user_kernel_trees() -> Mapping[str, SourceTree]:
    """Returns the source trees that the user named, by id. Raises CatalogueError naming the file and a remedy."""
    return {
        path.stem: read_kernel_tree_description(path)
        for path in sorted(kernel_tree_descriptions_folder().glob("*.toml"))
    }


def read_kernel_tree_description(path: Path) -> SourceTree:
    """Returns the source tree that a description file describes. The tree's environment variable, if set, gives its
    folder. Raises CatalogueError."""
    tree = validate_table(read_toml_table(path, "the tree's description", CatalogueError), str(path), SourceTree)
    if tree.id != path.stem:
        raise CatalogueError(
            f"{path} has id = {tree.id!r}, but the id must be the file's name; rename one, or run "
            "`rtoslab kernel tree add` again."
        )
    named = os.environ.get(kernel_tree_path_environment_variable(tree.id))
    if not named:
        return tree
    try:
        return tree.model_copy(update={"path": _require_plain_text(str(Path(named).absolute()))})
    except ValueError as cause:
        raise CatalogueError(
            f"{kernel_tree_path_environment_variable(tree.id)}: {cause}; set it to another folder."
        ) from None


def kernel_port_folders(root: Path) -> list[Path]:
    """Returns the folders that contain ports: the checkout's, then those of RTOSLAB_PORTS."""
    named = os.environ.get(PORTS_VARIABLE, "")
    return [root / "firmware" / "kernels", *(Path(part).absolute() for part in named.split(os.pathsep) if part)]


def kernel_tree_description_as_toml(tree: SourceTree) -> str:
    """Returns the description of a source tree as TOML, with each list on one line, as CMake needs it."""
    lines = [
        f"# The sources of `--kernel {tree.id}`. `rtoslab kernel tree check {tree.id}` tests this file after an edit.",
        *(f'{key} = "{getattr(tree, key)}"' for key in ("id", "port", "path", "version")),
        *([f"lacks = {_toml_list(tree.lacks)}"] if tree.exports else _kernel_tree_part_toml_lines(tree)),
        *([f"absent = {_toml_list(tree.absent)}"] if tree.absent else []),
    ]
    if tree.exports:
        lines += ["", "[exports]", *(f'{key} = "{path}"' for key, path in sorted(tree.exports.items()))]
    for core, part in tree.cores.items():
        lines += ["", f"[cores.{core}]", *_kernel_tree_part_toml_lines(part)]
    return "\n".join(lines) + "\n"


def _kernel_tree_part_toml_lines(part: SourceTreeCompileSettings) -> Iterable[str]:
    """Yields the TOML lines for sources, headers, macros and flags."""
    for key in ("sources", "headers", "defines", "flags"):
        yield f"{key} = {_toml_list(getattr(part, key))}"


def _toml_list(items: Iterable[str]) -> str:
    """Returns texts as a TOML list on one line."""
    return "[" + ", ".join(f'"{item}"' for item in items) + "]"
