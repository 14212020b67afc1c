"""Every test proves that it did what its name says. One rule per file. A file here is the registration.

A rule module has `Params` (its keys in benchmark.toml, unknown ones refused) and `judge(params, evidence) -> Finding`.
It may have `watched(params)`, the services whose calls the virtual board must watch for it. Every rule may be bound to
conditions by `when`. A rule judges counts: what the kernel did, seen by probes, against what the firmware says. It
returns prose for a person, never a number to use.
"""

import importlib
import pkgutil
from functools import cache
from types import ModuleType


@cache
def all_rules() -> dict[str, ModuleType]:
    """Every rule by name."""
    modules = {info.name: importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__)}
    return {name: module for name, module in modules.items() if hasattr(module, "judge")}
