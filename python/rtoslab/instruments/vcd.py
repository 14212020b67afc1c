"""Writes a timeline's wires as VCD, for GTKWave and PulseView: pins, a wire for each core that is 1 in a handler,
and for each spinlock one that is 1 while it is held.

One unit of time is a picosecond, rounded down from the cycle. The header has the clock, so that cycles can be
computed exactly. A wire whose level was not known before its first change is x until then."""

import io
from typing import Final

from vcd.writer import VCDWriter

from rtoslab.instruments.timelines import HANDLERS, LOCKS, Timeline
from rtoslab.intake import escape_to_one_line

_PICOSECONDS: Final = 1_000_000_000_000


def picoseconds_at_cycle(timeline: Timeline, cycle: int) -> int:
    """Returns the picoseconds from the start of a timeline to a cycle, rounded down."""
    return (cycle - timeline.start) * _PICOSECONDS // timeline.clock_hz


def timeline_as_vcd(timeline: Timeline) -> str:
    """Returns the content of a VCD file with the wires of a timeline: pins, handlers, spinlocks."""
    changes = _wire_level_changes(timeline)
    stream = io.StringIO()
    label = escape_to_one_line(timeline.label).replace("$", "_")
    comment = f"{label}; clock {timeline.clock_hz} Hz; time 0 is cycle {timeline.start} since reset"
    with VCDWriter(stream, timescale="1 ps", date="", comment=comment, version="rtoslab") as writer:
        wires = {
            path: writer.register_var(path[0], path[1], "wire", size=1, init="x" if path[0] == "pins" else 0)
            for path in sorted({path for _, path, _ in changes})
        }
        for cycle, path, level in changes:
            writer.change(wires[path], picoseconds_at_cycle(timeline, cycle), level)
        writer.close(picoseconds_at_cycle(timeline, timeline.end))
    return stream.getvalue()


def _wire_level_changes(timeline: Timeline) -> list[tuple[int, tuple[str, str], int]]:
    """Returns every level change of a wire as (cycle, (scope, wire), level), in the order of time. A wire with nested
    spans is high while any lasts."""
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
