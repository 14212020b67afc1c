"""Loads `perfetto_writer` and `perfetto_reader` only when they are used, for the schema's package is slow to load."""

from pathlib import Path

from rtoslab.instruments.timelines import Timeline
from rtoslab.instruments.trace_database import TraceFileContents


def perfetto_trace(timeline: Timeline) -> bytes:
    """Returns a timeline as a serialised Perfetto trace."""
    from rtoslab.instruments.perfetto_writer import PerfettoWriter  # noqa: PLC0415

    return PerfettoWriter(timeline).serialise_timeline()


def read_trace_file(path: Path) -> TraceFileContents:
    """Returns the content of a trace file that `rtoslab trace` wrote. Raises ReportError."""
    from rtoslab.instruments.perfetto_reader import read_perfetto  # noqa: PLC0415

    return read_perfetto(path)
