"""The comparison as a report: the answer, a table with kernels as columns, bars by operation, what is unequal."""

from collections.abc import Mapping, Sequence
from typing import Any

from rtoslab.base import count_with_noun
from rtoslab.choose.answer import kernel_ranking_sentences
from rtoslab.choose.board_comparison import KernelComparison, OperationMeasuredValue
from rtoslab.choose.compared_operations import ComparedOperation
from rtoslab.parity import UnfairDifference
from rtoslab.reports import (
    ChartData,
    ReportDocument,
    ReportSection,
    TableData,
    add_footnotes_for_deviating_kernels,
    chart_range_ends,
    cycle_count_text,
    measured_value_with_range_text,
)

BEST = "*"
SINGLE_PLACEMENT = "?"
ABSENT = "-"
OPERATION_COLUMN = "cycles, else the unit"
MARKS = (
    "*: the best of its row, or as good as the best. ?: measured in one placement of the code, not compared. "
    "-: no figure; the operation does not count for this kernel."
)
_HOW = (
    "Times in cycles of the core's clock, measured by instruments that do not slow the code. A figure is the "
    "median over placements of the code, with the lowest and the highest where they differ. An asterisk marks the "
    "best of a row and every figure that is as good. A question mark marks a figure measured in one placement, "
    "which another placement could change. A hyphen means that there is no figure, and the operation does not count "
    "for this kernel."
)


def median_text_with_table_symbols(cell: OperationMeasuredValue, *, is_best: bool) -> str:
    """Returns a figure as text for a table: the median with its marks (`*` best, `?` one placement), or a dash."""
    if cell.band is None:
        return ABSENT
    marks = SINGLE_PLACEMENT if cell.may_code_placement_change_value else BEST if is_best else ""
    return f"{cycle_count_text(cell.band.median)}{marks}"


def kernel_choice_report(
    comparison: KernelComparison,
    names: Mapping[str, str],
    unequal: Sequence[UnfairDifference],
    deviations: Mapping[str, Mapping[str, str]],
) -> ReportDocument:
    """Returns the report on a comparison of kernels. `names` are titles by id, and `unequal` are unequal conditions of
    the builds."""
    kernels = [names[kernel] for kernel in comparison.kernels]
    sections = [
        _operation_measurements_report_section(comparison, names),
        _operation_bar_charts_report_section(comparison, names),
        _unequal_build_conditions_report_section(unequal),
        _report_section_on_missing_values(comparison, names),
    ]
    document = ReportDocument(
        title=f"{count_with_noun(len(kernels), 'kernel')} on the {names[comparison.board]}",
        subtitle=", ".join(kernels),
        summary=" ".join(kernel_ranking_sentences(comparison, names)),
        sections=tuple(
            section for section in sections if section.charts or any(table.rows for table in section.tables)
        ),
    )
    also = {names[kernel]: kernel for kernel in comparison.kernels}
    return add_footnotes_for_deviating_kernels(
        document, deviations, also, all_deviate=set(deviations) >= set(comparison.kernels)
    )


def _operation_measurements_report_section(comparison: KernelComparison, names: Mapping[str, str]) -> ReportSection:
    """Returns the report section with the table of figures by operation and kernel."""
    return ReportSection(
        "figures", "Figures", (_HOW,), (), (kernel_comparison_table(comparison, names, "Kernels compared"),)
    )


def kernel_comparison_table(comparison: KernelComparison, names: Mapping[str, str], title: str) -> TableData:
    """Returns a table of figures with kernels as columns, the best first, and operations as rows."""
    kernels = comparison.kernels_by_rank
    rows = [
        [
            operation.title_with_unit,
            *(_operation_value_text_with_footnotes(comparison, kernel, operation) for kernel in kernels),
        ]
        for operation in comparison.operations
    ]
    columns = (OPERATION_COLUMN, *(f">{names[kernel]}" for kernel in kernels))
    return TableData(title, columns, rows, MARKS)


def _operation_value_text_with_footnotes(
    comparison: KernelComparison, kernel: str, operation: ComparedOperation
) -> str:
    """Returns a figure with its marks and its range over placements of the code, as text for a table."""
    cell = comparison.kernel_operation_value(kernel, operation)
    if cell.band is None:
        return ABSENT
    marks = median_text_with_table_symbols(
        cell, is_best=kernel in comparison.best_kernels_for_operation(operation)
    ).lstrip("0123456789,.")
    return f"{measured_value_with_range_text(cell.band, cycle_count_text)}{marks}"


def _operation_bar_charts_report_section(comparison: KernelComparison, names: Mapping[str, str]) -> ReportSection:
    """Returns the report section with bar charts: one chart for each unit, with a panel for each operation."""
    charts = []
    for unit in dict.fromkeys(operation.unit for operation in comparison.operations):
        rows: list[dict[str, Any]] = []
        for operation in comparison.operations:
            for kernel in comparison.kernels:
                band = comparison.kernel_operation_value(kernel, operation).band
                if operation.unit == unit and band is not None:
                    mark = {"x": operation.title, "series": names[kernel], "kernel": kernel, "y": band.median}
                    rows.append({**mark, "text": f"{band.median:,.0f}", **chart_range_ends(band)})
        caption = f"Each operation in {unit}, with its own scale from zero."
        charts.append(ChartData("panels", rows, caption, "", unit))
    return ReportSection("bars", "Operation by operation", (), tuple(charts))


def _unequal_build_conditions_report_section(unequal: Sequence[UnfairDifference]) -> ReportSection:
    """Returns the report section on unequal conditions of the compared builds."""
    rows = [
        [unfairness.concept.title, unfairness.sentence, unfairness.unfair_difference_cost_text]
        for unfairness in unequal
    ]
    table = TableData("Unequal conditions", ("what", "how", "its cost"), rows)
    return ReportSection("unequal", "Unequal conditions", (), (), (table,))


def _report_section_on_missing_values(comparison: KernelComparison, names: Mapping[str, str]) -> ReportSection:
    """Returns the report section on missing figures, with their reasons."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for kernel in comparison.kernels:
        for operation in comparison.operations:
            cell = comparison.kernel_operation_value(kernel, operation)
            if cell.band is None:
                reasons.setdefault((names[kernel], cell.reason), []).append(operation.title)
    rows = [[kernel, ", ".join(titles), reason] for (kernel, reason), titles in reasons.items()]
    table = TableData("Cells without a figure", ("kernel", "operations", "why"), rows)
    return ReportSection("absent", "Missing figures", (), (), (table,))
