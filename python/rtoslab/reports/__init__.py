"""Stage 7: what a person reads."""

from rtoslab.reports.formats import formats

__all__ = ["formats"]
