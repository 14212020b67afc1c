"""A timeline's wires as VCD, for GTKWave and PulseView: pins, and for each core whether it runs a handler, for each
spinlock whether it is held.

One unit of time is a picosecond, rounded down from the cycle. The header says the clock, so that cycles can be told
exactly. A wire whose level was not known before its first change is x until then.
"""

import io
from typing import Final

from vcd.writer import VCDWriter

from rtoslab.instruments.timelines import HANDLERS, LOCKS, Timeline
from rtoslab.intake import one_line

_PICOSECONDS: Final = 1_000_000_000_000


def picoseconds(timeline: Timeline, cycle: int) -> int:
    """Returns picoseconds since the start of the section, rounded down."""
    return (cycle - timeline.start) * _PICOSECONDS // timeline.clock_hz


def vcd_text(timeline: Timeline) -> str:
    """The whole file."""
    changes = _changes(timeline)
    stream = io.StringIO()
    label = one_line(timeline.label).replace("$", "_")
    comment = f"{label}; clock {timeline.clock_hz} Hz; time 0 is cycle {timeline.start} since reset"
    with VCDWriter(stream, timescale="1 ps", date="", comment=comment, version="rtoslab") as writer:
        wires = {
            path: writer.register_var(path[0], path[1], "wire", size=1, init="x" if path[0] == "pins" else 0)
            for path in sorted({path for _, path, _ in changes})
        }
        for cycle, path, level in changes:
            writer.change(wires[path], picoseconds(timeline, cycle), level)
        writer.close(picoseconds(timeline, timeline.end))
    return stream.getvalue()


def _changes(timeline: Timeline) -> list[tuple[int, tuple[str, str], int]]:
    """Cycle, scope and wire, level, in order of time. A wire that nests is high while anything is."""
    changes = [(edge.cycle, ("pins", edge.pin), edge.level) for edge in timeline.edges]
    steps: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for span in timeline.spans:
        if span.track.name == HANDLERS and "exception" in span.facts:
            wire = ("cores", span.track.group.replace(" ", "_") + "_handler")
        elif span.track.group == LOCKS:
            wire = ("spinlocks", span.track.name.replace(" ", "_"))
        else:
            continue
        steps.setdefault(wire, []).extend(((span.start, 1), (span.end, -1)))
    for wire, moves in steps.items():
        depth = 0
        for cycle, move in sorted(moves):
            before, depth = depth, depth + move
            if (before == 0) != (depth == 0):
                changes.append((cycle, wire, int(depth > 0)))
    return sorted(changes, key=lambda change: change[0])
