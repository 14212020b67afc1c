"""A comparison for machines: JSON, and JUnit XML, which every continuous integration shows."""

import json
import math
from collections.abc import Callable, Sequence
from typing import Any
from xml.etree import ElementTree as ET

from rtoslab.compare.attribution import cycle_differences_by_function
from rtoslab.compare.comparison import ChangeVerdict, FigureChange, MeasurementRunComparison
from rtoslab.intake import escape_xml_characters
from rtoslab.reports import Deviations, contract_deviations_by_kernel, deviation_footnote

Complaint = Callable[[FigureChange], str | None]
"""Returns why a change counts as a failure. None if it does not."""


def comparisons_as_json(comparisons: Sequence[MeasurementRunComparison]) -> str:
    """Returns comparisons of runs as JSON text, one object with every figure."""
    return (
        json.dumps({"comparisons": [_comparison_as_json_object(comparison) for comparison in comparisons]}, indent=1)
        + "\n"
    )


def _comparison_as_json_object(comparison: MeasurementRunComparison) -> dict[str, Any]:
    """Returns one comparison of two sides as an object for JSON."""
    timed = {
        item.pair.label: item.pair for item in comparison.measurement_changes_for_report if item.before.unit == "cycles"
    }
    return {
        "before": comparison.before.name,
        "after": comparison.after.name,
        "deviations": _contract_deviations_of_comparison(comparison),
        "over": {name: list(values) for name, values in comparison.matching.over.items()},
        "differences": [
            {"key": difference.key, "before": difference.before, "after": difference.after, "points": difference.points}
            for difference in comparison.differences
        ],
        "changes": [_value_change_as_json_object(change) for change in comparison.changes],
        "attribution": {
            label: [
                {
                    "function": part.function,
                    "before_cycles": part.before,
                    "after_cycles": part.after,
                    "code": part.code,
                }
                for part in cycle_differences_by_function(pair)
            ]
            for label, pair in timed.items()
        },
        "only_before": list(comparison.matching.only_before),
        "only_after": list(comparison.matching.only_after),
        "without_figures": [pair.label for pair in comparison.point_pairs_without_measured_values],
    }


def _contract_deviations_of_comparison(comparison: MeasurementRunComparison) -> Deviations:
    """Returns the declared deviations from the port contract of the kernels on both sides."""
    figures = (figure for side in (comparison.before, comparison.after) for figure in side.figures)
    return contract_deviations_by_kernel([figure.result for figure in figures if figure.result is not None])


def _value_change_as_json_object(change: FigureChange) -> dict[str, Any]:
    """Returns the change of one figure as an object for JSON."""
    row: dict[str, Any] = {
        "point": change.pair.label,
        "metric": change.before.id,
        "unit": change.before.unit,
        "before": change.before.value,
        "after": change.after.value,
        "delta": change.change_in_unit,
        "percent": change.change_in_percent if math.isfinite(change.change_in_percent) else None,
        "verdict": change.verdict.value,
    }
    if change.reason is not None and change.change_in_unit:
        row |= {"cause": change.reason.cause.value, "cause_words": change.reason.text}
    if change.sample_shift is not None:
        row |= {
            "interval": list(change.sample_shift.interval),
            "p": change.sample_shift.p,
            "samples": list(change.sample_shift.counts),
        }
    if change.placement_interval is not None:
        bands = {"before_band": change.before.band, "after_band": change.after.band}
        row |= {"placement_interval": list(change.placement_interval)}
        row |= {key: None if band is None else list(band.values) for key, band in bands.items()}
    return row


def complaint_about_worse_measurement(change: FigureChange) -> str | None:
    """Returns a complaint if the figure is worse on the second side, else None."""
    return "is worse" if change.verdict is ChangeVerdict.WORSE else None


def comparisons_as_junit(
    comparisons: Sequence[MeasurementRunComparison], complaint: Complaint = complaint_about_worse_measurement
) -> str:
    """Returns comparisons of runs as JUnit XML: a test suite for each, a test case for each figure. `complaint` decides
    which fail."""
    root = ET.Element("testsuites", name="rtoslab")
    for comparison in comparisons:
        failures = sum(complaint(change) is not None for change in comparison.changes)
        lost = [pair for pair in comparison.point_pairs_without_measured_values if pair.after.missing_reason]
        suite = ET.SubElement(
            root,
            "testsuite",
            name=escape_xml_characters(f"{comparison.after.name} against {comparison.before.name}"),
            tests=str(len(comparison.changes) + len(lost)),
            failures=str(failures),
            errors=str(len(lost)),
        )
        if deviations := _contract_deviations_of_comparison(comparison):
            properties = ET.SubElement(suite, "properties")
            ET.SubElement(
                properties, "property", name="deviations", value=escape_xml_characters(deviation_footnote(deviations))
            )
        for change in comparison.changes:
            case = ET.SubElement(
                suite,
                "testcase",
                classname=escape_xml_characters(change.pair.label),
                name=escape_xml_characters(change.before.id),
            )
            why = complaint(change)
            if why is not None:
                message = (
                    f"{change.before.value:g} {change.before.unit} before, {change.after.value:g} now: the figure {why}"
                )
                ET.SubElement(case, "failure", message=escape_xml_characters(message), type=change.verdict.value)
        for pair in lost:
            case = ET.SubElement(suite, "testcase", classname=escape_xml_characters(pair.label), name="measured")
            ET.SubElement(case, "error", message=escape_xml_characters(pair.after.missing_reason), type="no figure")
    ET.indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"
