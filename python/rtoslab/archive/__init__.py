"""Stored points found again over many runs, and taken out as tables."""

from rtoslab.archive.exports import EXPORTERS, FIGURE_COLUMNS, SAMPLE_COLUMNS, figure_rows, sample_rows
from rtoslab.archive.index import ArchivedPoint, PointFilters, find_stored_points
