"""JSON: every stored point whole, with the rates derived from it."""

import json as encoder
from collections.abc import Sequence
from typing import Any

from rtoslab.analyses import (
    SPREAD_FIGURES,
    CodePlacementLookup,
    MeasuredPointInCodePlacements,
    counts_per_second_of_point,
    cycle_use_of_cores,
    group_points_over_code_placements,
    histogram_of_samples,
    latencies_of_point,
    multicore_throughput_gains,
)
from rtoslab.reports.table import ReportDocument
from rtoslab.results import MeasuredPoint

SUFFIX = "json"


def _derive_throughput_values_of_point(point: MeasuredPoint) -> dict[str, Any]:
    """Returns the figures derived from a point that counts: throughput, cycles per count and their like, by name."""
    rate = counts_per_second_of_point(point)
    return {
        "throughput_hz": rate.total_hz,
        "throughput_per_core_hz": rate.per_core_hz,
        "cycles_per_count": rate.cycles_per_count,
        "fairness": rate.fairness,
        "share_of_each_core": rate.benchmark_counter_share_by_core,
        "least_over_most": rate.slowest_to_fastest_core_rate_ratio,
        "cycles_by_cause": {share.core: share.parts for share in cycle_use_of_cores(point)},
    }


def _latency_statistics_as_json(point: MeasuredPoint) -> dict[str, Any]:
    """Returns the statistics of each series of a latency point (in cycles and nanoseconds), by the series' id."""
    return {
        latency.series.id: {
            **{f"{name}_cycles": getattr(latency.spread, name) for name in SPREAD_FIGURES},
            **{f"{name}_ns": latency.to_nanoseconds(getattr(latency.spread, name)) for name in SPREAD_FIGURES},
            "n": latency.spread.n,
            "maximum_at": latency.spread.maximum_at,
            "instrument": latency.instrument,
            "instrument_cost_cycles": latency.instrument_cost,
            "histogram": [
                [one.low, one.high, one.count]
                for one in histogram_of_samples(latency.samples_without_instrument_overhead)
            ],
        }
        for latency in latencies_of_point(point)
    }


def render_report(document: ReportDocument) -> str:
    """Returns the report as a JSON object with title, summary, points, ranges over placements, and gains of more
    cores."""
    points: list[dict[str, Any]] = []
    for stored in document.points:
        entry: dict[str, Any] = {"result": stored.result.model_dump(mode="json"), "manifest": stored.manifest}
        if isinstance(stored.result, MeasuredPoint):
            entry["derived"] = (
                _latency_statistics_as_json(stored.result)
                if stored.result.has_latency_samples
                else _derive_throughput_values_of_point(stored.result)
            )
        points.append(entry)
    placed = group_points_over_code_placements(document.list_measured_points)
    whole = {
        "title": document.title,
        "summary": document.summary,
        "points": points,
        "bands": [_code_placement_ranges_as_json(point) for point in placed if point.primary_speed_value_ranges],
        "gains": _multicore_speedups_as_json(placed),
    }
    return encoder.dumps(whole, indent=1) + "\n"


def _code_placement_ranges_as_json(placed: MeasuredPointInCodePlacements) -> dict[str, Any]:
    """Returns, for a point in several placements, each leading figure's median and range over them, as a JSON
    object."""
    figures = {
        metric.id: {"unit": metric.unit, "median": band.median, "least": band.smallest, "most": band.largest}
        for metric, band in placed.primary_speed_value_ranges
    }
    return {
        "point": placed.middle.point.model_dump(mode="json"),
        "placements": len(placed.placements),
        "figures": figures,
    }


def _multicore_speedups_as_json(placed: Sequence[MeasuredPointInCodePlacements]) -> list[dict[str, Any]]:
    """Returns a JSON object with the gain of more cores, for each point on several cores that was also measured on
    one."""
    places = CodePlacementLookup(placed)
    rows = []
    for item in multicore_throughput_gains(one.middle for one in placed):
        gain = places.multicore_gain_ratio(item)
        axes = {"benchmark": item.benchmark, "kernel": item.kernel, "board": item.board, "cores": item.cores}
        band = {"gain": gain.value, "gain_band": [gain.smallest, gain.largest], "per_core": gain.value / item.cores}
        rows.append({**axes, **band})
    return rows
