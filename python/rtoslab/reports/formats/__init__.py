"""The formats of a report. One format per file, which is its registration: it has `SUFFIX` and
`render_report(document) -> str`."""

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache
from typing import Any


@cache
def report_formats() -> dict[str, Callable[[Any], str]]:
    """Returns, for each file suffix, the function that writes a report in this format."""
    modules = (importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__))
    return {module.SUFFIX: module.render_report for module in modules if hasattr(module, "SUFFIX")}
