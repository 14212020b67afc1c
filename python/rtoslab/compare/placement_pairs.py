"""Points in several placements as one: each figure's median, with the band that the place alone is worth.

Code that only moved to other addresses must not be called slower. So the sides differ only if their ranges over
placements do not overlap. Otherwise one side is, in some placement, as fast as the other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rtoslab.analyses import (
    PLACEMENT,
    NamedMetricValue,
    does_timing_depend_on_code_addresses,
    measurement_id_without_code_placement,
    placement_band,
)
from rtoslab.base import count_with_noun
from rtoslab.compare.sides import ComparedMeasurementSet, MeasuredPointValues


def merge_measurements_over_code_placements(side: ComparedMeasurementSet) -> ComparedMeasurementSet:
    """Returns one side of a comparison, with points joined into one that differ only in the placement of their code."""
    groups: dict[str, list[MeasuredPointValues]] = {}
    for figure in side.figures:
        groups.setdefault(_drop_code_placement_from_point_identity(figure).point.model_dump_json(), []).append(figure)
    return replace(side, figures=[one for group in groups.values() for one in _join_values_of_placement_group(group)])


def value_difference_range(before: NamedMetricValue, after: NamedMetricValue) -> tuple[float, float]:
    """Returns the smallest and the largest difference of two figures (second minus first) over all placements of the
    code."""
    width = max(metric.band.range_width for metric in (before, after) if metric.band is not None)
    (first_low, first_high), (second_low, second_high) = (
        _value_range_over_code_placements(before, width),
        _value_range_over_code_placements(after, width),
    )
    return second_low - first_high, second_high - first_low


def may_depend_on_placement(metric: str, *manifests: Mapping[str, Any]) -> bool:
    """Whether the place of code and data may change a figure of points that were measured in one placement each.

    Sizes of images are what they are, but for the padding of unlike placements. A heap's blocks are aligned by where it
    begins. How deep a stack is depends, as times do, on when interrupts come.
    """
    if metric.startswith("image."):
        return len({_code_placement_number(manifest) for manifest in manifests}) > 1
    return metric.startswith("heap.") or any(does_timing_depend_on_code_addresses(manifest) for manifest in manifests)


def _code_placement_number(manifest: Mapping[str, Any]) -> int:
    """Returns the number of the placement of the code that a manifest names."""
    build = manifest.get("build")
    return build.get(PLACEMENT, 0) if isinstance(build, Mapping) else 0


def _value_range_over_code_placements(metric: NamedMetricValue, width: float) -> tuple[float, float]:
    """Returns the smallest and largest value of a figure over placements. A figure of one placement gets `width` on
    both sides."""
    if metric.band is None:
        return metric.value - width, metric.value + width
    return metric.band.smallest, metric.band.largest


def _drop_code_placement_from_point_identity(figures: MeasuredPointValues) -> MeasuredPointValues:
    """Returns a point's figures under its identity without the placement of the code."""
    return replace(figures, point=measurement_id_without_code_placement(figures.point))


def _join_values_of_placement_group(group: Sequence[MeasuredPointValues]) -> Sequence[MeasuredPointValues]:
    """Joins the figures of points that differ only in the placement of their code. If one of them failed, returns them
    unchanged."""
    measured = [figures for figures in group if figures.is_exact and figures.result is not None]
    if len(group) == 1 or len(measured) < len(group):  # a failure in some placement is shown as it is
        return group
    first = _drop_code_placement_from_point_identity(group[0])
    shared = [name for name in first.metrics if all(name in figures.metrics for figures in group)]
    metrics = {name: median_value_over_code_placements([figures.metrics[name] for figures in group]) for name in shared}
    manifest = {**first.manifest, f"build.{PLACEMENT}": count_with_noun(len(group), "placement")}
    results = [figures.result for figures in group if figures.result is not None]
    return [replace(first, metrics=metrics, manifest=manifest, placed_results=results)]


def median_value_over_code_placements(metrics: Sequence[NamedMetricValue]) -> NamedMetricValue:
    """Returns one figure made of its values in several placements of the code: the median, with its range."""
    band = placement_band(metrics)
    return replace(metrics[0], value=band.median, samples=(), resolution=band.resolution, band=band)
