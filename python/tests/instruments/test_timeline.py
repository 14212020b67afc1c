"""Timelines: planted faults are to be seen, and what is written reads back by other people's readers."""

import io
from collections import defaultdict
from functools import cache
from itertools import pairwise

import pytest
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent
from vcdvcd import VCDVCD

from rtoslab.instruments.perfetto import perfetto_trace
from rtoslab.instruments.perfetto_writer import nanoseconds_at_cycle
from rtoslab.instruments.subject import find_observed_image
from rtoslab.instruments.timelines import HANDLERS, LOCKS, TASKS, WAITS, Timeline, TimelineInterval, record_timeline
from rtoslab.instruments.vcd import picoseconds_at_cycle, timeline_as_vcd
from tests.instruments.images import CATALOGUE, scene_subject


@cache
def scene_timeline(name: str, kernel: str, board: str) -> Timeline:
    return record_timeline(scene_subject(name, kernel, board, 30))


@cache
def two_cores() -> Timeline:
    return record_timeline(find_observed_image(CATALOGUE, "t6", kernel="freertos", board="pico", cores=2, window_ms=5))


def calls(result: Timeline, task: str, function: str) -> tuple[TimelineInterval, ...]:
    return tuple(span for span in result.spans_of_timeline_track(TASKS, task) if span.name == function)


def running(result: Timeline, task: str, start: int, end: int) -> int:
    """Cycles in which core 0 ran a task, within a stretch."""
    mine = (span for span in result.spans_of_timeline_track("core 0", TASKS) if span.name == task)
    return sum(max(0, min(span.end, end) - max(span.start, start)) for span in mine)


def test_priority_inversion_shows_the_middle_task_inside_the_take() -> None:
    result = scene_timeline("priority_inversion", "rt", "nucleo-f446re")
    waits = [call for call in calls(result, "high", "rt_sem_wait") if call.end - call.start > 10_000]
    assert len(waits) == 1, "the most urgent task waits long once"
    (wait,) = waits
    length = wait.end - wait.start
    assert wait.ended
    assert running(result, "medium", wait.start, wait.end) > 0.5 * length, "for a task that has no part in the lock"
    assert running(result, "low", wait.start, wait.end) > 0
    assert running(result, "high", wait.start, wait.end) < 0.01 * length
    released = calls(result, "low", "rt_sem_post")[0]
    assert wait.start < released.start < wait.end
    assert released.start - wait.start > 0.9 * length, "the lock comes back only at its end"


def test_deadlock_is_two_takes_that_never_end() -> None:
    result = scene_timeline("deadlock", "rt", "nucleo-f103rb")
    stuck = [calls(result, task, "rt_mutex_lock")[-1] for task in ("left", "right")]
    assert all(not span.ended and span.end == result.end for span in stuck)
    assert stuck[0].facts["r0"] != stuck[1].facts["r0"], "each wants the other one's lock"
    since = max(span.start for span in stuck) + 1000
    assert not running(result, "left", since, result.end)
    assert not running(result, "right", since, result.end)
    firsts = [calls(result, task, "rt_mutex_lock")[0] for task in ("left", "right")]
    assert [first.facts["r0"] for first in firsts] == [stuck[1].facts["r0"], stuck[0].facts["r0"]]


def test_lost_wake_up_is_a_resume_before_its_suspend() -> None:
    result = scene_timeline("missed_wakeup", "freertos", "nucleo-f103rb")
    (resume,) = calls(result, "producer", "vTaskResume")
    (suspend,) = calls(result, "consumer", "vTaskSuspend")
    assert resume.end < suspend.start
    assert not suspend.ended
    assert not running(result, "consumer", suspend.start + 1000, result.end)


def test_exactly_one_task_runs_on_a_core() -> None:
    result = two_cores()
    for core in ("core 0", "core 1"):
        spans = result.spans_of_timeline_track(core, TASKS)
        assert [span.start for span in spans[1:]] == [span.end for span in spans[:-1]]
        assert (spans[0].start, spans[-1].end) == (result.start, result.end)
    ticks = [item for item in result.spans_of_timeline_track("core 0", HANDLERS) if item.facts.get("exception") == 15]
    assert len(ticks) == pytest.approx(5, abs=1), "a tick a millisecond"


