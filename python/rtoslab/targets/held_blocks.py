"""Counts the blocks of a heap or pool that are held, by the calls that took and gave them."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from rtoslab.targets.events import sorted_distinct_values

_FIRST_INSTRUCTION_CYCLES: Final = 24
"""The most cycles that the first instruction of a function takes, even if it pushes nine registers to a slow memory."""


def count_allocated_blocks(takes: NDArray[np.void], gives: NDArray[np.void], entries: NDArray[np.void]) -> int:
    """Returns the number of memory blocks that are still allocated: the calls that take one less the calls that give
    one back.

    `entries` are entries of exceptions. A call whose first instruction an exception interrupted is recorded again after
    the handler. Not every such call can be recognised, so the number is the one nearest to zero that these calls allow.
    All three are arrays of `targets.events.EVENT`.
    """
    most = len(takes) - len(gives)
    if most > 0:
        return max(0, most - int(_mask_of_calls_possibly_interrupted(takes, entries).sum()))
    return min(0, most + int(_mask_of_calls_possibly_interrupted(gives, entries).sum()))


def _mask_of_calls_possibly_interrupted(calls: NDArray[np.void], entries: NDArray[np.void]) -> NDArray[np.bool_]:
    """Returns a mask of the calls whose first instruction an exception on their core may have interrupted."""
    is_cut = np.zeros(len(calls), dtype=np.bool_)
    for core in sorted_distinct_values(calls["core"]):
        mine = calls["core"] == core
        of_core = entries[entries["core"] == core]
        recognised = np.sort(of_core["cycle"].astype(np.int64) - of_core["value"])
        cycles = calls["cycle"][mine].astype(np.int64)
        # After the last exception there is one that never comes.
        following = np.append(recognised, np.iinfo(np.int64).max)[np.searchsorted(recognised, cycles)]
        is_cut[mine] = following - cycles <= _FIRST_INSTRUCTION_CYCLES
    return is_cut
