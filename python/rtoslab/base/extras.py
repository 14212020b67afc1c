"""What only some commands need and much room is taken by: an extra of the package, imported where it is used."""

from collections.abc import Iterator
from contextlib import contextmanager

from rtoslab.base.errors import ToolMissingError


@contextmanager
def from_extra(name: str, purpose: str) -> Iterator[None]:
    """For the import statements of packages that an extra of rtoslab brings.

    Raises ToolMissingError that says which one is missing, for what, and what to install.
    """
    try:
        yield
    except ModuleNotFoundError as cause:
        package = (cause.name or "a package").partition(".")[0].replace("_", "-")
        raise ToolMissingError(f"{package} is not installed, which {purpose} needs; install rtoslab[{name}].") from None
