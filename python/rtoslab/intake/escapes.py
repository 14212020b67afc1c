"""Text from outside in a format that has words of its own: shown as it is, and nothing else.

A benchmark's failure quotes what a board sent, a configuration what a user typed, a symbol's name what a compiler took:
none of it may become HTML in a Markdown report, a formula in a sheet, or an end to an XML document.
"""

import re
from typing import Final

from rtoslab.intake.names import one_line

_MARKDOWN: Final = {**{char: f"\\{char}" for char in "\\`*[]|"}, "<": "&lt;", ">": "&gt;", "&": "&amp;"}
_BEGINS: Final = re.compile(r"^(\s*)([#+~=_-]|\d{1,9}[.)](?=\s|$))")
"""What makes a heading, a list or a rule of a line that begins with it."""
_FORMULA: Final = re.compile(r"[=+@\t\r-]")
_NUMBER: Final = re.compile(r"[-+]?[\d.,]+( ?%| ?[A-Za-z/]+)?|-|- ?[A-Za-z].*|[-+]?[\d.]+[eE][-+]?\d+")
_NOT_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def markdown(text: str) -> str:
    """One line of Markdown that reads as the text."""
    return "".join(_MARKDOWN.get(char, char) for char in one_line(text.replace("\n", " ")))


def paragraph(text: str) -> str:
    """The same as a paragraph of its own."""
    return _BEGINS.sub(lambda match: f"{match[1]}\\{match[2]}", markdown(text))


def sheet(cell: object) -> object:
    """A cell of CSV that no spreadsheet takes for a formula. Numbers and lone signs stay as they are."""
    if not isinstance(cell, str) or not _FORMULA.match(cell) or _NUMBER.fullmatch(cell):
        return cell
    return f"'{cell}"


def xml(text: str) -> str:
    """Text without the characters that no XML document may hold."""
    return _NOT_XML.sub(lambda match: match[0].encode("unicode_escape", "surrogatepass").decode("ascii"), text)
