"""Points in several placements as one: each figure's median, with the band that the place alone is worth.

The trap it prevents: code that merely moved would be called slower. A difference is claimed if the bands of the two
sides have nothing in common. Otherwise some place of the one is as good as some place of the other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rtoslab.analyses import PLACEMENT, Metric, band_of, place_matters, without_placement
from rtoslab.base import count_text
from rtoslab.compare.sides import Figures, Side


def over_placements(side: Side) -> Side:
    """Points of virtual boards that differ in their placement alone become one. Figures in one placement stay."""
    groups: dict[str, list[Figures]] = {}
    for figure in side.figures:
        groups.setdefault(_without(figure).point.model_dump_json(), []).append(figure)
    return replace(side, figures=[one for group in groups.values() for one in _join(group)])


def interval(before: Metric, after: Metric) -> tuple[float, float]:
    """The least and the most that the second may differ by from the first, whatever the places."""
    width = max(metric.band.width for metric in (before, after) if metric.band is not None)
    (first_low, first_high), (second_low, second_high) = _reach(before, width), _reach(after, width)
    return second_low - first_high, second_high - first_low


def is_bound(metric: str, *manifests: Mapping[str, Any]) -> bool:
    """Whether a figure of points in one placement each may be another one for the place of code and data.

    Sizes of images are what they are, but for the padding of unlike placements. A heap's blocks are aligned by where it
    begins. How deep a stack is depends, as times do, on when interrupts come.
    """
    if metric.startswith("image."):
        return len({_placement(manifest) for manifest in manifests}) > 1
    return metric.startswith("heap.") or any(place_matters(manifest) for manifest in manifests)


def _placement(manifest: Mapping[str, Any]) -> int:
    build = manifest.get("build")
    return build.get(PLACEMENT, 0) if isinstance(build, Mapping) else 0


def _reach(metric: Metric, width: float) -> tuple[float, float]:
    """The band. A figure in one placement, be it the best or the worst, gets the other's width to both sides."""
    if metric.band is None:
        return metric.value - width, metric.value + width
    return metric.band.least, metric.band.most


def _without(figures: Figures) -> Figures:
    return replace(figures, point=without_placement(figures.point))


def _join(group: Sequence[Figures]) -> Sequence[Figures]:
    measured = [figures for figures in group if figures.exact and figures.result is not None]
    if len(group) == 1 or len(measured) < len(group):  # what failed somewhere is shown as it is
        return group
    first = _without(group[0])
    shared = [name for name in first.metrics if all(name in figures.metrics for figures in group)]
    metrics = {name: over_band([figures.metrics[name] for figures in group]) for name in shared}
    manifest = {**first.manifest, f"build.{PLACEMENT}": count_text(len(group), "placement")}
    results = [figures.result for figures in group if figures.result is not None]
    return [replace(first, metrics=metrics, manifest=manifest, placed=results)]


def over_band(metrics: Sequence[Metric]) -> Metric:
    """One figure by placement as one: its median, with the band."""
    band = band_of(metrics)
    return replace(metrics[0], value=band.median, samples=(), resolution=band.resolution, band=band)
