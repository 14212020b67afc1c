"""A document whose tables and charts mark the kernels that deviate from the port contract."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rtoslab.reports.deviations import Deviations, deviating, footnote, mark_section
from rtoslab.reports.table import Document
from rtoslab.results import MeasuredPoint


def mark_deviations(
    document: Document, measured: Sequence[MeasuredPoint], names: Mapping[str, str] | None = None
) -> Document:
    """The same with mark and footnote in every table and chart that names such a kernel, by its id or another name.

    If all results deviate, titles and captions are marked. `names` are other names -> id."""
    return mark_deviations_by(
        document, deviating(measured), names, all_deviate=all(result.deviations for result in measured)
    )


def mark_deviations_by(
    document: Document, kernels: Deviations, names: Mapping[str, str] | None = None, *, all_deviate: bool
) -> Document:
    """The same where the figures are no points that were stored."""
    if not kernels:
        return document
    also = [name for name, kernel in (names or {}).items() if kernel in kernels and name not in kernels]
    sections = tuple(mark_section(section, kernels, also, all_deviate=all_deviate) for section in document.sections)
    return replace(document, sections=sections, summary=" ".join(filter(None, (document.summary, footnote(kernels)))))
