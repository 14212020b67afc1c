"""The decoder: a damaged stream is an error that names its line, never a number."""

import random
import re
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtoslab.base.errors import REFUSALS, DecodeError, VoidRunError
from rtoslab.base.paths import find_checkout_root
from rtoslab.records.decoder import ExpectedImageIdentity, decode_records
from tests.fakes import BODY, EXPECTED, WINDOW, WIRE, Fields, begin, count, record, stream

WHOLE = stream()
GOOD = decode_records(WHOLE, WIRE, EXPECTED)


def test_complete_stream_is_decoded() -> None:
    assert [item.count_in_window for item in GOOD.counts] == [1000, 1001, 1002]
    assert GOOD.begin.clock_hz == 125_000_000
    assert GOOD.window_s(0) == 0.25
    assert GOOD.heap is not None
    assert GOOD.heap.peak_bytes == 3000
    assert GOOD.rulers[0].repeats == (107, 7, 7)
    assert GOOD.rulers[0].unit == "cycles"
    assert GOOD.skipped_bytes == 0


def test_bytes_before_the_begin_record_are_counted() -> None:
    assert decode_records(b"\xff\x00boot\r\n" + WHOLE, WIRE, EXPECTED).skipped_bytes == 8


def test_line_ends_may_be_crlf() -> None:
    assert decode_records(WHOLE.replace(b"\n", b"\r\n"), WIRE, EXPECTED).counts == GOOD.counts


@given(st.integers(0, len(WHOLE) * 8 - 1))
def test_any_flipped_bit_is_an_error(position: int) -> None:
    damaged = bytearray(WHOLE)
    damaged[position // 8] ^= 1 << position % 8
    with pytest.raises(DecodeError):
        decode_records(bytes(damaged), WIRE, EXPECTED)


@given(st.integers(0, len(WHOLE) - 1))
def test_any_truncation_is_an_error(length: int) -> None:
    with pytest.raises(DecodeError):
        decode_records(WHOLE[:length], WIRE, EXPECTED)


@given(st.integers(0, WHOLE.count(b"\n") - 1))
def test_any_lost_or_doubled_line_is_an_error(index: int) -> None:
    lines = WHOLE.splitlines(keepends=True)
    with pytest.raises(DecodeError):
        decode_records(b"".join(lines[:index] + lines[index + 1 :]), WIRE, EXPECTED)
    with pytest.raises(DecodeError):
        decode_records(b"".join(lines[: index + 1] + lines[index:]), WIRE, EXPECTED)


@pytest.mark.parametrize("value", ["\xe4", "\x80", "a\tb", "a\x0bb", "a\x1cb", "\x7f", "\xa0", "a\0b"])
def test_valid_checksum_does_not_make_invalid_bytes_a_value(value: str) -> None:
    """The line is otherwise whole: what its bytes are is judged before what they say."""
    line = b"@1 param name=x value=" + value.encode("latin-1")
    whole = record(0, *begin()) + line + b" *%08x\n" % zlib.crc32(line)
    with pytest.raises(DecodeError, match="In line 2 of the board's output: not a record line"):
        decode_records(whole, WIRE)


def test_run_lengths_are_checked_before_expansion() -> None:
    many = ",".join(["7x999999"] * 9)
    with pytest.raises(DecodeError, match="more than 4,000,000 samples"):
        decode_records(stream([*BODY, ("sample", {"metric": "a", "values": many, "n": 9 * 999_999})]), WIRE)
    with pytest.raises(DecodeError, match="n=1 but 8999991 values"):
        decode_records(stream([*BODY, ("sample", {"metric": "a", "values": many, "n": 1})]), WIRE)


@pytest.mark.parametrize(("name", "value"), [("tick_hz", "0"), ("tick_hz", "fast"), ("samples", ""), ("a_ms", "1.5")])
def test_parameter_with_a_unit_is_a_number(name: str, value: str) -> None:
    body = [item for item in BODY if item[1].get("name") != name]
    with pytest.raises(DecodeError, match=f"the parameter {name} cannot be"):
        decode_records(stream([("param", {"name": name, "value": value}), *body]), WIRE)


def test_missing_parameter_is_named() -> None:
    with pytest.raises(DecodeError, match="no param record for lead_ticks"):
        GOOD.params["lead_ticks"]


def test_oversized_stream_is_refused() -> None:
    with pytest.raises(DecodeError, match="longer than"):
        decode_records(b"\n" * 300_000, WIRE)


@given(st.randoms(use_true_random=False))
def test_any_other_order_is_an_error(source: random.Random) -> None:
    lines = WHOLE.splitlines(keepends=True)
    mixed = lines.copy()
    source.shuffle(mixed)
    if mixed == lines:
        return
    with pytest.raises(DecodeError):
        decode_records(b"".join(mixed), WIRE, EXPECTED)


@given(st.lists(st.tuples(st.integers(0, len(WHOLE) - 1), st.integers(0, 255)), min_size=1, max_size=20))
def test_overwritten_bytes_never_change_a_value(changes: list[tuple[int, int]]) -> None:
    damaged = bytearray(WHOLE)
    for position, value in changes:
        damaged[position] = value
    try:
        result = decode_records(bytes(damaged), WIRE, EXPECTED)
    except DecodeError:
        return
    assert result == GOOD


@given(st.binary(max_size=400))
def test_garbage_is_an_error(garbage: bytes) -> None:
    with pytest.raises(DecodeError):
        decode_records(garbage, WIRE, EXPECTED)


def test_error_names_the_line() -> None:
    lines = WHOLE.splitlines(keepends=True)
    lines[4] = lines[4].replace(b"priority=1", b"priority=2")
    with pytest.raises(DecodeError, match="line 5 of the board's output: the check sum") as caught:
        decode_records(b"".join(lines), WIRE, EXPECTED)
    assert caught.value.line == 5


FAULT: Fields = {
    "run": EXPECTED.run, "core": 1, "kind": "hardfault", "exception": 3, "pc": "0x10000100", "lr": "0xfffffff9",
    "psr": "0x01000003", "sp": "0x20040000",
}  # fmt: skip


@given(st.integers(0, len(WHOLE)))
def test_error_record_overrides_everything(position: int) -> None:
    fault = b"\n" + record(7, "fault", FAULT)
    with pytest.raises(VoidRunError, match="the firmware reported a fault") as caught:
        decode_records(WHOLE[:position] + fault + WHOLE[position:], WIRE, EXPECTED)
    assert caught.value.fields["pc"] == "0x10000100"


def test_damaged_error_record_is_still_an_error() -> None:
    fault = record(3, "fault", FAULT).replace(b"0x10000100", b"0x10000101")
    with pytest.raises(DecodeError):
        decode_records(WHOLE + fault, WIRE, EXPECTED)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ([*BODY, ("unknown", {})], "unknown record"),
        ([*BODY, ("check", {"name": "x", "core": 0, "value": 1, "more": 2})], "no key 'more'"),
        ([*BODY, ("check", {"name": "x", "core": 0})], "lacks value"),
        ([*BODY, ("check", {"name": "x", "core": "-1", "value": 1})], "is not a decimal value"),
        ([*BODY, ("check", {"name": "x", "core": "01", "value": 1})], "is not a decimal value"),
        ([*BODY, ("check", {"name": "x y"[:1] + "%zz", "core": 0, "value": 1})], "is not a text value"),
        ([*BODY, ("heap", {"size_bytes": 1, "peak_bytes": 0, "allocations": 0})], "a second heap"),
        ([*BODY, count(0, 5)], "a second count"),
        ([*BODY, ("count", {"n": 1, "core": 0, "index": 8, "name": "i", "open": 0, "close": 1})], "does not exist"),
        ([*BODY, ("count", {"n": 0, "core": 0, "index": 8, "name": "i", "open": 2, "close": 1})], "backwards"),
        ([("window", {"n": 0, "open_ticks": 5, "close_ticks": 5})], "closes before it opens"),
        ([WINDOW, ("heap", {"size_bytes": 10, "peak_bytes": 11, "allocations": 1})], "a peak of 11"),
        ([("ruler", {"name": "r", "core": 0, "n": 2, "t0_cycles": 1})], "promises 2 repeats"),
        ([("sample", {"metric": "m", "n": 2, "values": "1,2,3"})], "but 3 values"),
        ([("check", {"name": "n", "core": 0, "value": str(2**64)})], "is not a integer value"),
    ],
)  # fmt: skip
def test_malformed_records_are_refused(body: list[tuple[str, dict[str, str | int]]], problem: str) -> None:
    with pytest.raises(DecodeError, match=problem):
        decode_records(stream(body), WIRE, EXPECTED)


