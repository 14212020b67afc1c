"""Finds the functions whose addresses explain a difference between placements.

A function's own cycles (without those of the functions it calls) are compared with its address modulo a line of the
flash or cache that code is read through. Two things are computed: how its cycles correlate with the whole figure, and
how much of their spread its own address in the line explains. Other code causes the part that its address does not
explain: a cache that they share, a line with two functions, the place of constants."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import StatisticsError, correlation, fmean, variance

from rtoslab.images import ImageSymbol


@dataclass(frozen=True, slots=True)
class MeanCyclesAtCacheLineOffset:
    """A function's offset in a cache line, with the mean of its cycles there."""

    offset: int
    cycles: float
    placements: int
    """The number of placements with the function at this offset."""


@dataclass(frozen=True, slots=True)
class FunctionInCodePlacements:
    """One function's cycles and address in each placement of the code."""

    name: str
    cycles: Sequence[float]
    addresses: Sequence[int] | None
    """None if the image has no function of that name, or several."""
    line_bytes: int
    figure: Sequence[float]
    """The whole figure, by placement."""

    @property
    def cycle_range_over_code_placements(self) -> float:
        """Returns by how many cycles the function's slowest placement is slower than its fastest."""
        return max(self.cycles) - min(self.cycles)

    @property
    def correlation_with_benchmark_value(self) -> float | None:
        """Returns the correlation (from -1 to 1) of the function's cycles with the benchmark's figure, over the
        placements of the code.

        None if one of them does not change.
        """
        try:
            return correlation(self.cycles, self.figure)
        except StatisticsError:
            return None

    @property
    def mean_cycles_by_cache_line_offset(self) -> list[MeanCyclesAtCacheLineOffset]:
        """Returns the function's mean cycles at each offset within a cache line, the fewest first.

        Empty where its address is unknown.
        """
        cycles_at: dict[int, list[float]] = defaultdict(list)
        for address, cycles in zip(self.addresses or (), self.cycles, strict=False):
            cycles_at[address % self.line_bytes].append(cycles)
        places = [
            MeanCyclesAtCacheLineOffset(offset, fmean(cycles), len(cycles)) for offset, cycles in cycles_at.items()
        ]
        return sorted(places, key=lambda place: (place.cycles, place.offset))

    @property
    def variance_explained_by_cache_line_offset(self) -> float | None:
        """Returns the share of the cycles' variance that the function's offset in the cache line explains.
        The share that as many random offsets would explain is subtracted. None where it had one offset only, or no two
        placements had the same.
        """
        places = self.mean_cycles_by_cache_line_offset
        rest = len(self.cycles) - len(places)
        if len(places) < 2 or rest < 1 or not self.cycle_range_over_code_placements:
            return None
        mean_of = {place.offset: place.cycles for place in places}
        within = sum(
            (cycles - mean_of[address % self.line_bytes]) ** 2
            for address, cycles in zip(self.addresses or (), self.cycles, strict=True)
        )
        return max(0.0, 1 - within / rest / variance(self.cycles))


def functions_affected_by_code_placement(
    cycles: Sequence[Mapping[str, float]],
    symbols: Sequence[Sequence[ImageSymbol]],
    figure: Sequence[float],
    line_bytes: int,
    least_spread: float,
) -> list[FunctionInCodePlacements]:
    """Returns the functions whose cycles changed by at least `least_spread` between placements of the code, the most
    first.

    All inputs are by placement. `figure`: the benchmark's. `line_bytes`: the size of a line of flash or cache.
    """
    addresses = [_unique_addresses(symbol) for symbol in symbols]
    functions = []
    for name in sorted({name for cycle in cycles for name in cycle}):
        where = [address.get(name) for address in addresses]
        known = [item for item in where if item is not None]
        functions.append(
            FunctionInCodePlacements(
                name,
                [cycle.get(name, 0.0) for cycle in cycles],
                known if len(known) == len(where) else None,
                line_bytes,
                figure,
            )
        )
    return sorted(
        (item for item in functions if item.cycle_range_over_code_placements >= least_spread),
        key=lambda function: (-function.cycle_range_over_code_placements, function.name),
    )


def _unique_addresses(symbols: Sequence[ImageSymbol]) -> dict[str, int]:
    """Returns the address of each function whose name occurs only once, by name."""
    counts = Counter(symbol.name for symbol in symbols if symbol.is_function)
    return {symbol.name: symbol.address for symbol in symbols if symbol.is_function and counts[symbol.name] == 1}
