"""A TOML file as a strict model: an unknown key is an error that names file and key; read again when it changed."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from rtoslab.base import CatalogueError, FileStamp, file_state_stamp
from rtoslab.intake import first_validation_problem, printable_path, read_toml_table

Item = TypeVar("Item", bound=BaseModel)


def read_validated_toml(path: Path, model: type[Item]) -> Item:
    """Returns the content of a TOML file, checked by a schema. Raises CatalogueError naming file and key."""
    try:
        parsed: Item = _parse_validated_toml(path, file_state_stamp(path), model)
    except (OSError, ValueError) as cause:
        reason = getattr(cause, "strerror", None) or str(cause)
        raise CatalogueError(f"Cannot read {printable_path(path)} ({reason}); check the path.") from None
    return parsed


def validate_table(table: Mapping[str, Any], source: str, model: type[Item]) -> Item:
    """Returns a table of a TOML file, checked by a schema. `source` names the file. Raises CatalogueError naming file
    and key."""
    try:
        return model.model_validate(table)
    except ValidationError as cause:
        raise CatalogueError(f"{source}, {first_validation_problem(cause)}; correct or remove it.") from None


@cache
def _parse_validated_toml(path: Path, _: FileStamp, model: type[Item]) -> Item:
    """Returns the checked content of a TOML file. The cached answer is used until the file's stamp changes."""
    return validate_table(read_toml_table(path, "the file", CatalogueError), printable_path(path), model)
