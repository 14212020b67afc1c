"""Test code only: memory of boards that are gone, kept for those to come."""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

M_TRIM_THRESHOLD: Final = -1
M_MMAP_THRESHOLD: Final = -3
"""Of malloc.h."""
MIB: Final = 1 << 20


@contextmanager
def freed_memory_kept() -> Iterator[None]:
    """For tests that make thousands of boards with a cache.

    The allocator of C otherwise gives their flash back to the system, which hands it out again page by page: a third of
    what such a test took. What is larger than 4 MiB, and hardly touched, is still the system's, which need not clear
    it. Behind the block it is as it comes to be by itself.
    """
    _set(keep=1024 * MIB, system_from=4 * MIB)
    try:
        yield
    finally:
        _set(keep=64 * MIB, system_from=32 * MIB)


def _set(keep: int, system_from: int) -> None:
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # other libraries have none
    if mallopt is not None:
        mallopt(M_TRIM_THRESHOLD, keep)
        mallopt(M_MMAP_THRESHOLD, system_from)
