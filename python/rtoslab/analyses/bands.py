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
    """How much of a difference may be the grain of the clock that it was measured by alone."""
    is_known: bool = True
    """False of one value where another place of the code might have given another."""

    @property
    def median(self) -> float:
        """Returns what stands for the figure."""
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
        """Returns what the place alone may be worth. 0 where the values differ by no more than the clock's grain."""
        width = self.most - self.least
        return width if width > self.resolution * (1 + 1e-9) else 0.0

    @property
    def percent(self) -> float:
        """The width, of the median."""
        return 100 * self.width / abs(self.median) if self.median else 0.0

    def over(self, other: "Band") -> "Ratio":
        """This figure by the other one."""
        known = self.is_known and other.is_known
        return Ratio(self.median / other.median, self.least / other.most, self.most / other.least, known)

    def less(self, other: "Band") -> "Band":
        """This figure less the other one, in whichever places."""
        ends = [self.least - other.most, self.most - other.least]
        return Band([ends[0], self.median - other.median, ends[1]], self.resolution + other.resolution)


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio of two figures: of their medians, and the least and the most that it is with the places chosen so."""

    value: float
    least: float
    most: float
    is_known: bool = True
    """False where a figure in it is in one placement, and its place may matter."""

    @property
    def median(self) -> float:
        """Returns what stands for it."""
        return self.value

    def over(self, other: "Ratio") -> "Ratio":
        """This ratio by another one."""
        known = self.is_known and other.is_known
        return Ratio(self.value / other.value, self.least / other.most, self.most / other.least, known)

    def by(self, number: float) -> "Ratio":
        """A part of it."""
        return Ratio(self.value / number, self.least / number, self.most / number, self.is_known)

    @property
    def is_claimed(self) -> bool:
        """Whether the two differ wherever their code is placed."""
        return self.is_known and not self.least <= 1 <= self.most

    @property
    def is_placement(self) -> bool:
        """Whether they differ, and some choice of places would undo it."""
        return self.is_known and self.value != 1 and not self.is_claimed

    @property
    def is_open(self) -> bool:
        """Whether they differ, and nobody knows what of it is the place of the code."""
        return not self.is_known and self.value != 1
