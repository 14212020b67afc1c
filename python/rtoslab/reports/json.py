"""JSON: every stored point whole, with the rates derived from it."""

import json as encoder
from typing import Any

from rtoslab.analyses.cycles import shares
from rtoslab.analyses.throughput import gains, throughput
from rtoslab.reports.document import Document
from rtoslab.results import Measured

SUFFIX = "json"


def render(document: Document) -> str:
    """One object: title, summary, points, gains."""
    points: list[dict[str, Any]] = []
    for stored in document.points:
        entry: dict[str, Any] = {"result": stored.result.model_dump(mode="json"), "manifest": stored.manifest}
        if isinstance(stored.result, Measured):
            rate = throughput(stored.result)
            entry["derived"] = {
                "throughput_hz": rate.total_hz,
                "throughput_per_core_hz": rate.per_core_hz,
                "cycles_per_count": rate.cycles_per_count,
                "fairness": rate.fairness,
                "cycles_by_cause": {share.core: share.parts for share in shares(stored.result)},
            }
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
