"""What only some commands need and much room is taken by: an extra of the package, loaded where it is used."""

import importlib
from types import ModuleType
from typing import Final

from rtoslab.base.errors import ToolMissingError

EXTRA_OF: Final = {"altair": "report", "scipy": "report", "scipy.stats": "report", "vl_convert": "report"}


def extra(module: str, purpose: str) -> ModuleType:
    """The module. Raises ToolMissingError that says which extra brings it, and for what."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        package = module.partition(".")[0].replace("_", "-")
        raise ToolMissingError(
            f"{package} is not installed, which {purpose} needs; install rtoslab[{EXTRA_OF[module]}]."
        ) from None
