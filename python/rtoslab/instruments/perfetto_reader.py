"""Reads a Perfetto file that `rtoslab trace` wrote. Each event has its exact cycle."""

from pathlib import Path
from typing import Any, Final

from google.protobuf.message import DecodeError as ProtobufError
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

from rtoslab.base import ReportError
from rtoslab.instruments.perfetto_writer import CLOCK, END_CYCLE, ROOT, has_valid_digest_packet
from rtoslab.instruments.timelines import PinEdge
from rtoslab.instruments.trace_database import TraceFileContents, TraceTimelineSlice
from rtoslab.intake import escape_to_one_line, printable_path, read_bytes

TRACE_BYTES: Final = 1 << 30
_HEAD: Final = "rtoslab: "


def read_perfetto(path: Path) -> TraceFileContents:
    """Returns the content of a Perfetto trace that `rtoslab trace` wrote. Raises ReportError for any other file."""
    data = read_bytes(path, TRACE_BYTES, "the trace", ReportError)
    if not has_valid_digest_packet(data):
        raise ReportError(
            f"{printable_path(path)} is not a complete file of `rtoslab trace`: it is from another program or an "
            "earlier version, or it was truncated or changed; trace the image again."
        )
    trace = Trace()
    try:
        trace.ParseFromString(data)
        return _TraceReader(trace, path).read_trace()
    except (ProtobufError, AttributeError):  # protobuf gives bytes for a text that is not UTF-8
        raise ReportError(f"{printable_path(path)} is not a Perfetto trace; trace the image again.") from None


class _TraceReader:
    """Collects the slices and pin edges from the packets of a Perfetto trace."""

    def __init__(self, trace: Any, path: Path) -> None:
        self.trace = trace
        self.path = path
        self.names: dict[int, tuple[str, int]] = {}
        self.slices: list[TraceTimelineSlice] = []
        self.edges: list[PinEdge] = []
        self.stretch: tuple[int, int, int] | None = None
        """First and last cycle, clock in Hz."""

    def read_trace(self) -> TraceFileContents:
        """Returns the content of the trace. Raises ReportError if rtoslab did not write it."""
        open_slices: dict[int, list[tuple[str, int, int, bool]]] = {}
        for packet in self.trace.packet:
            if packet.HasField("track_descriptor"):
                descriptor = packet.track_descriptor
                self.names[descriptor.uuid] = (escape_to_one_line(descriptor.name), descriptor.parent_uuid)
            elif packet.HasField("track_event"):
                self._read_trace_event(packet.timestamp, packet.track_event, open_slices)
        label = self.names.get(ROOT, ("", 0))[0]
        if not label.startswith(_HEAD) or self.stretch is None:
            raise ReportError(f"{printable_path(self.path)} was not written by `rtoslab trace`; trace the image again.")
        start, end, clock_hz = self.stretch
        return TraceFileContents(label.removeprefix(_HEAD), clock_hz, start, end, self.slices, self.edges)

    def _read_trace_event(
        self, nanosecond: int, event: Any, open_slices: dict[int, list[tuple[str, int, int, bool]]]
    ) -> None:
        """Reads one event of a trace: its bounds, the begin or end of a slice, or a pin's level. `open_slices` are by
        track."""
        facts = {annotation.name: annotation for annotation in event.debug_annotations}
        if "cycle" not in facts:
            return
        cycle = int(facts["cycle"].uint_value)
        if event.track_uuid == ROOT:
            if END_CYCLE in facts and CLOCK in facts:
                self.stretch = (cycle, int(facts[END_CYCLE].uint_value), int(facts[CLOCK].uint_value))
            return
        stack = open_slices.setdefault(event.track_uuid, [])
        if event.type == TrackEvent.TYPE_SLICE_BEGIN:
            ended = "ended" not in facts or facts["ended"].string_value != "no"
            stack.append((escape_to_one_line(event.name), cycle, nanosecond, ended))
        elif event.type == TrackEvent.TYPE_SLICE_END and stack:
            name, start, start_ns, ended = stack.pop()
            track, parent = self.names.get(event.track_uuid, ("", 0))
            group = self.names.get(parent, ("", 0))[0]
            self.slices.append(TraceTimelineSlice(group, track, name, start, cycle, start_ns, ended))
        elif event.type == TrackEvent.TYPE_COUNTER:
            self.edges.append(PinEdge(cycle, self.names.get(event.track_uuid, ("", 0))[0], int(event.counter_value)))
