"""An entry of the catalogue: a folder with a TOML file of its facts, found by its id."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from pydantic import BaseModel

from rtoslab.base import CatalogueError, UnknownNameError
from rtoslab.catalogue.strict_files import read_validated_toml

if TYPE_CHECKING:
    from rtoslab.catalogue.trees import SourceTree

Item = TypeVar("Item", bound=BaseModel)


@dataclass(frozen=True)
class CatalogueEntry(Generic[Item]):
    """A folder of the catalogue with its content: its name, its path and its facts."""

    id: str
    folder: Path
    facts: Item
    tree: "SourceTree | None" = None
    """The user's tree that a kernel is built from."""


def match_name_or_prefix(names: Collection[str], name: str) -> str | None:
    """Returns that one of the names which equals `name`, or the only one that begins so. None if there is none."""
    if name in names:
        return name
    short = [known for known in names if known.lower().startswith(name.lower())] if name else []
    return short[0] if len(short) == 1 else None


def find_name_or_prefix(kind: str, names: Collection[str], name: str) -> str:
    """Returns that one of the names which equals `name`, or the only one that begins so. Raises UnknownNameError with
    the `kind`."""
    match = match_name_or_prefix(names, name)
    if match is None:
        raise UnknownNameError(kind, name, names)
    return match


def find_catalogue_entry_by_prefix(
    entries: Mapping[str, CatalogueEntry[Item]], name: str
) -> CatalogueEntry[Item] | None:
    """Returns the entry whose id equals `name`, or the only one whose id begins so. None if there is none."""
    match = match_name_or_prefix(entries, name)
    return None if match is None else entries[match]


def find_catalogue_entry(kind: str, entries: Mapping[str, CatalogueEntry[Item]], name: str) -> CatalogueEntry[Item]:
    """Returns the entry whose id equals `name`, or the only one whose id begins so. Raises UnknownNameError with the
    `kind`."""
    return entries[find_name_or_prefix(kind, entries, name)]


def read_catalogue_entry(path: Path, ident: str, folder: Path, model: type[Item]) -> CatalogueEntry[Item]:
    """Returns the catalogue's entry for a TOML file. Raises CatalogueError if the file's id is not `ident`."""
    facts = read_validated_toml(path, model)
    declared = getattr(facts, "id", ident)
    if declared != ident:
        where = "is in the folder" if ident == path.parent.name else "is the file"
        raise CatalogueError(f"{path} has id = {declared!r}, but {where} {ident!r}; give both the same name.")
    return CatalogueEntry(ident, folder, facts)
