"""Flags of os.open by name, for systems that lack some of them."""

import os


def open_flags(*names: str) -> int:
    """Returns the sum of the named flags that this system has, with O_BINARY, which only Windows has and needs."""
    flags = 0
    for name in (*names, "O_BINARY"):
        flags |= getattr(os, name, 0)
    return flags
