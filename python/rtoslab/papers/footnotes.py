"""Numbered notes below a table: each reason stands once, and the cells that it is of carry its number."""


class Footnotes:
    """Gives numbers to reasons in the order in which they come."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def mark(self, reason: str) -> str:
        """Returns the mark of a reason, such as ` [1]`."""
        number = self._numbers.setdefault(reason.rstrip("."), len(self._numbers) + 1)
        return f" [{number}]"

    @property
    def sentences(self) -> list[str]:
        """Each reason with its number, in their order."""
        return [f"[{number}] {reason}." for reason, number in self._numbers.items()]