def test_spinlock_wait_ends_when_the_core_takes_it() -> None:
    result = two_cores()
    waits = 0
    for lock in ("task lock", "ISR lock"):
        held = result.spans_of_timeline_track(LOCKS, lock)
        assert all(before.end <= after.start for before, after in pairwise(held)), "one holder at a time"
        taken = {(span.name, span.start) for span in held}
        for core in ("core 0", "core 1"):
            mine = [span for span in result.spans_of_timeline_track(core, WAITS) if span.name == lock and span.ended]
            assert {(core, span.end) for span in mine} <= taken
            waits += len(mine)
    assert waits > 100


def test_perfetto_trace_is_readable_and_its_slices_nest() -> None:
    result = two_cores()
    trace = Trace()
    trace.ParseFromString(perfetto_trace(result))
    names: dict[int, str] = {}
    parents: dict[int, int] = {}
    open_slices: dict[int, list[tuple[str, int]]] = defaultdict(list)
    slices = []
    last = 0
    assert trace.packet[-1].HasField("for_testing"), "the seal"
    for packet in trace.packet[:-1]:
        assert packet.trusted_packet_sequence_id
        if packet.HasField("track_descriptor"):
            descriptor = packet.track_descriptor
            assert descriptor.uuid not in names
            names[descriptor.uuid], parents[descriptor.uuid] = descriptor.name, descriptor.parent_uuid
            continue
        event = packet.track_event
        cycle = next(annotation.uint_value for annotation in event.debug_annotations if annotation.name == "cycle")
        assert packet.timestamp == nanoseconds_at_cycle(result, cycle)
        assert event.track_uuid in names, "described before it is used"
        if event.type in {TrackEvent.TYPE_COUNTER, TrackEvent.TYPE_INSTANT}:
            continue
        assert packet.timestamp >= last, "in order of time"
        last = packet.timestamp
        if event.type == TrackEvent.TYPE_SLICE_BEGIN:
            open_slices[event.track_uuid].append((event.name, cycle))
        else:
            name, start = open_slices[event.track_uuid].pop()
            slices.append((names[parents[event.track_uuid]], names[event.track_uuid], name, start, cycle))
    assert not any(open_slices.values())
    spans = [(span.track.group, span.track.name, span.name, span.start, span.end) for span in result.spans]
    assert sorted(slices) == sorted(spans)


def test_same_trace_gives_the_same_bytes_and_nanoseconds_are_rounded_down() -> None:
    result = scene_timeline("missed_wakeup", "freertos", "nucleo-f103rb")
    assert perfetto_trace(result) == perfetto_trace(result)
    exact = 7 * 1e9 / result.clock_hz
    assert nanoseconds_at_cycle(result, result.start + 7) == int(exact) < exact


def test_pins_read_back_from_vcd() -> None:
    """The pin instrument's marks, by an independent reader."""
    subject = find_observed_image(
        CATALOGUE, "call_times", kernel="freertos", board="nucleo-f446re", config={"instrument": "pin", "samples": "20"}
    )
    result = record_timeline(subject)
    assert len(result.edges) > 20
    text = timeline_as_vcd(result)
    reader = (
        VCDVCD(vcd_string=text) if "vcd_string" in VCDVCD.__init__.__code__.co_varnames else VCDVCD(io.StringIO(text))
    )
    for pin in {edge.pin for edge in result.edges}:
        signal = next(reader[name] for name in reader.signals if name.startswith(f"pins.{pin}"))
        changes = [(time, int(level)) for time, level in signal.tv if level != "x"]
        edges = [(picoseconds_at_cycle(result, edge.cycle), edge.level) for edge in result.edges if edge.pin == pin]
        assert changes == edges
    handler = next(reader[name] for name in reader.signals if "core_0_handler" in name)
    assert {level for _, level in handler.tv} == {"0", "1"}
