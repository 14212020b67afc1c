"""Checks and escapes external names that become part of a file's name or of a printed line."""

import re
from typing import Final

from rtoslab.base import RtoslabError

_FILE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}")


def is_file_name(text: str) -> bool:
    """Whether a text can be the name of a file inside a folder: no separator, no leading dot, not too long."""
    return _FILE.fullmatch(text) is not None


def require_file_name(text: str, description: str, error: type[RtoslabError]) -> str:
    """Returns the text if it can be the name of a file inside a folder. Raises `error` if not. `description` names it
    ("the baseline")."""
    if not is_file_name(text):
        raise error(
            f"{description} {text[:80]!r} cannot be the name of a file; use up to 100 letters, digits and `._+-`, "
            "beginning with a letter or digit."
        )
    return text


def escape_to_one_line(text: str) -> str:
    """Returns the text on one line: an escape replaces each character that cannot be printed."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape", "surrogatepass").decode("ascii") for char in text
    )


def escape_unprintable(text: str) -> str:
    """Returns the text in which an escape replaces each character that cannot be printed, except line ends and tabs."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in "\n\t" else char.encode("unicode_escape", "surrogatepass").decode("ascii")
        for char in text
    )
