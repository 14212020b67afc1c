"""Names of a package that are imported when they are first used, so that a command loads only what it needs.

The package's `__init__` imports them in `if TYPE_CHECKING:`, where people, mypy and the house's tests read them, and in
its `else:` sets `__getattr__ = lazy_attribute_getter(__name__)`. The names are read from that block, so they stand only
once.

No name may be that of a module of the package, because importing that module would set the package's attribute to it.
"""

import ast
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def lazy_attribute_getter(package: str) -> Callable[[str], Any]:
    """Returns the function `__getattr__` of a package, which imports a name of its `if TYPE_CHECKING:` when it is first
    used."""
    module = sys.modules[package]
    places = imports_for_type_checking(Path(module.__file__ or ""))

    def import_lazy_attribute(name: str) -> Any:
        """Returns the package's attribute of this name, which is imported now. Raises AttributeError."""
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        source, original = places[name]
        if source == package:
            return importlib.import_module(f"{package}.{original}")
        value = getattr(importlib.import_module(source), original)
        setattr(module, name, value)
        return value

    module.__dict__["__dir__"] = lambda: sorted({*module.__dict__, *places})
    return import_lazy_attribute


def imports_for_type_checking(file: Path) -> dict[str, tuple[str, str]]:
    """Returns, for each name imported in `if TYPE_CHECKING:` of a file, its module and its name there."""
    places: dict[str, tuple[str, str]] = {}
    for block in ast.parse(file.read_bytes()).body:
        if isinstance(block, ast.If) and isinstance(block.test, ast.Name) and block.test.id == "TYPE_CHECKING":
            for node in block.body:
                assert isinstance(node, ast.ImportFrom)
                assert node.module is not None
                places |= {alias.asname or alias.name: (node.module, alias.name) for alias in node.names}
    return places
