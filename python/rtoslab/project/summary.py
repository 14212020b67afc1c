"""Formats the result of a project's gate: for a terminal, a pull request (Markdown), and machines (JSON, JUnit XML)."""

import math
from typing import Any, Final
from xml.etree import ElementTree as ET

from rtoslab.analyses import NamedMetricValue
from rtoslab.base import TitledTable
from rtoslab.intake import escape_markdown, escape_paragraph, escape_xml_characters
from rtoslab.project.judging import FigureChange, ProjectRegressionGateResult, project_result_sentences
from rtoslab.reports import measured_value_with_range_text

_COLUMNS: Final = ("figure", "before", "now", "change", "allowed", "code")


def performance_regression_table(judged: ProjectRegressionGateResult) -> TitledTable:
    """Returns a table of the figures that became worse by more than their limits, the largest share first."""
    rows = [
        (*_table_cells_of_value_change(change), str(limit), change.value_change_cause_text)
        for change, limit in judged.regressions
    ]
    return TitledTable("regressions", "Exceeded their limits", _COLUMNS, rows)


def changes_not_exceeding_limits_table(judged: ProjectRegressionGateResult) -> TitledTable:
    """Returns a table of all other figures that changed."""
    worse = [change for change, _ in judged.regressions]
    others = [
        figure_change for figure_change in judged.changes if figure_change.change_in_unit and figure_change not in worse
    ]
    rows = [
        (*_table_cells_of_value_change(other), "placement" if other.overlap else "", other.value_change_cause_text)
        for other in others
    ]
    return TitledTable("changes", "Other changes", (*_COLUMNS[:4], "verdict", "code"), rows)


def _table_cells_of_value_change(change: FigureChange) -> tuple[str, str, str, str]:
    """Returns the first table cells of a changed figure: name, before, now, change."""
    moved = change.after.value - change.before.value
    return (
        change.name_of_measured_value,
        _value_text_with_placement_range(change.before),
        _value_text_with_placement_range(change.after),
        f"{moved:+,g}",
    )


def _value_text_with_placement_range(metric: NamedMetricValue) -> str:
    """Returns a figure as text, with its range over placements of the code."""
    return (
        _number_as_text(metric.value)
        if metric.band is None
        else measured_value_with_range_text(metric.band, _number_as_text)
    )


def _smallest_and_largest_placement_value(metric: NamedMetricValue) -> list[float] | None:
    """Returns the smallest and largest value of a figure over placements. None if there is one placement only."""
    return None if metric.band is None else [metric.band.smallest, metric.band.largest]


def _number_as_text(value: float) -> str:
    """Returns a number as text. It has one decimal unless it is whole."""
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


def judgement_as_markdown(judged: ProjectRegressionGateResult) -> str:
    """Returns the result of `rtoslab gate` as Markdown, for the summary of a pull request."""
    lines = ["# rtoslab gate", "", escape_paragraph(project_result_sentences(judged)), ""]
    for table in (performance_regression_table(judged), changes_not_exceeding_limits_table(judged)):
        if table.rows:
            lines += [f"## {table.title}", "", _markdown_row(table.columns), f"|---|{'---:|' * 3}---|---|"]
            lines += [*(_markdown_row([str(cell) for cell in row]) for row in table.rows), ""]
    for title, texts in (("Over budget", judged.exceeded_budgets), ("Notes", judged.notes)):
        if texts:
            lines += [f"## {title}", "", *(f"- {escape_paragraph(text)}" for text in texts), ""]
    return "\n".join(lines).rstrip() + "\n"


def _markdown_row(cells: Any) -> str:
    """Returns cells as a row of a Markdown table."""
    return "| " + " | ".join(escape_markdown(cell) for cell in cells) + " |"


def judgement_as_json(judged: ProjectRegressionGateResult) -> dict[str, Any]:
    """Returns the result of `rtoslab gate` as a JSON object."""
    limits = {change.name_of_measured_value: str(limit) for change, limit in judged.regressions}
    return {
        "verdict": "unknown" if judged.unanswered else "worse" if judged.has_regression_or_exceeded_budget else "pass",
        "sentence": project_result_sentences(judged),
        "figures": [
            {
                "image": figure_change.image,
                "name": figure_change.item,
                "figure": figure_change.figure,
                "unit": figure_change.before.unit,
                "before": figure_change.before.value,
                "now": figure_change.after.value,
                "before_band": _smallest_and_largest_placement_value(figure_change.before),
                "now_band": _smallest_and_largest_placement_value(figure_change.after),
                "percent": figure_change.change_in_percent if math.isfinite(figure_change.change_in_percent) else None,
                "code": figure_change.cause or None,
                "functions": list(figure_change.functions),
                "placement": figure_change.overlap,
                "passed_limit": limits.get(figure_change.name_of_measured_value),
            }
            for figure_change in judged.changes
        ],
        "over_budget": list(judged.exceeded_budgets),
        "lost": list(judged.unanswered),
        "notes": list(judged.notes),
        "other_compiler": list(judged.other_compiler) if judged.other_compiler else None,
    }


def judgement_as_junit(judged: ProjectRegressionGateResult) -> str:
    """Returns the result of `rtoslab gate` as JUnit XML, with a test case for each figure, budget and missing
    answer."""
    limits = {change.name_of_measured_value: limit for change, limit in judged.regressions}
    root = ET.Element("testsuites", name="rtoslab")
    suite = ET.SubElement(
        root, "testsuite", name="rtoslab gate",
        tests=str(len(judged.changes) + len(judged.exceeded_budgets) + len(judged.unanswered)),
        failures=str(len(limits) + len(judged.exceeded_budgets)), errors=str(len(judged.unanswered)),
    )  # fmt: skip
    for figure_change in judged.changes:
        case = ET.SubElement(
            suite,
            "testcase",
            classname=escape_xml_characters(figure_change.image),
            name=escape_xml_characters(f"{figure_change.item}.{figure_change.figure}"),
        )
        if figure_change.name_of_measured_value in limits:
            message = (
                f"{_value_text_with_placement_range(figure_change.before)} {figure_change.before.unit} before, "
                f"{_value_text_with_placement_range(figure_change.after)} now: it exceeded its limit "
                f"{limits[figure_change.name_of_measured_value]}"
            )
            ET.SubElement(
                case,
                "failure",
                message=escape_xml_characters(message),
                type=escape_xml_characters(figure_change.cause or "worse"),
            )
    for kind, texts in (("failure", judged.exceeded_budgets), ("error", judged.unanswered)):
        for number, text in enumerate(texts):
            case = ET.SubElement(suite, "testcase", classname="project", name=f"{kind} {number}")
            ET.SubElement(
                case, kind, message=escape_xml_characters(text), type="budget" if kind == "failure" else "no figure"
            )
    ET.indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"
