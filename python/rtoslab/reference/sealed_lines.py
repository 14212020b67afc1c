"""Lines of JSON, with the SHA-256 of all of them in the last line, which reveals an edit by hand."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from rtoslab.intake import parse_json_object

_SEAL: Final = "sha256"


def object_as_json_line(value: Mapping[str, Any]) -> str:
    """Returns an object as one line of JSON. The same object gives the same line."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True) + "\n"


def json_lines_with_digest(objects: Iterable[Mapping[str, Any]]) -> str:
    """Returns the objects as lines of JSON, followed by a line with their digest."""
    text = "".join(object_as_json_line(object_) for object_ in objects)
    return text + object_as_json_line({_SEAL: _text_digest(text)})


def verify_and_strip_digest_line(text: str) -> list[str]:
    """Returns the lines before the last one, which has their digest. Raises ValueError if the digest is not theirs."""
    *lines, seal = text.splitlines(keepends=True) or [""]
    if parse_json_object(seal) != {_SEAL: _text_digest("".join(lines))}:
        raise ValueError("its checksum does not match")
    return lines


def _text_digest(text: str) -> str:
    """Returns the SHA-256 of a text, as hex digits."""
    return hashlib.sha256(text.encode()).hexdigest()
