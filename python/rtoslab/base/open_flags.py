"""Flags of os.open by name, for systems that lack some of them."""

import os


def open_flags(*names: str) -> int:
    """All that this system has. O_BINARY is one that only Windows has, and needs."""
    flags = 0
    for name in (*names, "O_BINARY"):
        flags |= getattr(os, name, 0)
    return flags
