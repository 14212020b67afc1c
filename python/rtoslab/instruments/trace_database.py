"""A trace as SQL tables: SQLite in memory, from a timeline or from its Perfetto file.

slice(track_group, track, name, depth, start_cycle, end_cycle, cycles, own_cycles, start_ns, ended)
pin(name, cycle, level)
trace(label, clock_hz, start_cycle, end_cycle)

`own_cycles` of a task's slice are those without the handlers that ran meanwhile on its core. Perfetto's own query
engine is a program that its package downloads on first use. This works without a network."""

import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from typing import Final

from rtoslab.base import PlanError, TitledTable
from rtoslab.instruments.timelines import HANDLERS, TASKS, PinEdge, Timeline
from rtoslab.intake import LINE_CHARS, STORED_BYTES, quote_text

_SCHEMA: Final = """
CREATE TABLE slice (track_group TEXT, track TEXT, name TEXT, depth INTEGER, start_cycle INTEGER, end_cycle INTEGER,
  cycles INTEGER, own_cycles INTEGER, start_ns INTEGER, ended INTEGER);
CREATE TABLE pin (name TEXT, cycle INTEGER, level INTEGER);
CREATE TABLE trace (label TEXT, clock_hz INTEGER, start_cycle INTEGER, end_cycle INTEGER);
"""
NAMED: Final[Mapping[str, str]] = {
    "load": """
        SELECT track_group AS core, name AS task, count(*) AS times, sum(own_cycles) AS cycles,
          printf('%.2f', 100.0 * sum(own_cycles) / (SELECT end_cycle - start_cycle FROM trace)) AS "% of core"
        FROM slice WHERE track = 'tasks' GROUP BY core, task
        UNION ALL
        SELECT track_group, 'handler ' || name, count(*), sum(cycles),
          printf('%.2f', 100.0 * sum(cycles) / (SELECT end_cycle - start_cycle FROM trace))
        FROM slice WHERE track = 'interrupts' AND depth = 0 GROUP BY 1, 2
        ORDER BY 1, 4 DESC, 2""",
    "switches": """
        SELECT track_group AS core, name AS task, start_cycle, cycles AS "cycles until the next switch"
        FROM slice WHERE track = 'tasks' ORDER BY cycles DESC, start_cycle""",
    "calls": """
        SELECT track AS task, name AS call, count(*) AS times, min(cycles) AS min, max(cycles) AS max,
          sum(cycles) AS total FROM slice
        WHERE track_group = 'tasks' AND ended GROUP BY 1, 2 ORDER BY total DESC, 1, 2""",
    "locks": """
        SELECT track_group AS "of", track, name, count(*) AS times, max(cycles) AS longest, sum(cycles) AS total
        FROM slice WHERE track_group = 'spinlocks' OR track = 'spinlock waits'
        GROUP BY 1, 2, 3 ORDER BY longest DESC""",
}
"""Queries that have a name."""
_LATENCY: Final = """
    SELECT begun.start_cycle AS "from cycle", min(done.start_cycle) AS "to cycle",
      min(done.start_cycle) - begun.start_cycle AS cycles
    FROM slice AS begun JOIN slice AS done ON done.name = ?2 AND done.start_cycle > begun.start_cycle
      AND done.start_cycle <= begun.start_cycle + ?3
    WHERE begun.name = ?1 GROUP BY begun.rowid ORDER BY cycles DESC, 1"""
_NAMED_MOST: Final = 8
_ROWS_MOST: Final = 100_000
_TURN: Final = 1_000
"""Steps of SQLite's machine between two looks at the limits."""
_STEPS_MOST: Final = 200_000
"""Turns before a question is given up."""
_SECONDS_MOST: Final = 30.0
"""For questions that take long in few steps."""
_TOO_LONG: Final = "it takes too long; select less, or use fewer joins"
_TEXT_MOST: Final = LINE_CHARS
"""Bytes of one value: a function that makes a longer one takes its time in a single step."""
_ANSWER_BYTES: Final = STORED_BYTES
"""All values of an answer together."""


