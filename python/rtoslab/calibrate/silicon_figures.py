"""Kernel figures on silicon beside those of the virtual board: cycles a count of T1 to T8, medians of call times.

Both sides run the same images. A figure's error bar is what silicon itself leaves open: the spread over the repeats, a
median's standard error, and the grain of the clock that it was measured by.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from rtoslab.analyses import NamedMetricValue, primary_speed_values_of_point
from rtoslab.base import PlanError, TitledTable, Value
from rtoslab.results import MeasuredPoint, NotApplicableMeasurement
from rtoslab.store import RunDirectory

_NORMAL: Final = 1.4826 * 1.2533
"""Standard error of a median by the median absolute deviation: Rousseeuw and Croux 1993."""


@dataclass(frozen=True, slots=True)
class MeasuredValueWithErrorBar:
    """A kernel figure that one board measured, in cycles, with its error bar."""

    repeats: tuple[float, ...]
    """Its value in each run."""
    error_cycles: float

    @property
    def median_cycles(self) -> float:
        """Returns the median of the figure's values in all runs."""
        return float(np.median(self.repeats))


@dataclass(frozen=True, slots=True)
class BoardMeasuredValues:
    """All kernel figures of a board by name, and the reasons for missing ones."""

    figures: Mapping[str, MeasuredValueWithErrorBar]
    missing: Mapping[str, str]
    """Keyed by benchmark."""
    images: Mapping[str, str]
    """Benchmark -> SHA-256 of the image that ran."""


@dataclass(frozen=True, slots=True)
class KernelFigure:
    """One kernel figure on silicon and on the virtual board."""

    name: str
    silicon: MeasuredValueWithErrorBar
    default_cycles: float
    """The figure of the virtual board with its defaults."""
    fitted_cycles: float | None
    """With the settings that fit silicon's rows. None if those are the defaults."""

    def virtual_minus_silicon_cycles(self, fitted: bool = False) -> float:
        """Returns the virtual board's figure minus silicon's, in cycles. `fitted`: with the fitted settings, if there
        are any."""
        model = self.fitted_cycles if fitted and self.fitted_cycles is not None else self.default_cycles
        return model - self.silicon.median_cycles

    def percent_difference_from_silicon(self, fitted: bool = False) -> float:
        """Returns how far the virtual board's figure is from silicon's, in percent of silicon's. 0 if that is zero."""
        return (
            100 * self.virtual_minus_silicon_cycles(fitted) / self.silicon.median_cycles
            if self.silicon.median_cycles
            else 0.0
        )

    def is_virtual_value_within_silicon_error(self, fitted: bool = False) -> bool:
        """Whether the virtual board's figure is within the error bar of silicon's."""
        return abs(self.virtual_minus_silicon_cycles(fitted)) <= self.silicon.error_cycles + 1e-9


def kernel_values_measured_in_runs(runs: Sequence[Path]) -> BoardMeasuredValues:
    """Returns the kernel figures in run directories that repeat the same points on one board. Raises StoreError."""
    repeats_of: dict[str, list[NamedMetricValue]] = {}
    missing: dict[str, str] = {}
    images: dict[str, str] = {}
    for run in runs:
        for stored in RunDirectory.open_run_directory(run).read_measured_points():
            result = stored.result
            if isinstance(result, MeasuredPoint):
                images[result.point.benchmark] = str(stored.manifest["elf_sha256"])
                for metric in primary_speed_values_of_point(result):
                    repeats_of.setdefault(f"{result.point.benchmark}.{metric.id}", []).append(
                        _add_resolution_of_one_benchmark_count(metric, result)
                    )
            else:
                reason = result.reason if isinstance(result, NotApplicableMeasurement) else result.message
                missing[result.point.benchmark] = reason
    return BoardMeasuredValues(
        {name: kernel_value_with_error_bar(repeats) for name, repeats in repeats_of.items()}, missing, images
    )


def _add_resolution_of_one_benchmark_count(metric: NamedMetricValue, result: MeasuredPoint) -> NamedMetricValue:
    """Returns the figure with a resolution of one count or more, because the measurement window may end before or after
    a count."""
    counts = sum(counter.count for counter in result.counters)
    if metric.samples or not counts:
        return metric
    return replace(metric, resolution=max(metric.resolution, metric.value / counts))


def kernel_value_with_error_bar(repeats: Sequence[NamedMetricValue]) -> MeasuredValueWithErrorBar:
    """Returns a kernel figure from its values in several runs, with an error bar."""
    values = tuple(repeat.value for repeat in repeats)
    errors = [max(repeat.resolution, _standard_error_of_median(repeat.samples)) for repeat in repeats]
    return MeasuredValueWithErrorBar(values, max([(max(values) - min(values)) / 2, *errors]))


def _standard_error_of_median(samples: Sequence[float]) -> float:
    """Returns the standard error of the median of samples. 0 without samples."""
    if not samples:
        return 0.0
    values = np.asarray(samples, dtype=np.float64)
    return float(_NORMAL * np.median(np.abs(values - np.median(values))) / np.sqrt(len(values)))


def pair_silicon_and_virtual_measurements(
    silicon: BoardMeasuredValues, default: BoardMeasuredValues, fitted: BoardMeasuredValues | None
) -> list[KernelFigure]:
    """Returns each figure that both silicon and the virtual board have, side by side. Raises PlanError if they ran
    different images."""
    for name, image in silicon.images.items():
        if default.images.get(name, image) != image:
            raise PlanError(
                f"{name} was measured with another image than the current one; calibrate again with --figures."
            )
    return [
        KernelFigure(
            name,
            figure,
            default.figures[name].median_cycles,
            fitted.figures[name].median_cycles if fitted is not None and name in fitted.figures else None,
        )
        for name, figure in sorted(silicon.figures.items())
        if name in default.figures
    ]


def silicon_comparison_table(figures: Sequence[KernelFigure]) -> TitledTable:
    """Returns a table that compares kernel figures on silicon with those of the virtual board."""
    columns = ("figure", "silicon, cycles", "error", "default, cycles", "differs by", "%", "best fit differs by", "%")
    rows: list[tuple[Value, ...]] = []
    for figure in figures:
        fit: tuple[Value, ...] = (None, None)
        if figure.fitted_cycles is not None:
            fit = (
                f"{figure.virtual_minus_silicon_cycles(fitted=True):+.2f}",
                f"{figure.percent_difference_from_silicon(fitted=True):+.2f}",
            )
        default = (
            f"{figure.default_cycles:.2f}",
            f"{figure.virtual_minus_silicon_cycles():+.2f}",
            f"{figure.percent_difference_from_silicon():+.2f}",
        )
        rows.append(
            (figure.name, f"{figure.silicon.median_cycles:.2f}", f"{figure.silicon.error_cycles:.2f}", *default, *fit)
        )
    return TitledTable("figures", "Kernel figures", columns, rows)
