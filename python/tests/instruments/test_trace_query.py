"""A trace asked: load that adds up, what SQL may do, and an image whose kernel is told by its symbols."""

import json
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace

from rtoslab.base import PlanError, ReportError
from rtoslab.cli import app
from rtoslab.instruments import NAMED_QUERIES, TraceDatabase, find_observed_image, read_trace_file, trace_database
from rtoslab.instruments.perfetto import perfetto_trace
from rtoslab.instruments.perfetto_writer import make_trace_digest_packet
from rtoslab.instruments.timelines import Timeline, TimelineInterval, TimelineTrack
from rtoslab.instruments.trace_database import TraceFileContents, TraceTimelineSlice
from tests.instruments.images import CATALOGUE, scene
from tests.instruments.small_program import small_program


def piece(group: str, track: str, name: str, start: int, end: int) -> TraceTimelineSlice:
    return TraceTimelineSlice(group, track, name, start, end, start, True)


MADE = TraceFileContents(
    "made", 1_000_000_000, 0, 100,
    [
        piece("core 0", "tasks", "a", 0, 60), piece("core 0", "tasks", "b", 60, 100),
        piece("core 0", "interrupts", "isr_outer", 10, 20), piece("core 0", "interrupts", "isr_inner", 12, 15),
        piece("core 0", "interrupts", "isr_outer", 55, 65), piece("tasks", "a", "give", 5, 9),
        piece("tasks", "b", "take", 70, 90),
    ],
    [],
)  # fmt: skip


def test_load_counts_every_cycle_once_with_nested_handlers() -> None:
    rows = {(row[0], row[1]): row for row in TraceDatabase(MADE).answer_predefined_query("load").rows}
    assert rows["core 0", "a"][3] == 60 - 10 - 5
    assert rows["core 0", "b"][3] == 40 - 5
    assert rows["core 0", "handler isr_outer"][2:4] == (2, 20)
    assert ("core 0", "handler isr_inner") not in rows
    assert sum(int(row[3] or 0) for row in rows.values()) == 100


def test_latency_ends_at_the_next_event_within_a_limit() -> None:
    database = TraceDatabase(MADE)
    assert database.latency_between_trace_slices_table("give", "take", 1000).rows == [(5, 70, 65)]
    assert database.latency_between_trace_slices_table("give", "take", 64).rows == []


def test_latency_of_an_unknown_slice_is_refused() -> None:
    """An empty table would say that it never occurred."""
    with pytest.raises(PlanError, match="no slice named 'isr_iner'; did you mean 'isr_inner'"):
        TraceDatabase(MADE).latency_between_trace_slices_table("give", "isr_iner", 1000)
    with pytest.raises(PlanError, match="no slice named 'x'; it has a, b, give"):
        TraceDatabase(MADE).latency_between_trace_slices_table("x", "take", 1000)


def test_no_answer_is_cut_short(monkeypatch: pytest.MonkeyPatch) -> None:
    many = replace(MADE, slices=[piece("core 0", "tasks", "a", 2 * at, 2 * at + 1) for at in range(50)])
    assert len(TraceDatabase(many).latency_between_trace_slices_table("a", "a", 1000).rows) == 49
    assert len(TraceDatabase(many).answer_predefined_query("switches").rows) == 50
    monkeypatch.setattr(trace_database, "_ROWS_MOST", 49)
    with pytest.raises(PlanError, match="more than 49 rows"):
        TraceDatabase(many).run_sql_query_on_trace("SELECT * FROM slice")


COUNTING = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"


@pytest.mark.parametrize(
    "sql",
    [
        "ATTACH DATABASE '/tmp/rtoslab-attached' AS other",
        "DELETE FROM slice",
        "PRAGMA writable_schema = 1",
        "SELECT nothing FROM nowhere",
        "SELECT 1; SELECT 2",
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n",
    ],
)
def test_query_is_read_only_and_limited_in_time(sql: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_database, "_STEPS_MOST", 200)  # the usual number of turns takes seconds
    with pytest.raises(PlanError, match="cannot be answered"):
        TraceDatabase(MADE).run_sql_query_on_trace(sql)
    assert not Path("/tmp/rtoslab-attached").exists()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT length(randomblob(900000000))",
        "SELECT hex(zeroblob(100000))",
        "SELECT replace(printf('%60000d', 1), ' ', 'ab')",
        "SELECT count(length(randomblob(60000))) FROM n",
        "SELECT randomblob(60000) FROM n",
        "SELECT group_concat(printf('%60000d', x)) FROM n",
        "SELECT x FROM n ORDER BY printf('%60000d', x)",
    ],
)
def test_query_with_few_long_steps_is_stopped(sql: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_database, "_SECONDS_MOST", 0.5)
    begun = time.monotonic()
    with pytest.raises(PlanError, match=r"too long|too big|answer has more than"):
        TraceDatabase(MADE).run_sql_query_on_trace(f"{COUNTING} {sql}")
    assert time.monotonic() - begun < 20