@dataclass(frozen=True, slots=True)
class TraceTimelineSlice:
    """A span of a timeline as a row of the trace's SQL tables."""

    group: str
    track: str
    name: str
    start: int
    end: int
    start_ns: int
    ended: bool


@dataclass(frozen=True, slots=True)
class TraceFileContents:
    """The content of a trace file: slices and pin edges. Cycles since reset."""

    label: str
    clock_hz: int
    start: int
    end: int
    slices: Sequence[TraceTimelineSlice]
    edges: Sequence[PinEdge]


def timeline_as_trace_file_contents(timeline: Timeline) -> TraceFileContents:
    """Returns a timeline in the form in which a trace file contains it."""
    slices = [
        TraceTimelineSlice(
            span.track.group, span.track.name, span.name, span.start, span.end,
            (span.start - timeline.start) * 1_000_000_000 // timeline.clock_hz, span.ended,
        )
        for span in timeline.spans
    ]  # fmt: skip
    return TraceFileContents(timeline.label, timeline.clock_hz, timeline.start, timeline.end, slices, timeline.edges)


class TraceDatabase:
    """A trace as SQL tables in memory, for queries."""

    def __init__(self, trace: TraceFileContents) -> None:
        self._database = sqlite3.connect(":memory:")
        self._database.executescript(_SCHEMA)
        self._database.execute(
            "INSERT INTO trace VALUES (?, ?, ?, ?)", (trace.label, trace.clock_hz, trace.start, trace.end)
        )
        self._database.executemany(
            "INSERT INTO slice VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", _trace_slice_table_rows(trace.slices)
        )
        self._database.executemany(
            "INSERT INTO pin VALUES (?, ?, ?)", [(edge.pin, edge.cycle, edge.level) for edge in trace.edges]
        )
        self._database.execute("CREATE INDEX by_name ON slice (name, start_cycle)")
        self._database.commit()
        self._database.set_authorizer(_authorise_sql_action)
        self._database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _TEXT_MOST)
        self._turns = 0
        self._deadline_s = 0.0
        self._database.set_progress_handler(self._stop_sql_query_beyond_limits, _TURN)

    def answer_predefined_query(self, name: str) -> TitledTable:
        """Returns the rows of a predefined query on the trace, such as `load`."""
        return self.run_sql_query_on_trace(NAMED[name], title=name)

    def latency_between_trace_slices_table(self, begin: str, end: str, limit_cycles: int) -> TitledTable:
        """Returns the cycles from each slice of the trace named `begin` to the next one named `end`, the longest
        first. Raises PlanError for a name that no slice has."""
        for name in (begin, end):
            if not self.run_sql_query_on_trace("SELECT 1 FROM slice WHERE name = ? LIMIT 1", (name,)).rows:
                known = [
                    str(row[0])
                    for row in self.run_sql_query_on_trace("SELECT DISTINCT name FROM slice ORDER BY name").rows
                ]
                near = get_close_matches(name, known, 1)
                hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(known[:_NAMED_MOST])}."
                raise PlanError(f"The trace has no slice named {quote_text(name)}; {hint}")
        return self.run_sql_query_on_trace(_LATENCY, (begin, end, limit_cycles), title=f"{begin} to {end}")

    def run_sql_query_on_trace(self, sql: str, values: Sequence[str | int] = (), title: str = "") -> TitledTable:
        """Returns the rows of a SELECT on the trace. Raises PlanError if SQLite refuses it or it exceeds a limit."""
        self._turns, self._deadline_s = 0, time.monotonic() + _SECONDS_MOST
        try:
            cursor = self._database.execute(sql, tuple(values))
            rows = _read_size_limited_sql_rows(cursor)
        except (sqlite3.Error, sqlite3.Warning, ValueError, MemoryError) as cause:
            reason = _TOO_LONG if str(cause) == "interrupted" else str(cause) or "it needs too much memory"
            raise PlanError(
                f"The query cannot be answered ({reason}); `rtoslab trace --help` lists the tables."
            ) from None
        columns = tuple(column[0] for column in cursor.description or ())
        return TitledTable(
            "query", title, columns, [tuple(_cell_as_text_or_integer(cell) for cell in row) for row in rows]
        )

    def _stop_sql_query_beyond_limits(self) -> int:
        """Returns 1 to stop SQLite after too many steps or too long, else 0. SQLite calls it regularly."""
        self._turns += 1
        return int(self._turns > _STEPS_MOST or time.monotonic() > self._deadline_s)


