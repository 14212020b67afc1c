"""Names from outside that become part of a file's name, or are in a format that has words of its own."""

import re
from typing import Final

from rtoslab.base import RtoslabError

_FILE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}")


def is_file_name(text: str) -> bool:
    """Whether a text can only be a file in the folder that it is put into: no separator, no leading dot, not long."""
    return _FILE.fullmatch(text) is not None


def file_name(text: str, what: str, error: type[RtoslabError]) -> str:
    """The text, if it can name a file in a folder and nothing else. `what` names it ("the baseline")."""
    if not is_file_name(text):
        raise error(
            f"{what} {text[:80]!r} is no name of a file; use up to 100 letters, digits and `._+-`, a letter or digit "
            "first."
        )
    return text


def one_line(text: str) -> str:
    """A text that may hold anything, on one line: what does not print is written as an escape."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape", "surrogatepass").decode("ascii") for char in text
    )


def visible(text: str) -> str:
    """A text of one or more lines in which whatever does not print is written as an escape."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in "\n\t" else char.encode("unicode_escape", "surrogatepass").decode("ascii")
        for char in text
    )
