"""A test of addresses: whether they are in functions of the kernel."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import cache


def make_kernel_address_predicate(
    symbols: Sequence[tuple[int, int, str]], is_kernel_function: Callable[[str], bool]
) -> Callable[[int], bool]:
    """Returns a function that tells whether an address is in a function of the kernel.

    `symbols`: address, size and name; `is_kernel_function`: whether a name is of the kernel.
    """
    ordered = sorted((address, size) for address, size, name in symbols if is_kernel_function(name))
    starts = [address for address, _ in ordered]

    @cache
    def is_in_kernel_function(address: int) -> bool:
        """Whether an address is in a function of the kernel."""
        index = bisect_right(starts, address) - 1
        return index >= 0 and address < ordered[index][0] + max(ordered[index][1], 2)

    return is_in_kernel_function