def test_output_of_another_image_is_refused() -> None:
    with pytest.raises(DecodeError, match="flash the image again"):
        decode_records(WHOLE, WIRE, ExpectedImageIdentity(run="f" * 16, manifest=EXPECTED.manifest))


def test_another_wire_version_is_refused() -> None:
    with pytest.raises(DecodeError, match="wire version 3"):
        decode_records(stream(first=begin(wire=3)), WIRE, EXPECTED)


def test_overlong_line_is_refused() -> None:
    with pytest.raises(DecodeError, match="more than the 240 allowed"):
        decode_records(stream([("param", {"name": "x" * 300, "value": "1"})]), WIRE, EXPECTED)


def test_empty_and_random_output_are_reported() -> None:
    with pytest.raises(DecodeError, match="nothing was received"):
        decode_records(b"", WIRE, EXPECTED)
    with pytest.raises(DecodeError, match="no begin record in 5 bytes"):
        decode_records(b"noise", WIRE, EXPECTED)


def test_error_codes_of_the_firmware_are_explained() -> None:
    header = (find_checkout_root() / "firmware" / "include" / "bench" / "errors.h").read_text()
    assert dict(re.findall(r"ERROR_\w+ = (\d+), +/\* (.+?) \*/", header)) == REFUSALS
    message = VoidRunError(3, "error", {"run": "r", "core": "0", "code": "2", "detail": "control"})
    assert "reported an error: the kernel did not create a task (core=0 code=2 detail=control)" in str(message)
    assert "reported an overflow (core=0)" in str(VoidRunError(3, "overflow", {"core": "0"}))


@pytest.mark.parametrize(
    ("code", "remedy"), [("11", "longer --window or fewer --samples"), ("7", "larger heap"), ("3", "")]
)
def test_error_contains_a_remedy(code: str, remedy: str) -> None:
    message = str(VoidRunError(3, "error", {"run": "r", "core": "0", "code": code, "detail": "d"}))
    assert remedy in message
    assert message.endswith("so no figure of this run is valid") == (not remedy)
