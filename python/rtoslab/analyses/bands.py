"""A figure in several placements: their median, and the band from least to most. The statements that two bands permit.

The rule for every claim of a difference: it exceeds the bands, that is, the two have nothing in common. A figure in one
placement has no band. No change of it is claimed where its place may matter (`place_matters`)."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Band:
    """One figure's values, by placement."""

    values: Sequence[float]
    resolution: float = 0.0
    """The resolution of the clock that measured the figure, in its unit."""
    is_known: bool = True
    """False for one placement if another place of the code might give another value."""

    @property
    def median(self) -> float:
        """Returns the median over the placements, which represents the figure."""
        return median(self.values)

    @property
    def least(self) -> float:
        """Returns the value in the placement that suits it best."""
        return min(self.values)

    @property
    def most(self) -> float:
        """Returns the value in the placement that suits it worst."""
        return max(self.values)

    @property
    def width(self) -> float:
        """Returns the largest difference between placements. 0 if it is within the clock's resolution."""
        width = self.most - self.least
        return width if width > self.resolution * (1 + 1e-9) else 0.0

    @property
    def width_percent(self) -> float:
        """Returns the width in percent of the median."""
        return 100 * self.width / abs(self.median) if self.median else 0.0

    def ratio_to(self, other: "Band") -> "Ratio":
        """Returns this figure divided by the other one."""
        known = self.is_known and other.is_known
        return Ratio(self.median / other.median, self.least / other.most, self.most / other.least, known)

    def minus(self, other: "Band") -> "Band":
        """Returns this figure less the other one, for all combinations of placements."""
        ends = [self.least - other.most, self.most - other.least]
        return Band([ends[0], self.median - other.median, ends[1]], self.resolution + other.resolution)


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio of two figures: of their medians, and the least and the most over all placements."""

    value: float
    least: float
    most: float
    is_known: bool = True
    """False if a figure in it is in one placement, and its place may matter."""

    @property
    def median(self) -> float:
        """Returns the ratio of the medians."""
        return self.value

    def ratio_to(self, other: "Ratio") -> "Ratio":
        """Returns this ratio divided by another one."""
        known = self.is_known and other.is_known
        return Ratio(self.value / other.value, self.least / other.most, self.most / other.least, known)

    def quotient_band(self, number: float) -> "Ratio":
        """Returns the ratio divided by a number."""
        return Ratio(self.value / number, self.least / number, self.most / number, self.is_known)

    @property
    def is_claimed(self) -> bool:
        """Whether the two differ wherever their code is placed."""
        return self.is_known and not self.least <= 1 <= self.most

    @property
    def is_within_placement(self) -> bool:
        """Whether the figures differ, but not in all placements."""
        return self.is_known and self.value != 1 and not self.is_claimed

    @property
    def is_undecided(self) -> bool:
        """Whether the figures differ in one placement, so that the place of the code may be the reason."""
        return not self.is_known and self.value != 1
