"""Stored points found again over many runs, and taken out as tables."""

from typing import TYPE_CHECKING

from rtoslab.base import lazy_attribute_getter

if TYPE_CHECKING:
    from rtoslab.archive.exports import (
        EXPORTERS,
        FIGURE_COLUMNS,
        SAMPLE_COLUMNS,
        export_rows_of_measured_values,
        table_rows_of_latency_samples,
    )
    from rtoslab.archive.index import ArchivedMeasuredPoint, StoredPointFilters, find_stored_points
    from rtoslab.archive.run_list import RunSummary, summarize_archived_runs, summarize_runs
else:
    __getattr__ = lazy_attribute_getter(__name__)
