"""Packages that only some commands need and that take much room: an extra, imported where it is used."""

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rtoslab.base.errors import ToolMissingError

EXTRAS: Final = {"report": ("altair", "scipy", "vl-convert-python")}
"""Extra -> its packages, as pyproject.toml has them."""
_MODULES: Final = {"report": ("altair", "scipy", "vl_convert")}
MODULES: Final = {
    "elftools": "pyelftools",
    "jinja2": "jinja2",
    "numpy": "numpy",
    "perfetto": "perfetto",
    "serial": "pyserial",
    "vcd": "pyvcd",
    "xxhash": "xxhash",
}
"""Module -> its package, of those that an installation for `rtoslab sim`, `gdb` and `trace` alone can leave out."""


@contextmanager
def guard_optional_package_imports(extra: str, purpose: str) -> Iterator[None]:
    """Wraps the import statements of packages that an extra of rtoslab brings.

    Raises ToolMissingError that says which one is missing, for what, and what to install."""
    try:
        yield
    except ModuleNotFoundError as cause:
        package = (cause.name or "a package").partition(".")[0].replace("_", "-")
        raise _missing_package_error(extra, package, purpose) from None


def missing_extra_package(extra: str) -> str:
    """Returns the first package of an extra that is not installed. Empty if all are. Nothing is imported."""
    for package, module in zip(EXTRAS[extra], _MODULES[extra], strict=True):
        try:
            spec = importlib.util.find_spec(module)
        except ModuleNotFoundError:
            spec = None
        if spec is None:
            return package
    return ""


def require_optional_packages(extra: str, purpose: str) -> None:
    """Raises ToolMissingError if a package of an extra is not installed. Call it before long work. `purpose`: names
    what needs it."""
    package = missing_extra_package(extra)
    if package:
        raise _missing_package_error(extra, package, purpose)


def how_to_install_extra(extra: str) -> str:
    """Returns how to install an extra, as a clause."""
    return (
        f"`pipx inject rtoslab {' '.join(EXTRAS[extra])}` (or pip, in rtoslab's environment) installs the extra "
        f"`{extra}`"
    )


def _missing_package_error(extra: str, package: str, purpose: str) -> ToolMissingError:
    """Returns the error for a package of an extra that is not installed. `purpose`: names what needs it."""
    return ToolMissingError(f"{package} is not installed, which {purpose} needs; {how_to_install_extra(extra)}.")


def missing_module_sentence(cause: ModuleNotFoundError) -> str | None:
    """Returns a sentence on the package whose module was not found. None if the module is not in `MODULES`."""
    package = MODULES.get((cause.name or "").partition(".")[0])
    if package is None:
        return None
    return (
        f"This command needs the package {package}, which is not installed; install it in rtoslab's environment "
        f"(`pip install {package}`), or install all that rtoslab needs (docs/install.md)."
    )
