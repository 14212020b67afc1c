"""Which addresses are in functions of the kernel."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import cache


def kernels_own(symbols: Sequence[tuple[int, int, str]], is_kernels: Callable[[str], bool]) -> Callable[[int], bool]:
    """A test of addresses from (address, size, name) of the image's symbols and a test of names."""
    ordered = sorted((address, size) for address, size, name in symbols if is_kernels(name))
    starts = [address for address, _ in ordered]

    @cache
    def test(address: int) -> bool:
        index = bisect_right(starts, address) - 1
        return index >= 0 and address < ordered[index][0] + max(ordered[index][1], 2)

    return test
