"""Tables as TOML text, the same values as the same bytes."""

import json
from collections.abc import Mapping, Sequence
from typing import Any


def toml_lines(table: Mapping[str, Any] | Sequence[tuple[str, Any]]) -> list[str]:
    """Returns a line of TOML for each key of a table with texts, numbers and lists of numbers."""
    return [f"{format_toml_key(key)} = {toml_value(value)}" for key, value in dict(table).items()]


def format_toml_key(key: str) -> str:
    """Returns a key as TOML writes it, with quotes only where they are needed."""
    return key if key.replace("_", "").isalnum() and key.isascii() else json.dumps(key)


def toml_value(value: str | float | Sequence[float]) -> str:
    """Returns a value as TOML writes it. A whole number has no decimal point."""
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, Sequence):
        return f"[{', '.join(toml_value(item) for item in value)}]"
    return str(int(value)) if value == int(value) else repr(value)
