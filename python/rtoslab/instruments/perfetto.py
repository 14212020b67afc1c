"""The door to `perfetto_writer` and `perfetto_reader`, which load the schema's package: nothing else waits for it."""

from pathlib import Path

from rtoslab.instruments.timelines import Timeline
from rtoslab.instruments.trace_database import TraceContents


def perfetto_trace(timeline: Timeline) -> bytes:
    """A timeline as a serialised Perfetto trace."""
    from rtoslab.instruments.perfetto_writer import PerfettoWriter  # noqa: PLC0415

    return PerfettoWriter(timeline).write()


def read_trace(path: Path) -> TraceContents:
    """Returns what `rtoslab trace` wrote. Raises ReportError."""
    from rtoslab.instruments.perfetto_reader import read_perfetto  # noqa: PLC0415

    return read_perfetto(path)