def _read_size_limited_sql_rows(cursor: sqlite3.Cursor) -> list[tuple[object, ...]]:
    """Returns the first rows of an SQL result. Raises ValueError if they have too many bytes together."""
    rows: list[tuple[object, ...]] = []
    held = 0
    for row in islice(cursor, _ROWS_MOST + 1):
        if len(rows) == _ROWS_MOST:
            raise ValueError(f"its answer has more than {_ROWS_MOST:,} rows")
        held += sum(len(cell) for cell in row if isinstance(cell, str | bytes))
        if held > _ANSWER_BYTES:
            raise ValueError(f"its answer has more than {_ANSWER_BYTES:,} bytes")
        rows.append(row)
    return rows


def _cell_as_text_or_integer(cell: object) -> str | int | None:
    """Returns a cell of an SQL result as a text or an integer."""
    return cell if cell is None or isinstance(cell, int) else f"{cell:g}" if isinstance(cell, float) else str(cell)


def _authorise_sql_action(action: int, *_: object) -> int:
    """Tells SQLite whether an action is allowed: reading is, attaching a file and writing are not."""
    allowed = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
    return sqlite3.SQLITE_OK if action in allowed else sqlite3.SQLITE_DENY


def _trace_slice_table_rows(slices: Sequence[TraceTimelineSlice]) -> Iterable[tuple[str | int, ...]]:
    """Yields the rows of the SQL table `slice`, with nesting depths and own cycles."""
    by_track: dict[tuple[str, str], list[TraceTimelineSlice]] = {}
    for slice_ in sorted(slices, key=lambda traced_slice: (traced_slice.start, -traced_slice.end)):
        by_track.setdefault((slice_.group, slice_.track), []).append(slice_)
    depths = {track: _nesting_depths_of_trace_slices(many) for track, many in by_track.items()}
    for (group, track), many in by_track.items():
        handlers = [
            track_row
            for track_row, depth in zip(
                by_track.get((group, HANDLERS), []), depths.get((group, HANDLERS), []), strict=True
            )
            if depth == 0
        ]
        inside = _handler_cycles(many, handlers) if track == TASKS else [0] * len(many)
        for track_row, depth, taken in zip(many, depths[group, track], inside, strict=True):
            yield (
                group, track, track_row.name, depth, track_row.start, track_row.end, track_row.end - track_row.start,
                track_row.end - track_row.start - taken, track_row.start_ns, int(track_row.ended),
            )  # fmt: skip


def _nesting_depths_of_trace_slices(many: Sequence[TraceTimelineSlice]) -> list[int]:
    """Returns, for each slice, how many slices of its track contain it."""
    ends: list[int] = []
    depths = []
    for traced_slice in many:
        while ends and ends[-1] <= traced_slice.start:
            ends.pop()
        depths.append(len(ends))
        ends.append(traced_slice.end)
    return depths


def _handler_cycles(tasks: Sequence[TraceTimelineSlice], handlers: Sequence[TraceTimelineSlice]) -> list[int]:
    """Returns, for each task's slice, the cycles in which a handler ran. Slices of neither list overlap."""
    slices, first = [], 0
    for task in tasks:
        while first < len(handlers) and handlers[first].end <= task.start:
            first += 1
        taken, at = 0, first
        while at < len(handlers) and handlers[at].start < task.end:
            taken += min(handlers[at].end, task.end) - max(handlers[at].start, task.start)
            at += 1
        slices.append(taken)
    return slices
