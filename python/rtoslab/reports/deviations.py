"""Marks kernels that deviate from the port contract as their kernel.toml declares, and were measured all the same."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from rtoslab.reports.table import ChartData, Record, ReportDocument, ReportSection, TableData
from rtoslab.results import MeasuredPoint

MARK: Final = "†"
DEVIATES: Final = "deviates"
"""The flag of records that corresponds to the mark."""
Deviations = Mapping[str, Mapping[str, str]]
"""Kernel -> the checks that it fails as declared -> observation and reason."""
_NAMING_KEYS: Final = {"series", "row", "x", "facet", "test"}
"""Keys of a chart's rows that are shown at its axes, in its legend and above its panels."""


def contract_deviations_by_kernel(measured: Sequence[MeasuredPoint]) -> dict[str, dict[str, str]]:
    """Returns, for each deviating kernel, the checks of the port contract that it fails as declared, with observation
    and reason."""
    by_kernel: dict[str, dict[str, str]] = {}
    for result in measured:
        if result.deviations:
            by_kernel.setdefault(result.point.kernel, {}).update(result.deviations)
    return by_kernel


def deviation_footnote(kernels: Deviations) -> str:
    """Returns a footnote that explains the mark of deviating kernels. Empty if there are none."""
    if not kernels:
        return ""
    text = "; ".join(
        f"{kernel}: {', '.join(f'{check} ({saw})' for check, saw in checks.items())}"
        for kernel, checks in kernels.items()
    )
    return f"{MARK} deviates from the port contract, as its kernel.toml declares. {text}."


def append_deviation_mark_to_kernel_names(text: str, names: Iterable[str]) -> str:
    """Returns the text with the mark of deviating kernels after each of these names.
    A name that has the mark gets no second one.
    """
    for name in names:
        text = re.sub(rf"(?<![\w.-]){re.escape(name)}(?![\w.{MARK}-])", f"{name}{MARK}", text)
    return text


def add_deviation_footnotes_to_section(
    section: ReportSection,
    kernels: Deviations,
    other_names: Iterable[str] = (),
    *,
    all_deviate: bool,
) -> ReportSection:
    """Returns the section with a mark and a footnote in every table and chart that names a deviating kernel.

    A table or chart without any of the names is marked in its title or caption if all results deviate. `other_names`:
    further names of these kernels.
    """
    names = [*kernels, *other_names]
    note = deviation_footnote(kernels)
    return replace(
        section,
        tables=[
            _mark_deviating_kernels_in_table(table, names, note, all_deviate=all_deviate) for table in section.tables
        ],
        charts=[
            _mark_deviating_kernels_in_chart(chart, names, note, all_deviate=all_deviate) for chart in section.charts
        ],
    )


def _flag_records_of_deviating_kernels(
    records: Sequence[Record], names: Sequence[str], *, all_deviate: bool
) -> list[Record]:
    """Returns the records, those of deviating kernels with the flag `deviates`. Published figures get none."""
    return [
        {**record, "flags": "; ".join(filter(None, (str(record.get("flags") or ""), DEVIATES)))}
        if _is_record_of_deviating_kernel(record, names, all_deviate=all_deviate)
        else record
        for record in records
    ]


def _is_record_of_deviating_kernel(record: Record, names: Sequence[str], *, all_deviate: bool) -> bool:
    """Whether a record must get the flag `deviates`: its kernel deviates, it is no paper's figure, and it has no flag
    yet."""
    if record.get("source") == "paper":
        return False
    kernel = str(record.get("kernel") or "")
    concerned = append_deviation_mark_to_kernel_names(kernel, names) != kernel if kernel else all_deviate
    return concerned and DEVIATES not in str(record.get("flags") or "").split("; ")


def _mark_deviating_kernels_in_chart(
    chart: ChartData, names: Sequence[str], note: str, *, all_deviate: bool
) -> ChartData:
    """Returns the chart with the mark after the names of deviating kernels, and the explanation `note` in its
    caption."""
    chart = replace(chart, records=_flag_records_of_deviating_kernels(chart.records, names, all_deviate=all_deviate))
    rows = [
        {
            key: append_deviation_mark_to_kernel_names(cell, names)
            if key in _NAMING_KEYS and isinstance(cell, str)
            else cell
            for key, cell in row.items()
        }
        for row in chart.rows
    ]
    if rows != list(chart.rows):
        return replace(chart, rows=rows, caption=f"{chart.caption} {note}", footnote=note)
    if not all_deviate:
        return chart
    return replace(chart, caption=f"{MARK} {chart.caption} {note}", footnote=note)


def _mark_deviating_kernels_in_table(
    table: TableData, names: Sequence[str], message: str, *, all_deviate: bool
) -> TableData:
    """Returns the table with the mark after the names of deviating kernels, and the explanation `message` in its
    note."""
    table = replace(table, records=_flag_records_of_deviating_kernels(table.records, names, all_deviate=all_deviate))
    words = [number for _, number in table.column_heads]
    rows = [
        [
            cell if number else append_deviation_mark_to_kernel_names(cell, names)
            for cell, number in zip(row, words, strict=True)
        ]
        for row in table.rows
    ]
    columns = tuple(append_deviation_mark_to_kernel_names(column, names) for column in table.columns)
    title = append_deviation_mark_to_kernel_names(table.title, names)
    named = any(MARK in text for text in (title, *columns, *(cell for row in rows for cell in row)))
    if not named and not all_deviate:
        return table
    if not named:
        title = f"{title} {MARK}"
    outcome = replace(table, title=title, columns=columns, rows=rows)
    if message in table.footnote:
        return outcome
    note, footnote = (" ".join(filter(None, (before, message))) for before in (table.note, table.footnote))
    return replace(outcome, note=note, footnote=footnote)


def add_kernel_deviation_footnotes(
    document: ReportDocument, measured: Sequence[MeasuredPoint], names: Mapping[str, str] | None = None
) -> ReportDocument:
    """Returns the report with a mark and a footnote in every table and chart that names a kernel which deviates from
    the port contract.

    If all results deviate, titles and captions are marked. `names`: other names of kernels -> id.
    """
    return add_footnotes_for_deviating_kernels(
        document,
        contract_deviations_by_kernel(measured),
        names,
        all_deviate=all(result.deviations for result in measured),
    )


def add_footnotes_for_deviating_kernels(
    document: ReportDocument, kernels: Deviations, names: Mapping[str, str] | None = None, *, all_deviate: bool
) -> ReportDocument:
    """Returns the report with marks and footnotes for these deviating kernels, as `add_kernel_deviation_footnotes`
    does."""
    if not kernels:
        return document
    also = [name for name, kernel in (names or {}).items() if kernel in kernels and name not in kernels]
    sections = tuple(
        add_deviation_footnotes_to_section(section, kernels, also, all_deviate=all_deviate)
        for section in document.sections
    )
    return replace(
        document, sections=sections, summary=" ".join(filter(None, (document.summary, deviation_footnote(kernels))))
    )
