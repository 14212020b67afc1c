"""Saleae's binary export: both versions, and damage."""

import struct
from fractions import Fraction
from pathlib import Path
from typing import Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtoslab.base.errors import CaptureError
from rtoslab.captures.capture import UNKNOWN, LogicLevelCapture, build_channel_from_levels
from rtoslab.captures.forms import parse_capture, read_capture, write_capture
from rtoslab.captures.pulses import find_pulses, unknown_pulse_width_sentence
from tests.capture_files import saleae_binary


@given(
    gaps_ns=st.lists(st.integers(2, 10**7), min_size=1, max_size=20),
    begin_s=st.sampled_from([-2.5e-3, 0.0, 100.0]),
    level=st.integers(0, 1),
    rate_hz=st.sampled_from([None, 25e6, 500e6]),
)
def test_changes_are_read_back_to_the_nanosecond(
    gaps_ns: list[int], begin_s: float, level: int, rate_hz: float | None
) -> None:
    at = np.cumsum(gaps_ns)
    times = (begin_s + at * 1e-9).tolist()
    content = saleae_binary((level, begin_s, times[-1] + 1e-3, times), rate_hz=rate_hz)
    result = parse_capture(content, "digital_12.bin")
    (channel,) = result.channels
    assert channel.name == "Channel 12"
    assert channel.levels.tolist() == [level ^ (number & 1) for number in range(len(times) + 1)]
    assert np.abs(channel.ticks[1:] / 1000 - at).max() < 0.5
    assert result.sample_s == (None if rate_hz is None else Fraction(1) / int(rate_hz))


def test_nothing_is_known_between_two_parts() -> None:
    parts = [(0, 0.0, 1e-3, [1e-4, 2e-4, 9e-4]), (1, 2e-3, 3e-3, [2.5e-3, 2.6e-3, 2.7e-3])]
    result = parse_capture(saleae_binary(*parts, rate_hz=1e6), "x.bin")
    assert result.channels[0].levels.tolist() == [0, 1, 0, 1, UNKNOWN, 1, 0, 1, 0]
    assert find_pulses(result.channels[0], result.tick_s).pulse_widths_in_seconds() == pytest.approx([1e-4, 1e-4])
    assert "1 place, first at 1,000.000 us" in (unknown_pulse_width_sentence(result.channels[0], result.tick_s) or "")
    assert result.end_tick == 3_000_000_000


def test_written_file_is_read_back(tmp_path: Path) -> None:
    capture = LogicLevelCapture(
        Fraction(1, 84_000_000), (build_channel_from_levels("out", [0, 84, 168, 420], [0, 1, 0, 1]),), 840
    )
    write_capture(capture, tmp_path / "out.bin")
    again = read_capture(tmp_path / "out.bin")
    assert (again.channels[0].name, again.end_tick) == ("out", 10_000_000)
    assert again.channels[0].ticks.tolist() == [0, 1_000_000, 2_000_000, 5_000_000]
    two = LogicLevelCapture(capture.tick_s, (capture.channels[0], build_channel_from_levels("in", [0], [0])), 840)
    with pytest.raises(CaptureError, match="one channel, but the capture has 2; choose another --form"):
        write_capture(two, tmp_path / "two.bin")


GOOD: Final = saleae_binary((0, 0.0, 1e-3, [1e-4, 2e-4]))
PARTS: Final = saleae_binary((0, 0.0, 1e-3, [1e-4]), (0, 2e-3, 3e-3, []), rate_hz=1e6)
NAN: Final = float("nan")
BAD: Final = {
    "cut": (GOOD[:-1], "ends after 59 bytes, but 60 are declared"),
    "no head": (GOOD[:20], "ends after 20 bytes, but 44 are declared"),
    "long": (GOOD + b"\0" * 8, "has 8 bytes after its last change"),
    "analog": (GOOD.replace(struct.pack("<ii", 0, 0), struct.pack("<ii", 0, 1), 1), "an analog channel (type 1)"),
    "version": (GOOD.replace(struct.pack("<ii", 0, 0), struct.pack("<ii", 2, 0), 1), "version 2; versions 0 and 1"),
    "level": (saleae_binary((7, 0.0, 1e-3, [])), "part 1: its first level is 7"),
    "back": (saleae_binary((0, 0.0, 1e-3, [2e-4, 1e-4])), "part 1, change 2: the time is earlier"),
    "late": (saleae_binary((0, 0.0, 1e-3, [2e-4, 2e-3])), "part 1, change 2: the time is earlier"),
    "early": (saleae_binary((0, 0.0, 1e-3, [-1.0])), "part 1, change 1: the time is earlier"),
    "nan": (saleae_binary((0, 0.0, 1e-3, [1e-4, NAN])), "part 1, change 2: nan is not a time"),
    "far": (saleae_binary((0, 0.0, 1e30, [])), "its begin or end 2: 1e+30 is not a time"),
    "ends": (saleae_binary((0, 1.0, 0.0, [])), "part 1: it ends before it begins"),
    "order": (saleae_binary((0, 0.0, 1.0, []), (0, 0.5, 2.0, []), rate_hz=1e6), "part 2: it ends before it begins, or"),
    "rate": (saleae_binary((0, 0.0, 1.0, []), rate_hz=0.0), "part 1: its sample rate is 0 Hz"),
    "count": (GOOD[:36] + struct.pack("<Q", 2**60) + GOOD[44:], "more than 4,000,000 changes"),
    "no part": (saleae_binary(rate_hz=1e6), "contains no recorded part"),
    "parts": (PARTS[:16] + struct.pack("<Q", 3) + PARTS[24:], "are declared; copy or export it again"),
    "many parts": (PARTS[:16] + struct.pack("<Q", 2**40) + PARTS[24:], "parts, more than 100,000"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_damaged_file_is_refused(name: str) -> None:
    content, says = BAD[name]
    with pytest.raises(CaptureError) as caught:
        parse_capture(content, "x.bin")
    assert says in str(caught.value)
    assert str(caught.value).startswith("x.bin")
