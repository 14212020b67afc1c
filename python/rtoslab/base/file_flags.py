"""Flags of os.open by name, for systems that lack some of them."""

import os


def combine_open_flags(*names: str) -> int:
    """Returns the named flags of `os.open` combined, without those that this system lacks.
    O_BINARY, which Windows needs, is added.
    """
    flags = 0
    for name in (*names, "O_BINARY"):
        flags |= getattr(os, name, 0)
    return flags
