"""Converts the linker's names of C++ and Rust functions to those in the sources."""

from functools import lru_cache

_MANGLED = ("_Z", "_R")


@lru_cache(maxsize=65_536)
def demangle_function_name(name: str) -> str:
    """Returns a C++ or Rust function's name as the sources have it. Any other name is unchanged, and all are if the
    simulator is not built."""
    if not name.startswith(_MANGLED):
        return name
    try:
        from rtoslab import _sim  # noqa: PLC0415 (slow to load, and most images need none)
    except ImportError:
        return name
    return _sim.readable_name(name)
