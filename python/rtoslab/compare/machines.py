"""A comparison for machines: JSON, and JUnit XML, which every continuous integration shows."""

import json
import math
from collections.abc import Callable, Sequence
from typing import Any
from xml.etree import ElementTree as ET

from rtoslab.compare.attribution import attribution
from rtoslab.compare.comparison import Change, Comparison, Verdict
from rtoslab.intake import xml
from rtoslab.reports import Deviations, declared_deviations, deviation_footnote

Complaint = Callable[[Change], str | None]
"""Why a change counts as a failure. None if it does not."""


def as_json(comparisons: Sequence[Comparison]) -> str:
    """One object with every figure."""
    return json.dumps({"comparisons": [_comparison(comparison) for comparison in comparisons]}, indent=1) + "\n"


def _comparison(comparison: Comparison) -> dict[str, Any]:
    timed = {item.pair.label: item.pair for item in comparison.shown_changes if item.before.unit == "cycles"}
    return {
        "before": comparison.before.name,
        "after": comparison.after.name,
        "deviations": _deviations(comparison),
        "over": {name: list(values) for name, values in comparison.matching.over.items()},
        "differences": [
            {"key": difference.key, "before": difference.before, "after": difference.after, "points": difference.points}
            for difference in comparison.differences
        ],
        "changes": [_change(change) for change in comparison.changes],
        "attribution": {
            label: [
                {
                    "function": part.function,
                    "before_cycles": part.before,
                    "after_cycles": part.after,
                    "code": part.code,
                }
                for part in attribution(pair)
            ]
            for label, pair in timed.items()
        },
        "only_before": list(comparison.matching.only_before),
        "only_after": list(comparison.matching.only_after),
        "without_figures": [pair.label for pair in comparison.without_figures],
    }


def _deviations(comparison: Comparison) -> Deviations:
    """Returns the deviations of the kernels on both sides."""
    figures = (figure for side in (comparison.before, comparison.after) for figure in side.figures)
    return declared_deviations([figure.result for figure in figures if figure.result is not None])


def _change(change: Change) -> dict[str, Any]:
    row: dict[str, Any] = {
        "point": change.pair.label,
        "metric": change.before.id,
        "unit": change.before.unit,
        "before": change.before.value,
        "after": change.after.value,
        "delta": change.delta,
        "percent": change.percent if math.isfinite(change.percent) else None,
        "verdict": change.verdict.value,
    }
    if change.reason is not None and change.delta:
        row |= {"cause": change.reason.cause.value, "cause_words": change.reason.words}
    if change.noisy is not None:
        row |= {"interval": list(change.noisy.interval), "p": change.noisy.p, "samples": list(change.noisy.counts)}
    if change.placed is not None:
        bands = {"before_band": change.before.band, "after_band": change.after.band}
        row |= {"placement_interval": list(change.placed)}
        row |= {key: None if band is None else list(band.values) for key, band in bands.items()}
    return row


def worse(change: Change) -> str | None:
    """Every real change for the worse."""
    return "is worse" if change.verdict is Verdict.WORSE else None


def as_junit(comparisons: Sequence[Comparison], complaint: Complaint = worse) -> str:
    """A test suite for each comparison, a test case for each figure."""
    root = ET.Element("testsuites", name="rtoslab")
    for comparison in comparisons:
        failures = sum(complaint(change) is not None for change in comparison.changes)
        lost = [pair for pair in comparison.without_figures if pair.after.missing]
        suite = ET.SubElement(
            root,
            "testsuite",
            name=xml(f"{comparison.after.name} against {comparison.before.name}"),
            tests=str(len(comparison.changes) + len(lost)),
            failures=str(failures),
            errors=str(len(lost)),
        )
        if deviations := _deviations(comparison):
            properties = ET.SubElement(suite, "properties")
            ET.SubElement(properties, "property", name="deviations", value=xml(deviation_footnote(deviations)))
        for change in comparison.changes:
            case = ET.SubElement(suite, "testcase", classname=xml(change.pair.label), name=xml(change.before.id))
            why = complaint(change)
            if why is not None:
                message = f"{change.before.value:g} {change.before.unit} before, {change.after.value:g} now: it {why}"
                ET.SubElement(case, "failure", message=xml(message), type=change.verdict.value)
        for pair in lost:
            case = ET.SubElement(suite, "testcase", classname=xml(pair.label), name="measured")
            ET.SubElement(case, "error", message=xml(pair.after.missing), type="no figure")
    ET.indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"
