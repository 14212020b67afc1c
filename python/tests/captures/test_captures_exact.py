"""The quick readers of captures against slow ones that do only what the format says."""

import io
import re
from datetime import datetime
from fractions import Fraction
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtoslab.captures.capture import UNKNOWN, LogicLevelCapture
from rtoslab.captures.forms import parse_capture
from rtoslab.captures.packed_levels import PackedSampleReader
from rtoslab.captures.tracks import LogicChannelLevelBuilder
from rtoslab.captures.vectors import VcdBitVector

LEVELS = {"0": 0, "1": 1, "x": UNKNOWN, "z": UNKNOWN, "X": UNKNOWN, "Z": UNKNOWN}


def plain(rows: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Changes only; of several levels at one tick the last."""
    last = dict(rows)
    results: list[tuple[int, int]] = []
    for tick in sorted(last):
        if not results or results[-1][1] != last[tick]:
            results.append((tick, last[tick]))
    return results


def rows_of(capture: LogicLevelCapture) -> dict[str, list[tuple[int, int]]]:
    return {
        channel.name: list(zip(channel.ticks.tolist(), channel.levels.tolist(), strict=True))
        for channel in capture.channels
    }


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(-1, 1)), max_size=30).map(sorted))
def test_track_stores_the_last_level_of_each_tick(rows: list[tuple[int, int]]) -> None:
    ordered = sorted(rows, key=lambda row: row[0])
    track = LogicChannelLevelBuilder()
    count = sum(track.set_logic_level_from_sample_tick(tick, level) for tick, level in ordered)
    assert list(zip(track.ticks, track.levels, strict=True)) == plain(ordered)
    assert count == len(track.ticks)


@given(st.integers(1, 9), st.lists(st.text("01xzXZ", min_size=1, max_size=12), min_size=1, max_size=12))
def test_vcd_vector_is_extended_and_truncated_on_its_left(width: int, values: list[str]) -> None:
    vector = VcdBitVector([LogicChannelLevelBuilder() for _ in range(width)])
    expected: list[list[tuple[int, int]]] = [[] for _ in range(width)]
    for tick, value in enumerate(values):
        vector.set_vcd_variable_value(tick, value.encode())
        filler = value[0] if value[0] in "xzXZ" else "0"
        whole = value.rjust(width, filler)[-width:]
        for bit, level in enumerate(whole):
            expected[bit].append((tick, LEVELS[level]))
    results = [list(zip(track.ticks, track.levels, strict=True)) for track in vector.tracks]
    assert results == [plain(item) for item in expected]


@given(st.integers(1, 9), st.binary(max_size=400), st.lists(st.integers(0, 400), max_size=8))
def test_samples_may_be_split_anywhere(unit: int, data: bytes, cuts: list[int]) -> None:
    data = data[: len(data) // unit * unit]
    bits = [0, 3, 8 * unit - 1]
    samples = PackedSampleReader("x", unit, [(f"D{bit}", bit) for bit in bits])
    places = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    for first, last in pairwise(places):
        samples.add_logic_sample_bytes(data[first:last])
    capture = samples.to_capture(Fraction(1, 1000))
    words = np.frombuffer(data, np.uint8).reshape(-1, unit)
    assert capture.end_tick == len(words)
    for label, rows in rows_of(capture).items():
        bit = int(label[1:].partition("~")[0])
        assert rows == plain([(tick, int(word[bit // 8]) >> bit % 8 & 1) for tick, word in enumerate(words)])


@pytest.mark.parametrize("seed", range(60))
def test_vcd_reader_agrees_with_a_simple_reader(seed: int) -> None:
    random = Random(seed)  # noqa: S311 (a seed, no secret)
    widths = [random.choice((1, 1, 1, 2, 5, 33)) for _ in range(4)]
    lines = ["$timescale 1 ns $end"] + [
        f"$var wire {width} {chr(33 + at)} n{at} $end" for at, width in enumerate(widths)
    ]
    lines.append("$enddefinitions $end")
    rows: dict[str, list[tuple[int, int]]] = {
        (f"n{at}" if width == 1 else f"n{at}[{bit}]"): [] for at, width in enumerate(widths) for bit in range(width)
    }
    now = 0
    for _ in range(random.randrange(60)):
        if random.random() < 0.5:
            now += random.randrange(4)
            lines.append(f"#{now}")
        at = random.randrange(len(widths))
        value = "".join(random.choice("0011xz") for _ in range(random.randrange(1, widths[at] + 1)))
        lines.append(f"{value}{chr(33 + at)}" if widths[at] == 1 else f"b{value} {chr(33 + at)}")
        whole = value.rjust(widths[at], value[0] if value[0] in "xz" else "0")
        for bit, level in zip(reversed(range(widths[at])), whole, strict=True):
            rows[f"n{at}" if widths[at] == 1 else f"n{at}[{bit}]"].append((now, LEVELS[level]))
    text = random.choice((" ", "\n", "\r\n", " \n\t")).join(lines)
    result = parse_capture(text.encode(), "x")
    assert rows_of(result) == {name: plain(row) for name, row in rows.items()}
    assert result.end_tick == now


@pytest.mark.parametrize("seed", range(40))
def test_row_reader_agrees_with_a_simple_reader(seed: int) -> None:
    """PulseView's samples and DSView's changes; the same levels again and again, and other blanks around them."""
    random = Random(seed)  # noqa: S311
    count, timed = random.randrange(1, 5), random.random() < 0.5
    head = "; Samplerate: 3 MHz\n" + (",".join(["Time(s)"] * timed + [f"D{at}" for at in range(count)]) + "\n")
    out, tick, seconds = io.StringIO(), -1, Fraction(0)
    rows: dict[str, list[tuple[int, int]]] = {f"D{at}": [] for at in range(count)}
    levels = [0] * count
    for _ in range(random.randrange(1, 40)):
        if random.random() < 0.4:
            levels[random.randrange(count)] ^= 1
        seconds += Fraction(random.randrange(1, 9_000), 10**9)
        tick = round(seconds * 3_000_000) if timed else tick + 1
        time = [f"{int(seconds * 10**9) / 10**9:.9f}"] if timed else []
        out.write(random.choice((",", ", ")).join([*time, *map(str, levels)]) + random.choice(("\n", "\r\n")))
        for at in range(count):
            rows[f"D{at}"].append((tick, levels[at]))
    result = parse_capture((head + out.getvalue()).encode(), "x")
    assert rows_of(result) == {name: plain(row) for name, row in rows.items()}
    assert result.end_tick == tick + (not timed)


@given(st.lists(st.datetimes(datetime(2000, 1, 1), datetime(2030, 1, 1)), min_size=1, max_size=6).map(sorted))
def test_calendar_times_are_exact(times: list[datetime]) -> None:
    rows = [f"{item.isoformat(timespec='microseconds')}123456Z,{at % 2}" for at, item in enumerate(times)]
    zero = times[0]
    expected = [((time - zero).days * 86_400 + (time - zero).seconds) * 10**12 + (time - zero).microseconds * 10**6
              for time in times]  # fmt: skip
    if expected[-1] >= 2**62:
        return
    result = parse_capture(("Time [s],A\n" + "\n".join(rows) + "\n").encode(), "x")
    assert rows_of(result)["A"] == plain([(tick, at % 2) for at, tick in enumerate(expected)])
    assert not re.search("[^0-9]", str(result.end_tick))
    assert result.end_tick == expected[-1]
