"""One text for one JSON value: what is hashed, compared and stored."""

import json
from typing import Any


def to_canonical_json(value: Any) -> str:
    """Returns a value as JSON text in ASCII, with sorted keys. The same value gives the same text."""
    return json.dumps(value, sort_keys=True, indent=1, ensure_ascii=True) + "\n"
