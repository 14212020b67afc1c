"""One side of a comparison: figures by point, out of run directories or a baseline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any, Final

from rtoslab.analyses import Metric, metrics
from rtoslab.base import StoreError
from rtoslab.compare.executions import ExecutedFunction, code_digest, executions, place_digest, waits_of
from rtoslab.results import Failed, MeasuredPoint, NotApplicable, PointId
from rtoslab.store import RunDirectory, StoredPoint, flatten

STATE: Final = "state."
"""Before the keys of a point's state, among those of its manifest."""


@dataclass(frozen=True, slots=True)
class Figures:
    """One point's figures, or why it has none."""

    point: PointId
    metrics: Mapping[str, Metric]
    exact: bool
    """From a virtual board: measured again it would be the same to the cycle."""
    manifest: Mapping[str, str]
    """Flat: `build.flags` -> text."""
    result: MeasuredPoint | None = None
    """None where there is a figure alone (a baseline)."""
    tree: Mapping[str, Any] = field(default_factory=dict)
    """The whole manifest. Empty of a baseline."""
    placed: Sequence[MeasuredPoint] = ()
    """For a point in several placements, all its results. `result` is the first."""
    code: str = ""
    """Digest of the functions that the window executed, whatever their places. Empty where nobody watched."""
    places: str = ""
    """Digest of where they are."""
    functions: Mapping[str, ExecutedFunction] = field(default_factory=dict)
    """Those of them that have a digest, by name."""
    state: Mapping[str, str | int] = field(default_factory=dict)
    """`Measured.state`. Empty where it was not read."""
    waits: Mapping[str, float] = field(default_factory=dict)
    """Cycles per count that were not executing ones, by what they were. Empty of a latency benchmark."""
    missing: str = ""
    """Why there is no figure. Empty if there is."""


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison, under its name in reports."""

    name: str
    figures: Sequence[Figures] = field(default=())


def read_side(paths: Sequence[Path]) -> Side:
    """Run directories that repeat the same measurement: samples of noisy points are pooled. Raises StoreError."""
    figures_: dict[str, Figures] = {}
    for path in paths:
        points = RunDirectory.open(path).points()
        if not points:
            raise StoreError(f"{path} holds no finished point; measure into it first.")
        for point in points:
            fresh = figures_of(point)
            key = fresh.point.model_dump_json()
            figures_[key] = _pooled(figures_[key], fresh) if key in figures_ else fresh
    return Side(",".join(path.name for path in paths), tuple(figures_.values()))


def figures_of(stored: StoredPoint) -> Figures:
    """A stored point's figures."""
    result = stored.result
    target = stored.manifest.get("target")
    exact = isinstance(target, dict) and target.get("kind") == "virtual"
    flat = flatten(stored.manifest)
    if isinstance(result, MeasuredPoint):
        flat |= {f"{STATE}{key}": str(value) for key, value in result.state.items()}
    if isinstance(result, MeasuredPoint):
        figures = {metric.id: metric for metric in metrics(result)}
        return Figures(
            result.point, figures, exact, flat, result, stored.manifest, (), code_digest(result), place_digest(result),
            executions(result), result.state, waits_of(result),
        )  # fmt: skip
    return Figures(result.point, {}, exact, flat, tree=stored.manifest, missing=_reason(result))


def _reason(result: Failed | NotApplicable) -> str:
    return f"n/a: {result.reason}" if isinstance(result, NotApplicable) else f"failed: {result.message}"


def _pooled(first: Figures, second: Figures) -> Figures:
    """Repeats of an exact point are the same. Those of a noisy one are more samples of it."""
    if first.exact or first.missing:
        return first if not first.missing else second
    shared = {key: _pool(metric, second.metrics[key]) for key, metric in first.metrics.items() if key in second.metrics}
    return replace(first, metrics=shared)


def _pool(first: Metric, second: Metric) -> Metric:
    samples = [*(first.samples or [first.value]), *(second.samples or [second.value])]
    return replace(first, value=median(samples), samples=samples)
