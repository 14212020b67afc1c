"""The base of every form that a file is read with: unknown keys are refused, and a value is taken for what it is.

pydantic reads `true` as 1, 1 as `true`, "1" and 1.0 as 1. So a mistake or a damaged byte in a file would become a
number that nobody wrote. pydantic's strict mode also refuses lists for tuples and texts for choices, but TOML and JSON
have no other types for these. So only scalars are strict here. An integer may still stand for a decimal.
"""

import re
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

_SCALARS: Final = frozenset({"int", "float", "bool", "str"})
_APART: Final = frozenset({"default", "metadata", "serialization"})
"""Parts of a schema that accept or refuse no value."""
_KEY: Final = re.compile(r"0|-?[1-9][0-9]{0,18}")


def strict_schema(schema: Any) -> Any:
    """Returns a copy of a pydantic schema in which no scalar is converted to another type: no `1` for `true`, no `"1"`
    for 1."""
    if isinstance(schema, list):
        return [strict_schema(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kind = schema.get("type")
    if kind == "literal":
        return _strict_choice_schema(schema)
    if kind == "model-fields":  # by their names, which are any
        return {**schema, "fields": {name: strict_schema(item) for name, item in schema["fields"].items()}}
    result = {key: value if key in _APART else strict_schema(value) for key, value in schema.items()}
    if kind in _SCALARS:
        result["strict"] = True
    if kind == "dict" and schema.get("keys_schema", {}).get("type") == "int":
        result["keys_schema"] = core_schema.no_info_before_validator_function(_parse_integer_key, result["keys_schema"])
    return result


def _strict_choice_schema(schema: Any) -> Any:
    """Returns the pydantic schema of a choice (Literal), changed to compare types too, since Python says `True ==
    1`."""
    types = {type(option) for option in schema["expected"]}
    if types == {str}:
        return schema

    def require_type_of_choice_option(value: Any) -> Any:
        """Returns the value if its type is that of a choice. Raises ValueError."""
        if type(value) not in types:
            raise ValueError(f"it should be {' or '.join(map(repr, schema['expected']))}")
        return value

    return core_schema.no_info_before_validator_function(require_type_of_choice_option, schema)


def _parse_integer_key(key: Any) -> Any:
    """Returns a key that JSON or TOML has as text as an integer. Raises ValueError for another spelling than the usual
    one."""
    if isinstance(key, str):
        if not _KEY.fullmatch(key):
            raise ValueError("a key should be a whole number")
        return int(key)
    return key


class StrictFileSchemaModel(BaseModel):
    """Base of the models that files are read with: immutable, no unknown keys, no conversion between scalar types."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Returns pydantic's schema of the model, in which no scalar is converted."""
        schema_: CoreSchema = strict_schema(handler(source))
        return schema_
