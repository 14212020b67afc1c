"""The mark on kernels that were measured although they do something against the port contract, as they declare."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from rtoslab.reports.table import Section, TableData
from rtoslab.results import Measured

MARK = "†"


def deviating(measured: Sequence[Measured]) -> dict[str, dict[str, str]]:
    """By kernel: the checks that it fails as declared -> what was seen, with the reason."""
    found: dict[str, dict[str, str]] = {}
    for each in measured:
        if each.deviations:
            found.setdefault(each.point.kernel, {}).update(each.deviations)
    return found


def footnote(kernels: Mapping[str, Mapping[str, str]]) -> str:
    """What the mark means; empty without such kernels."""
    if not kernels:
        return ""
    told = "; ".join(
        f"{kernel}: {', '.join(f'{check} ({saw})' for check, saw in checks.items())}"
        for kernel, checks in kernels.items()
    )
    return f"{MARK} deviates from the port contract, as its kernel.toml declares. {told}."


def marked(text: str, kernels: Mapping[str, Mapping[str, str]]) -> str:
    """The mark behind each deviating kernel that a text names."""
    for kernel in kernels:
        text = re.sub(rf"(?<![\w.-]){re.escape(kernel)}(?![\w.-])", f"{kernel}{MARK}", text)
    return text


def mark_tables(section: Section, kernels: Mapping[str, Mapping[str, str]], *, all_deviate: bool) -> Section:
    """The section with every table marked and explained; where no row names a kernel, its title is marked."""
    return replace(section, tables=[_mark(each, kernels, all_deviate=all_deviate) for each in section.tables])


def _mark(table: TableData, kernels: Mapping[str, Mapping[str, str]], *, all_deviate: bool) -> TableData:
    words = [number for _, number in table.heads]
    rows = [
        [cell if number else marked(cell, kernels) for cell, number in zip(row, words, strict=True)]
        for row in table.rows
    ]
    named = any(MARK in cell for row in rows for cell in row)
    if not named and not all_deviate:
        return table
    title = table.title if named else f"{table.title} {MARK}"
    return replace(table, title=title, rows=rows, note=" ".join(filter(None, (table.note, footnote(kernels)))))
