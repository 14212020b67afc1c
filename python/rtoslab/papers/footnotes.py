"""Numbered notes below a table. Each reason is there once, and its cells carry its number."""


class TableFootnotes:
    """Collects the footnotes of a table and numbers them."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def add_footnote(self, reason: str) -> str:
        """Adds a footnote with this reason and returns its mark, such as ` [1]`."""
        number = self._numbers.setdefault(reason.rstrip("."), len(self._numbers) + 1)
        return f" [{number}]"

    @property
    def footnote_lines(self) -> list[str]:
        """Returns each footnote with its number, in order."""
        return [f"[{number}] {reason}." for reason, number in self._numbers.items()]
