"""Stored points found again over many runs, and taken out as tables."""

from rtoslab.archive.exports import (
    EXPORTERS,
    FIGURE_COLUMNS,
    SAMPLE_COLUMNS,
    export_rows_of_figures,
    export_rows_of_samples,
)
from rtoslab.archive.index import ArchivedPoint, PointFilters, find_stored_points
