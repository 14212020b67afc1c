"""A figure in several placements: their median, and the band from least to most. The statements that two bands permit.

The rule for every claim of a difference: it exceeds the bands, that is, the two have nothing in common. A figure in one
placement has no band. No change of it is claimed where its place may matter
(`does_timing_depend_on_code_addresses`)."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class CodePlacementValueRange:
    """A figure's values in several placements (addresses) of its code: their median, and the range from smallest to
    largest."""

    values: Sequence[float]
    resolution: float = 0.0
    """The resolution of the clock that measured the figure, in its unit."""
    is_known: bool = True
    """False for one placement if another place of the code might give another value."""

    @property
    def median(self) -> float:
        """Returns the median of the figure over all placements of the code, which is the reported value."""
        return median(self.values)

    @property
    def smallest(self) -> float:
        """Returns the figure's smallest value over all placements of the code."""
        return min(self.values)

    @property
    def largest(self) -> float:
        """Returns the figure's largest value over all placements of the code."""
        return max(self.values)

    @property
    def range_width(self) -> float:
        """Returns the figure's largest less its smallest value. 0 if the difference is within the clock's
        resolution."""
        width = self.largest - self.smallest
        return width if width > self.resolution * (1 + 1e-9) else 0.0

    @property
    def range_width_percent(self) -> float:
        """Returns the width of the range in percent of the median."""
        return 100 * self.range_width / abs(self.median) if self.median else 0.0

    def ratio_to(self, other: "CodePlacementValueRange") -> "MeasuredValueRatio":
        """Returns the ratio of this figure to another one, with its range over all placements of both."""
        known = self.is_known and other.is_known
        return MeasuredValueRatio(
            self.median / other.median, self.smallest / other.largest, self.largest / other.smallest, known
        )

    def subtract_measured_value(self, other: "CodePlacementValueRange") -> "CodePlacementValueRange":
        """Returns this figure less another one, with the range over all combinations of placements."""
        ends = [self.smallest - other.largest, self.largest - other.smallest]
        return CodePlacementValueRange(
            [ends[0], self.median - other.median, ends[1]], self.resolution + other.resolution
        )


@dataclass(frozen=True, slots=True)
class MeasuredValueRatio:
    """The ratio of two figures: that of their medians, and its range over all placements."""

    value: float
    smallest: float
    largest: float
    is_known: bool = True
    """False if a figure in it is in one placement, and its place may matter."""

    @property
    def median(self) -> float:
        """Returns the ratio of the two figures' medians."""
        return self.value

    def ratio_to(self, other: "MeasuredValueRatio") -> "MeasuredValueRatio":
        """Returns this ratio divided by another one, with its range over all placements."""
        known = self.is_known and other.is_known
        return MeasuredValueRatio(
            self.value / other.value, self.smallest / other.largest, self.largest / other.smallest, known
        )

    def divide_ratio_by_number(self, number: float) -> "MeasuredValueRatio":
        """Returns this ratio, and its range, divided by a number."""
        return MeasuredValueRatio(self.value / number, self.smallest / number, self.largest / number, self.is_known)

    @property
    def differs_in_all_code_placements(self) -> bool:
        """Whether the two figures differ in the same direction for all placements of their code."""
        return self.is_known and not self.smallest <= 1 <= self.largest

    @property
    def may_code_placement_reverse_value_order(self) -> bool:
        """Whether the two figures' medians differ, but the ranges over placements overlap."""
        return self.is_known and self.value != 1 and not self.differs_in_all_code_placements

    @property
    def is_undecided_with_one_code_placement(self) -> bool:
        """Whether the two figures differ, but one was measured in one placement only, so that the placement may be the
        cause."""
        return not self.is_known and self.value != 1
