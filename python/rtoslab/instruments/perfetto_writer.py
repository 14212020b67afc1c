"""Writes a timeline as a Perfetto trace: protobuf for ui.perfetto.dev, by the schema of the `perfetto` package.

Timestamps are nanoseconds from the start of the timeline, rounded down. Each event has its exact cycle since reset,
each slice its cycles. Rounding down keeps the order and the nesting, with an error below a nanosecond."""

import hashlib
from typing import Final

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackDescriptor, TrackEvent

from rtoslab.instruments.timelines import Timeline, TimelineInterval, TimelineTrack

SEQUENCE: Final = 1
ROOT: Final = 1
END_CYCLE: Final = "end_cycle"
CLOCK: Final = "clock_hz"
"""The clock of the stretch, beside its first cycle: on an instant of the whole trace's own track."""
_NANOSECONDS: Final = 1_000_000_000


def nanoseconds_at_cycle(timeline: Timeline, cycle: int) -> int:
    """Returns the nanoseconds from the start of a timeline to a cycle, rounded down."""
    return (cycle - timeline.start) * _NANOSECONDS // timeline.clock_hz


def make_trace_digest_packet(body: bytes) -> bytes:
    """Returns the last packet of a trace, with the SHA-256 of all bytes before it. Perfetto does not show such a
    packet."""
    trace = Trace()
    packet = trace.packet.add()
    packet.trusted_packet_sequence_id = SEQUENCE
    packet.for_testing.str = f"sha256 {hashlib.sha256(body).hexdigest()}"
    return bytes(trace.SerializeToString(deterministic=True))


_SEAL_BYTES: Final = len(make_trace_digest_packet(b""))


def has_valid_digest_packet(data: bytes) -> bool:
    """Whether a trace file ends with the digest of all bytes before it."""
    return data[-_SEAL_BYTES:] == make_trace_digest_packet(data[:-_SEAL_BYTES])


class PerfettoWriter:
    """Writes one timeline as a Perfetto trace."""

    def __init__(self, timeline: Timeline) -> None:
        self.timeline = timeline
        self.trace = Trace()
        self.uuids: dict[tuple[str, ...], int] = {}

    def serialise_timeline(self) -> bytes:
        """Returns the timeline as a serialised Perfetto trace."""
        self._add_track_descriptor_packet(ROOT, f"rtoslab: {self.timeline.label}", None)
        self._add_trace_bounds_event()
        events = []
        for track, spans in _spans_by_track(self.timeline).items():
            uuid = self._track_uuid((track.group, track.name))
            for order, span in enumerate(spans):
                # At one instant: ends before begins; of ends the inner first, of begins the outer.
                events.append(((span.end, 0, -order), uuid, span, TrackEvent.TYPE_SLICE_END))
                events.append(((span.start, 1, order), uuid, span, TrackEvent.TYPE_SLICE_BEGIN))
        for _, uuid, span, kind in sorted(events, key=lambda event: event[0]):
            self._add_timeline_slice_event(uuid, span, kind)
        for edge in self.timeline.edges:
            self._add_counter_event(self._track_uuid(("pins", edge.pin), counter=True), edge.cycle, edge.level)
        body = bytes(self.trace.SerializeToString(deterministic=True))
        return body + make_trace_digest_packet(body)

    def _add_trace_bounds_event(self) -> None:
        """Adds an event with the trace's first and last cycle and its clock in Hz."""
        event = self._add_event(ROOT, self.timeline.start, TrackEvent.TYPE_INSTANT)
        event.name = "stretch"
        for name, value in ((END_CYCLE, self.timeline.end), (CLOCK, self.timeline.clock_hz)):
            annotation = event.debug_annotations.add()
            annotation.name = name
            annotation.uint_value = value

    def _track_uuid(self, path: tuple[str, ...], *, counter: bool = False) -> int:
        """Returns the number of a track of the trace, by its path of names. Adds the track on first use, below its
        group."""
        if path not in self.uuids:
            parent = self._track_uuid(path[:-1]) if len(path) > 1 else ROOT
            self.uuids[path] = len(self.uuids) + ROOT + 1
            self._add_track_descriptor_packet(self.uuids[path], path[-1], parent, counter=counter)
        return self.uuids[path]

    def _add_track_descriptor_packet(self, uuid: int, name: str, parent: int | None, *, counter: bool = False) -> None:
        """Adds a packet that describes a track of the trace. `parent`: the number of the track's group, or None."""
        packet = self.trace.packet.add()
        packet.trusted_packet_sequence_id = SEQUENCE
        packet.track_descriptor.uuid = uuid
        packet.track_descriptor.name = name
        packet.track_descriptor.child_ordering = TrackDescriptor.CHRONOLOGICAL
        if parent is not None:
            packet.track_descriptor.parent_uuid = parent
        if counter:
            packet.track_descriptor.counter.SetInParent()

    def _add_timeline_slice_event(self, uuid: int, span: TimelineInterval, kind: "TrackEvent.Type.ValueType") -> None:
        """Adds the begin or the end of a span to the track with this number."""
        begins = kind == TrackEvent.TYPE_SLICE_BEGIN
        cycle = span.start if begins else span.end
        event = self._add_event(uuid, cycle, kind)
        if begins:
            event.name = span.name
            facts = {"cycles": span.end - span.start, **span.facts, **({} if span.ended else {"ended": "no"})}
            for key, value in facts.items():
                annotation = event.debug_annotations.add()
                annotation.name = key
                if isinstance(value, int):
                    annotation.uint_value = value
                else:
                    annotation.string_value = value

    def _add_counter_event(self, uuid: int, cycle: int, level: int) -> None:
        """Adds an event with a pin's level."""
        self._add_event(uuid, cycle, TrackEvent.TYPE_COUNTER).counter_value = level

    def _add_event(self, uuid: int, cycle: int, kind: "TrackEvent.Type.ValueType") -> TrackEvent:
        """Adds an event at a cycle and returns it."""
        packet = self.trace.packet.add()
        packet.trusted_packet_sequence_id = SEQUENCE
        packet.timestamp = nanoseconds_at_cycle(self.timeline, cycle)
        packet.track_event.type = kind
        packet.track_event.track_uuid = uuid
        annotation = packet.track_event.debug_annotations.add()
        annotation.name = "cycle"
        annotation.uint_value = cycle
        event: TrackEvent = packet.track_event
        return event


def _spans_by_track(timeline: Timeline) -> dict[TimelineTrack, list[TimelineInterval]]:
    """Returns a timeline's spans by track: cores first, then tasks, then spinlocks. Outer spans of a track come before
    inner ones."""
    spans_of: dict[TimelineTrack, list[TimelineInterval]] = {}
    for span in timeline.spans:
        spans_of.setdefault(span.track, []).append(span)
    return dict(
        sorted(spans_of.items(), key=lambda item: (not item[0].group.startswith("core"), *_track_sort_key(item[0])))
    )


def _track_sort_key(track: TimelineTrack) -> tuple[str, str]:
    """Returns the sort key of a timeline's track."""
    return track.group, track.name
