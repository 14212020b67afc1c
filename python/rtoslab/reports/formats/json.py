"""JSON: every stored point whole, with the rates derived from it."""

import json as encoder
from typing import Any

from rtoslab.analyses import FIGURES, gains, histogram, latencies, shares, throughput
from rtoslab.reports.document import Document
from rtoslab.results import Measured

SUFFIX = "json"


def _counts(point: Measured) -> dict[str, Any]:
    rate = throughput(point)
    return {
        "throughput_hz": rate.total_hz,
        "throughput_per_core_hz": rate.per_core_hz,
        "cycles_per_count": rate.cycles_per_count,
        "fairness": rate.fairness,
        "share_of_each_core": rate.core_parts,
        "least_over_most": rate.least_over_most,
        "cycles_by_cause": {share.core: share.parts for share in shares(point)},
    }


def _latency(point: Measured) -> dict[str, Any]:
    return {
        each.series.id: {
            **{f"{name}_cycles": getattr(each.spread, name) for name in FIGURES},
            **{f"{name}_ns": each.ns(getattr(each.spread, name)) for name in FIGURES},
            "n": each.spread.n,
            "maximum_at": each.spread.maximum_at,
            "instrument": each.instrument,
            "instrument_cost_cycles": each.instrument_cost,
            "histogram": [[one.low, one.high, one.count] for one in histogram(each.net)],
        }
        for each in latencies(point)
    }


def render(document: Document) -> str:
    """One object: title, summary, points, gains."""
    points: list[dict[str, Any]] = []
    for stored in document.points:
        entry: dict[str, Any] = {"result": stored.result.model_dump(mode="json"), "manifest": stored.manifest}
        if isinstance(stored.result, Measured):
            entry["derived"] = _latency(stored.result) if stored.result.is_latency else _counts(stored.result)
        points.append(entry)
    pairs = [
        {
            "benchmark": each.benchmark,
            "kernel": each.kernel,
            "board": each.board,
            "cores": each.cores,
            "gain": each.gain,
            "per_core": each.per_core,
        }
        for each in gains(document.measured)
    ]
    return (
        encoder.dumps(
            {"title": document.title, "summary": document.summary, "points": points, "gains": pairs}, indent=1
        )
        + "\n"
    )
