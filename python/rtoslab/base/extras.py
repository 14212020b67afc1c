"""Packages that only some commands need and that take much room: an extra, imported where it is used."""

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rtoslab.base.errors import ToolMissingError

EXTRAS: Final = {"report": ("altair", "scipy", "vl-convert-python")}
"""Extra -> its packages, as pyproject.toml has them."""
_MODULES: Final = {"report": ("altair", "scipy", "vl_convert")}


@contextmanager
def from_extra(name: str, purpose: str) -> Iterator[None]:
    """Wraps the import statements of packages that an extra of rtoslab brings.

    Raises ToolMissingError that says which one is missing, for what, and what to install."""
    try:
        yield
    except ModuleNotFoundError as cause:
        package = (cause.name or "a package").partition(".")[0].replace("_", "-")
        raise _missing(name, package, purpose) from None


def missing_package(name: str) -> str:
    """The first package of an extra that is not installed. Empty if all are. Imports nothing."""
    for package, module in zip(EXTRAS[name], _MODULES[name], strict=True):
        try:
            spec = importlib.util.find_spec(module)
        except ModuleNotFoundError:
            spec = None
        if spec is None:
            return package
    return ""


def require_extra(name: str, purpose: str) -> None:
    """Before long work that ends in what needs an extra. Raises ToolMissingError as `from_extra` does."""
    package = missing_package(name)
    if package:
        raise _missing(name, package, purpose)


def how_to_install(name: str) -> str:
    """A clause without its full stop."""
    return (
        f"`pipx inject rtoslab {' '.join(EXTRAS[name])}` (or pip, in rtoslab's environment) installs the extra `{name}`"
    )


def _missing(name: str, package: str, purpose: str) -> ToolMissingError:
    return ToolMissingError(f"{package} is not installed, which {purpose} needs; {how_to_install(name)}.")
