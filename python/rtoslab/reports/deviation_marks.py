"""Marks the kernels that deviate from the port contract in a document's tables and charts."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rtoslab.reports.deviations import Deviations, declared_deviations, deviation_footnote, mark_deviations_in_section
from rtoslab.reports.table import ReportDocument
from rtoslab.results import MeasuredPoint


def mark_deviations(
    document: ReportDocument, measured: Sequence[MeasuredPoint], names: Mapping[str, str] | None = None
) -> ReportDocument:
    """Returns the report with a mark and a footnote in every table and chart that names a kernel which deviates from
    the port contract.

    If all results deviate, titles and captions are marked. `names`: other names of kernels -> id.
    """
    return mark_deviations_by(
        document, declared_deviations(measured), names, all_deviate=all(result.deviations for result in measured)
    )


def mark_deviations_by(
    document: ReportDocument, kernels: Deviations, names: Mapping[str, str] | None = None, *, all_deviate: bool
) -> ReportDocument:
    """Returns the report with marks and footnotes for these deviating kernels, as `mark_deviations` does."""
    if not kernels:
        return document
    also = [name for name, kernel in (names or {}).items() if kernel in kernels and name not in kernels]
    sections = tuple(
        mark_deviations_in_section(section, kernels, also, all_deviate=all_deviate) for section in document.sections
    )
    return replace(
        document, sections=sections, summary=" ".join(filter(None, (document.summary, deviation_footnote(kernels))))
    )
