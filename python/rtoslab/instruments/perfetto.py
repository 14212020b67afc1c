"""The door to `perfetto_writer`, which loads the schema's package: no other command should wait for that."""

from rtoslab.instruments.timelines import Timeline


def perfetto_trace(timeline: Timeline) -> bytes:
    """A timeline as a serialised Perfetto trace."""
    from rtoslab.instruments.perfetto_writer import PerfettoWriter  # noqa: PLC0415

    return PerfettoWriter(timeline).write()
