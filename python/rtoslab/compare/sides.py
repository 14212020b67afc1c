"""One side of a comparison: figures by point, out of run directories or a baseline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any, Final

from rtoslab.analyses import NamedMetricValue, comparable_values_of_measurement_point
from rtoslab.base import StoreError, sha256_of_file
from rtoslab.compare.executions import (
    ExecutedFunction,
    executed_addresses_digest,
    executed_code_digest,
    executed_functions,
    wait_cycles_by_cause,
)
from rtoslab.results import FailedMeasurement, MeasuredPoint, NotApplicableMeasurement, PointId
from rtoslab.store import UART, RunDirectory, StoredMeasurementPoint, flatten_nested_json

STATE: Final = "state."
"""The prefix of the keys of a point's state in its manifest."""


@dataclass(frozen=True, slots=True)
class MeasuredPointValues:
    """The figures of one point, or the reason why it has none."""

    point: PointId
    metrics: Mapping[str, NamedMetricValue]
    is_exact: bool
    """Whether it is from a virtual board, which gives the same cycles each time."""
    manifest: Mapping[str, str]
    """Flat: `build.flags` -> text."""
    result: MeasuredPoint | None = None
    """None if there are only figures, as in a baseline."""
    manifest_tree: Mapping[str, Any] = field(default_factory=dict)
    """The whole manifest. Empty of a baseline."""
    placed_results: Sequence[MeasuredPoint] = ()
    """For a point in several placements, all its results. `result` is the first."""
    code: str = ""
    """Digest of the functions that the window executed, whatever their places. Empty where nobody watched."""
    places: str = ""
    """Digest of the places of these functions."""
    functions: Mapping[str, ExecutedFunction] = field(default_factory=dict)
    """The executed functions that have a digest, by name."""
    state: Mapping[str, str | int] = field(default_factory=dict)
    """`Measured.state`. Empty where it was not read."""
    waits: Mapping[str, float] = field(default_factory=dict)
    """Cycles per count in which nothing was executed, by cause. Empty for a latency benchmark."""
    missing_reason: str = ""
    """Why there is no figure. Empty if there is."""


@dataclass(frozen=True, slots=True)
class ComparedMeasurementSet:
    """One side of a comparison: the figures of points, under a name."""

    name: str
    figures: Sequence[MeasuredPointValues] = field(default=())


def read_runs_for_comparison(paths: Sequence[Path]) -> ComparedMeasurementSet:
    """Reads run directories with repeats of a measurement as one side of a comparison. Raises StoreError for one
    without points, and for one that is given twice: the same samples again would seem to be more certain."""
    figures_: dict[str, MeasuredPointValues] = {}
    sent: dict[str, Path] = {}
    """Digest of a real board's serial bytes -> the run directory that has them."""
    if len({path.resolve() for path in paths}) < len(paths):
        raise StoreError(f"{', '.join(map(str, paths))}: a run directory is given twice; give each directory once.")
    for path in paths:
        points = RunDirectory.open_run_directory(path).read_measured_points()
        if not points:
            raise StoreError(f"{path} contains no finished point; measure into it first with `rtoslab run --out`.")
        for point in points:
            fresh = values_of_stored_measurement(point)
            uart = point.folder / UART
            if not fresh.is_exact and uart.is_file():
                earlier = sent.setdefault(sha256_of_file(uart), path)
                if earlier != path:
                    raise StoreError(
                        f"{path} is a copy of {earlier}; measure again for a repetition, or leave the copy out."
                    )
            key = fresh.point.model_dump_json()
            figures_[key] = _merge_repeated_measurements(figures_[key], fresh) if key in figures_ else fresh
    return ComparedMeasurementSet(",".join(path.name for path in paths), tuple(figures_.values()))


def values_of_stored_measurement(stored: StoredMeasurementPoint) -> MeasuredPointValues:
    """Returns the figures of a stored point, or the reason why it has none."""
    result = stored.result
    target = stored.manifest.get("target")
    exact = isinstance(target, dict) and target.get("kind") == "virtual"
    flat = flatten_nested_json(stored.manifest)
    if isinstance(result, MeasuredPoint):
        flat |= {f"{STATE}{key}": str(value) for key, value in result.state.items()}
    if isinstance(result, MeasuredPoint):
        figures = {metric.id: metric for metric in comparable_values_of_measurement_point(result)}
        return MeasuredPointValues(
            result.point, figures, exact, flat, result, stored.manifest, (), executed_code_digest(result),
            executed_addresses_digest(result), executed_functions(result), result.state, wait_cycles_by_cause(result),
        )  # fmt: skip
    return MeasuredPointValues(
        result.point, {}, exact, flat, manifest_tree=stored.manifest, missing_reason=_reason_for_missing_metrics(result)
    )


def _reason_for_missing_metrics(result: FailedMeasurement | NotApplicableMeasurement) -> str:
    """Returns why a failed or not applicable point has no figure."""
    return f"n/a: {result.reason}" if isinstance(result, NotApplicableMeasurement) else f"failed: {result.message}"


def _merge_repeated_measurements(first: MeasuredPointValues, second: MeasuredPointValues) -> MeasuredPointValues:
    """Merges two repeats of a measured point. Repeats on a virtual board are equal, those on a real board are more
    samples."""
    if first.is_exact or first.missing_reason:
        return first if not first.missing_reason else second
    shared = {
        key: _merge_repeated_metric_samples(metric, second.metrics[key])
        for key, metric in first.metrics.items()
        if key in second.metrics
    }
    return replace(first, metrics=shared)


def _merge_repeated_metric_samples(first: NamedMetricValue, second: NamedMetricValue) -> NamedMetricValue:
    """Merges the samples of two repeats of a figure into one figure."""
    samples = [*(first.samples or [first.value]), *(second.samples or [second.value])]
    return replace(first, value=median(samples), samples=samples)