def run_command(*words: str) -> Any:
    done = CliRunner().invoke(app, [*words], standalone_mode=False)
    assert done.exception is None, done.exception
    return done


def test_trace_of_an_image_has_tasks_by_name_and_load(tmp_path: Path) -> None:
    elf = scene("priority_inversion", "rt", "nucleo-f446re")
    file = tmp_path / "run.pftrace"
    done = run_command("trace", str(elf), "--board", "nucleo-f446re", "--max-cycles", "2000000", "-o", str(file))
    assert "% of core" in done.stdout
    load = json.loads(run_command("trace", str(file), "load", "--json").stdout)
    assert {"high", "medium", "low"} <= {item["task"] for item in load}
    cycles = sum(item["cycles"] for item in load)
    assert 1_990_000 < cycles <= 2_000_000, "nothing is counted twice, and little before the first thread is lost"
    (message,) = json.loads(run_command("trace", str(file), "SELECT * FROM trace", "--json").stdout)
    assert (message["clock_hz"], message["end_cycle"] - message["start_cycle"]) == (
        read_trace_file(file).clock_hz,
        2_000_000,
    )
    for name in NAMED_QUERIES:
        run_command("trace", str(file), name)
    masked = json.loads(run_command("masked", str(elf), "--board", "nucleo-f446re", "--window", "5ms", "--json").stdout)
    assert {item["kernel"] for item in masked} == {"rt"}


def test_kernel_is_recognised_by_symbols() -> None:
    elf = scene("priority_inversion", "rt", "nucleo-f446re")
    result = find_observed_image(CATALOGUE, str(elf), board="nucleo-f446re").kernel
    assert result is not None
    assert result.id == "rt"
    assert find_observed_image(CATALOGUE, str(small_program("pico")), board="pico").kernel is None


def example_trace() -> bytes:
    spans = [
        TimelineInterval(TimelineTrack("core 0", "tasks"), "ab"[at % 2], 100 * at, 100 * at + 100) for at in range(8)
    ]
    return perfetto_trace(Timeline("made", 100_000_000, 0, 800, tuple(spans), ()))


def cuts(data: bytes) -> Iterator[bytes]:
    """The file without its last packets, one after the other."""
    trace = Trace()
    trace.ParseFromString(data)
    while trace.packet:
        del trace.packet[-1]
        yield trace.SerializeToString(deterministic=True)


def test_truncated_trace_is_refused(tmp_path: Path) -> None:
    """Cut where a packet ends it would show half the load, and joined with another one more than all."""
    file, data = tmp_path / "made.pftrace", example_trace()
    file.write_bytes(data)
    assert [row[3] for row in TraceDatabase(read_trace_file(file)).answer_predefined_query("load").rows] == [400, 400]
    damaged = [
        *cuts(data),
        data + data,
        data + example_trace(),
        data.replace(b"tasks", b"t\xffsks"),
        data[:-1],
        data[1:],
    ]
    assert len(damaged) > 20
    for content in damaged:
        file.write_bytes(content)
        with pytest.raises(ReportError, match="is not a complete file of `rtoslab trace`"):
            read_trace_file(file)


def test_sealed_trace_with_invalid_names_is_refused(tmp_path: Path) -> None:
    body = next(cuts(example_trace())).replace(b"tasks", b"t\xffsks")
    (tmp_path / "made.pftrace").write_bytes(body + make_trace_digest_packet(body))
    with pytest.raises(ReportError, match="is not a Perfetto trace"):
        read_trace_file(tmp_path / "made.pftrace")


def test_file_of_another_program_is_refused(tmp_path: Path) -> None:
    for content in (b"", b"no trace", os.urandom(64)):
        file = tmp_path / "odd.pftrace"
        file.write_bytes(content)
        with pytest.raises(ReportError, match=r"odd\.pftrace"):
            read_trace_file(file)
