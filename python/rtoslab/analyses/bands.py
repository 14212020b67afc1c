"""A figure in several placements: their median, and the band from least to most."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Band:
    """One figure's values, by placement."""

    values: Sequence[float]
    resolution: float = 0.0
    """How much of a difference may be the grain of the clock that it was measured by alone."""

    @property
    def median(self) -> float:
        """What stands for the figure."""
        return median(self.values)

    @property
    def least(self) -> float:
        """In the placement that suits it best."""
        return min(self.values)

    @property
    def most(self) -> float:
        """In the one that suits it worst."""
        return max(self.values)

    @property
    def width(self) -> float:
        """What the place alone may be worth; 0 where the values differ by no more than the clock's grain."""
        width = self.most - self.least
        return width if width > self.resolution * (1 + 1e-9) else 0.0

    @property
    def percent(self) -> float:
        """The width, of the median."""
        return 100 * self.width / abs(self.median) if self.median else 0.0
