"""Stored points found again over many runs, and taken out as tables."""

from rtoslab.archive.exports import FIGURE_COLUMNS, FORMS, SAMPLE_COLUMNS, figure_rows, sample_rows
from rtoslab.archive.index import ArchivedPoint, Filters, find
