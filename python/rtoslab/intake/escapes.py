"""Escapes external text for formats with a syntax of their own, so that it is shown as it is.

A benchmark's failure quotes a board's output, a configuration a user's text, a symbol's name a compiler's input.
None of it may become HTML in a Markdown report, a formula in a sheet, or the end of an XML document."""

import re
from typing import Final

from rtoslab.intake.names import escape_to_one_line

_MARKDOWN: Final = {**{char: f"\\{char}" for char in "\\`*[]|"}, "<": "&lt;", ">": "&gt;", "&": "&amp;"}
_BEGINS: Final = re.compile(r"^(\s*)([#+~=_-]|\d{1,9}[.)](?=\s|$))")
"""The beginning of a line that makes it a heading, a list or a rule."""
_FORMULA: Final = re.compile(r"[=+@\t\r-]")
_NUMBER: Final = re.compile(r"[-+]?[\d.,]+( ?%| ?[A-Za-z/]+)?|-|- ?[A-Za-z].*|[-+]?[\d.]+[eE][-+]?\d+")
_NOT_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def escape_markdown(text: str) -> str:
    """Returns one line of Markdown that displays exactly this text."""
    return "".join(_MARKDOWN.get(char, char) for char in escape_to_one_line(text.replace("\n", " ")))


def escape_paragraph(text: str) -> str:
    """Returns a Markdown paragraph that displays exactly this text."""
    return _BEGINS.sub(lambda match: f"{match[1]}\\{match[2]}", escape_markdown(text))


def escape_csv_cell(cell: object) -> object:
    """Returns the cell in a form that no spreadsheet takes for a formula. Numbers and single signs stay as they are."""
    if not isinstance(cell, str) or not _FORMULA.match(cell) or _NUMBER.fullmatch(cell):
        return cell
    return f"'{cell}"


def escape_xml_characters(text: str) -> str:
    """Returns the text with escapes in place of the characters that XML forbids."""
    return _NOT_XML.sub(lambda match: match[0].encode("unicode_escape", "surrogatepass").decode("ascii"), text)
