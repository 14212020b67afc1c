"""Decodes a benchmark's record stream strictly: typed samples with units, or an error that names the line.

It prevents numbers from a damaged or foreign stream. There is no lenient mode. Every line must carry its check sum and
its place in the sequence, the stream must begin and end, and the firmware's own overrides (fault, assert, overflow,
error) take precedence over everything else that was received."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from rtoslab.base import DecodeError, VoidRunError
from rtoslab.intake import SERIAL_VALUES, STREAM_BYTES, STREAM_LINES, escape_to_one_line
from rtoslab.records.samples import (
    DecodedRun,
    EmptyMeasurement,
    FirmwareTaskReport,
    HeapReport,
    MeasuredWindow,
    MeasurementWindowCounter,
    MetricSamples,
    ReportedCheck,
    ReportedImageIdentity,
    StackReport,
)
from rtoslab.records.wire import (
    OVERRIDES,
    ChecksummedRecordLine,
    WireFormatConstants,
    count_values_after_repeat_expansion,
    expand_repeat_counts,
    is_valid_wire_format_field,
    parse_record_line,
)

_BEGIN: Final = b"@0 begin "
_NUMBER_SUFFIXES: Final = ("_hz", "_ms", "_us", "_ticks", "_cycles", "_bytes", "_percent", "samples")
"""Endings of the names of parameters whose value is a number."""


@dataclass(frozen=True, slots=True)
class ExpectedImageIdentity:
    """The identity (run and manifest) that the started image must report."""

    run: str
    manifest: int


def decode_records(
    raw: bytes, constants: WireFormatConstants, expected: ExpectedImageIdentity | None = None
) -> DecodedRun:
    """Returns the run that a benchmark image reported: its whole record stream, decoded and checked.

    Raises VoidRunError if the firmware declared its run void, else DecodeError for the first defect.
    """
    if len(raw) > STREAM_BYTES or raw.count(b"\n") > STREAM_LINES:
        raise DecodeError(
            0, f"it is longer than {STREAM_BYTES:,} bytes or {STREAM_LINES:,} lines; ask for fewer samples."
        )
    start = raw.find(_BEGIN)
    if start < 0:
        what = "nothing was received" if not raw else f"no begin record in {len(raw)} bytes"
        raise _find_error_of_invalid_run(raw, 1, constants) or DecodeError(0, f"{what}.")
    first_number = raw.count(b"\n", 0, start) + 1
    try:
        decoded = _decode_run_from_record_lines(
            _parse_record_lines(raw[start:], first_number, constants), constants, expected, start
        )
    except DecodeError as defect:
        raise _find_error_of_invalid_run(raw, 1, constants) or defect from None
    earlier = _find_error_of_invalid_run(raw[:start], 1, constants)
    if earlier is not None and earlier.fields["run"] == decoded.begin.run:  # another run's last words are noise
        raise earlier
    return decoded


def split_record_streams_by_image(raw: bytes) -> list[bytes]:
    """Splits bytes from a serial port into one record stream for each image that sent. Each stream begins with its
    begin record.

    Noise before the first one is part of it.
    """
    starts = [match.start() for match in re.finditer(rb"^@0 begin ", raw, re.MULTILINE)]
    edges = [0, *starts[1:], len(raw)]
    return [raw[start:end] for start, end in pairwise(edges)]


def decode_unfinished_run(
    raw: bytes, constants: WireFormatConstants, expected: ExpectedImageIdentity | None
) -> DecodedRun | None:
    """Returns the records of a run that stopped before its end, up to the first defect. None if not even its identity
    was received.

    The conformance suite uses it: the notes of one scene are valid whatever became of a later one. No figure is taken
    from it.
    """
    start = raw.find(_BEGIN)
    lines: list[ChecksummedRecordLine] = []
    for number, text in enumerate(raw[:STREAM_BYTES][max(start, 0) :].split(b"\n")[:STREAM_LINES], 1):
        try:
            line = parse_record_line(text.removesuffix(b"\r"), number, constants.line_max_chars)
        except DecodeError:
            break
        if line.record in OVERRIDES or line.record == "end" or line.seq != len(lines):
            break
        lines.append(line)
    if not lines:
        return None
    body = {"run": lines[0].fields["run"], "records": str(len(lines)), "status": "ok"}
    return _decode_run_from_record_lines(
        [*lines, ChecksummedRecordLine(0, len(lines), "end", body)], constants, expected, start
    )


def _find_error_of_invalid_run(raw: bytes, first_number: int, constants: WireFormatConstants) -> VoidRunError | None:
    """Returns the error for the first record in which the firmware declared its run void (a fault, for example). None
    if there is none.

    `first_number`: that of the first line.
    """
    for number, text in enumerate(raw.split(b"\n"), first_number):
        if not any(b" " + name.encode() + b" " in text for name in OVERRIDES):
            continue
        try:
            line = parse_record_line(text.removesuffix(b"\r"), number, constants.line_max_chars)
        except DecodeError:
            continue
        if line.record in OVERRIDES:
            return VoidRunError(
                number,
                line.record,
                {key: str(line.field_value(key)) if "%" in value else value for key, value in line.fields.items()},
            )
    return None


def _parse_record_lines(
    stream: bytes, first_number: int, constants: WireFormatConstants
) -> list[ChecksummedRecordLine]:
    """Returns all record lines of a stream, with their numbers from `first_number` on. Raises DecodeError for the first
    defect."""
    texts = stream.split(b"\n")
    tail = texts.pop()
    lines: list[ChecksummedRecordLine] = []
    ended = False
    for number, text in enumerate(texts, first_number):
        content = text.removesuffix(b"\r")
        if ended:
            if content:
                raise DecodeError(number, "something follows the end record.")
            continue
        line = parse_record_line(content, number, constants.line_max_chars)
        if line.record in OVERRIDES:
            raise DecodeError(number, f"a {line.record} record.")
        if line.seq != len(lines):
            raise DecodeError(
                number, f"sequence number {line.seq} where {len(lines)} was due (lines lost, doubled or moved)."
            )
        if (line.record == "begin") != (line.seq == 0):
            raise DecodeError(number, f"a {line.record} record at sequence number {line.seq}.")
        lines.append(line)
        ended = line.record == "end"
    if tail or not ended:
        raise DecodeError(
            first_number + len(texts) if tail else 0, "the stream stops before its end record is complete."
        )
    return lines


def _decode_run_from_record_lines(
    lines: list[ChecksummedRecordLine],
    constants: WireFormatConstants,
    expected: ExpectedImageIdentity | None,
    skipped: int,
) -> DecodedRun:
    """Returns the run that consists of these record lines. `skipped`: the bytes of noise before them. Raises
    DecodeError."""
    begin, end = _parse_identity_records(lines[0], lines[-1], constants, expected)
    if end.integer_value_of_record_field("records") != len(lines) - 1:
        raise DecodeError(
            end.number,
            f"the end record speaks of {end.integer_value_of_record_field('records')} records, "
            f"{len(lines) - 1} were received.",
        )
    windows = tuple(_parse_measurement_window_record(line) for line in _lines_with_record_kind(lines, "window"))
    counts = tuple(
        _parse_counter_record(line, {window.n for window in windows})
        for line in _lines_with_record_kind(lines, "count")
    )
    heaps = [_parse_heap_record(line) for line in _lines_with_record_kind(lines, "heap")]
    for name, keys in _UNIQUE_KEYS.items():
        _require_unique_records(_lines_with_record_kind(lines, name), keys)
    return DecodedRun(
        begin=begin,
        params=_parse_parameter_records(_lines_with_record_kind(lines, "param")),
        tasks=tuple(_parse_task_record(line) for line in _lines_with_record_kind(lines, "task")),
        rulers=tuple(_parse_empty_measurement(line) for line in _lines_with_record_kind(lines, "ruler")),
        windows=windows,
        counts=counts,
        checks=tuple(
            ReportedCheck(
                line.record_text_field_value("name"),
                line.integer_value_of_record_field("core"),
                line.integer_value_of_record_field("value"),
            )
            for line in _lines_with_record_kind(lines, "check")
        ),
        heap=heaps[0] if heaps else None,
        stacks=tuple(_parse_stack_record(line) for line in _lines_with_record_kind(lines, "stack")),
        samples=tuple(_parse_sample_records(_lines_with_record_kind(lines, "sample"))),
        skipped_bytes=skipped,
    )


_UNIQUE_KEYS: Final[dict[str, tuple[str, ...]]] = {
    "param": ("name",),
    "task": ("core", "index"),
    "window": ("n",),
    "count": ("n", "core", "index", "name"),
    "check": ("name", "core"),
    "heap": (),
    "stack": ("core", "index"),
}


def _lines_with_record_kind(lines: list[ChecksummedRecordLine], record: str) -> list[ChecksummedRecordLine]:
    """Returns the lines that contain records of this kind."""
    return [line for line in lines if line.record == record]


def _require_unique_records(lines: list[ChecksummedRecordLine], keys: tuple[str, ...]) -> None:
    """Raises DecodeError if two records have the same values of `keys`."""
    seen: set[tuple[str, ...]] = set()
    for line in lines:
        identity = tuple(line.fields[key] for key in keys)
        if identity in seen:
            raise DecodeError(
                line.number, f"a second {line.record} record for {' '.join(identity) or 'the same thing'}."
            )
        seen.add(identity)


def _parse_identity_records(
    first: ChecksummedRecordLine,
    end: ChecksummedRecordLine,
    constants: WireFormatConstants,
    expected: ExpectedImageIdentity | None,
) -> tuple[ReportedImageIdentity, ChecksummedRecordLine]:
    """Returns the image's identity from the begin record, and the end record. Raises DecodeError if they are not of the
    expected run."""
    if first.integer_value_of_record_field("wire") != constants.wire_version:
        raise DecodeError(
            first.number,
            f"wire version {first.integer_value_of_record_field('wire')}, this decoder reads {constants.wire_version}.",
        )
    begin = ReportedImageIdentity(
        run=first.record_text_field_value("run"),
        bench=first.record_text_field_value("bench"),
        kernel=first.record_text_field_value("kernel"),
        board=first.record_text_field_value("board"),
        cores=first.integer_value_of_record_field("cores"),
        clock_hz=first.integer_value_of_record_field("clock_hz"),
        window_us=first.integer_value_of_record_field("window_us"),
        timer_hz=first.integer_value_of_record_field("timer_hz"),
        manifest=first.integer_value_of_record_field("manifest"),
    )
    if begin.timer_hz == 0:
        raise DecodeError(first.number, "timer_hz=0 cannot be a unit.")
    if end.record_text_field_value("run") != begin.run:
        raise DecodeError(
            end.number,
            f"the end record belongs to run {end.record_text_field_value('run')}, the begin record to {begin.run}.",
        )
    if end.record_text_field_value("status") != "ok":
        raise DecodeError(end.number, f"the end record says status={end.record_text_field_value('status')}.")
    if expected is not None and (begin.run, begin.manifest) != (expected.run, expected.manifest):
        raise DecodeError(
            first.number,
            f"run {begin.run} manifest {begin.manifest:#010x} answered, but run {expected.run} manifest "
            f"{expected.manifest:#010x} was started; flash the image again.",
        )
    return begin, end


def _parse_measurement_window_record(line: ChecksummedRecordLine) -> MeasuredWindow:
    """Returns a measurement window from its record. Raises DecodeError if it closes before it opens."""
    window = MeasuredWindow(
        line.integer_value_of_record_field("n"),
        line.integer_value_of_record_field("open_ticks"),
        line.integer_value_of_record_field("close_ticks"),
    )
    if window.close_ticks <= window.open_ticks:
        raise DecodeError(line.number, "the window closes before it opens.")
    return window


def _parse_counter_record(line: ChecksummedRecordLine, windows: set[int]) -> MeasurementWindowCounter:
    """Returns a counter's values from its record. `windows`: the numbers of the known windows. Raises DecodeError for
    another."""
    count = MeasurementWindowCounter(
        line.integer_value_of_record_field("n"),
        line.integer_value_of_record_field("core"),
        line.integer_value_of_record_field("index"),
        line.record_text_field_value("name"),
        line.integer_value_of_record_field("open"),
        line.integer_value_of_record_field("close"),
    )
    if count.close < count.open:
        raise DecodeError(line.number, f"the counter {count.name} runs backwards.")
    if count.n not in windows:
        raise DecodeError(line.number, f"a count for window {count.n}, which does not exist.")
    return count


class _BenchmarkRunParameters(dict[str, str]):
    """The parameters of a run. A parameter that the image did not send raises an error."""

    def __missing__(self, name: str) -> str:
        """Raises DecodeError for a parameter that the image did not send."""
        raise DecodeError(0, f"there is no param record for {name}; build the image with this version of rtoslab.")


def _parse_parameter_records(lines: list[ChecksummedRecordLine]) -> dict[str, str]:
    """Returns the parameters of a run. Raises DecodeError if one whose name ends in a unit (such as `_ms`) is not a
    number."""
    params = _BenchmarkRunParameters(
        {line.record_text_field_value("name"): line.record_text_field_value("value") for line in lines}
    )
    for line in lines:
        name, value = line.record_text_field_value("name"), line.fields["value"]
        if not name.endswith(_NUMBER_SUFFIXES):
            continue
        if not is_valid_wire_format_field(value, "decimal") or (name.endswith("_hz") and value == "0"):
            raise DecodeError(
                line.number, f"the parameter {escape_to_one_line(name[:40])} cannot be {value[:40] or 'empty'}."
            )
    return params


def _parse_task_record(line: ChecksummedRecordLine) -> FirmwareTaskReport:
    """Returns a task under test from its record."""
    return FirmwareTaskReport(
        line.integer_value_of_record_field("core"),
        line.integer_value_of_record_field("index"),
        line.record_text_field_value("name"),
        line.integer_value_of_record_field("priority"),
        line.integer_value_of_record_field("handle"),
        line.integer_value_of_record_field("stack_bytes"),
    )


def _parse_empty_measurement(line: ChecksummedRecordLine) -> EmptyMeasurement:
    """Returns an empty measurement from its record (`ruler`). Raises DecodeError if it lacks values, or if their units
    differ."""
    repeats = {key: line.field_value(key) for key in line.fields if key not in {"name", "core", "n"}}
    values = tuple(item for value in repeats.values() if isinstance(value, tuple) for item in value)
    units = {key.rpartition("_")[2] if "_" in key else "ticks" for key in repeats}
    if len(units) != 1 or len(values) != line.integer_value_of_record_field("n"):
        raise DecodeError(
            line.number,
            f"the ruler promises {line.integer_value_of_record_field('n')} repeats of one unit and brings "
            f"{len(values)}.",
        )
    return EmptyMeasurement(
        line.record_text_field_value("name"), line.integer_value_of_record_field("core"), units.pop(), values
    )


def _parse_heap_record(line: ChecksummedRecordLine) -> HeapReport:
    """Returns the use of the heap from its record. Raises DecodeError if more was used than the heap has."""
    counted = line.integer_value_of_record_field("allocations") if "allocations" in line.fields else None
    heap = HeapReport(
        line.integer_value_of_record_field("size_bytes"), line.integer_value_of_record_field("peak_bytes"), counted
    )
    if heap.peak_bytes > heap.size_bytes:
        raise DecodeError(line.number, f"a peak of {heap.peak_bytes} bytes in a heap of {heap.size_bytes}.")
    return heap


def _parse_stack_record(line: ChecksummedRecordLine) -> StackReport:
    """Returns the use of a task's stack from its record. Raises DecodeError if more was used than the stack has."""
    stack = StackReport(
        line.integer_value_of_record_field("core"),
        line.integer_value_of_record_field("index"),
        line.integer_value_of_record_field("used_bytes"),
        line.integer_value_of_record_field("size_bytes"),
    )
    if stack.used_bytes > stack.size_bytes:
        raise DecodeError(line.number, f"{stack.used_bytes} bytes used of a stack of {stack.size_bytes}.")
    return stack


def _parse_sample_records(lines: list[ChecksummedRecordLine]) -> Iterator[MetricSamples]:
    """Yields the samples of each record line.

    They are counted before they are expanded: a few characters may stand for a million values.
    """
    left = SERIAL_VALUES
    for line in lines:
        count = count_values_after_repeat_expansion(line.fields["values"])
        if count != line.integer_value_of_record_field("n"):
            raise DecodeError(line.number, f"n={line.integer_value_of_record_field('n')} but {count} values.")
        left -= count
        if left < 0:
            raise DecodeError(line.number, f"the stream holds more than {SERIAL_VALUES:,} samples; ask for fewer.")
        yield MetricSamples(line.record_text_field_value("metric"), count, expand_repeat_counts(line.fields["values"]))
