"""Captures: what goes into a file form comes out again within its resolution; real files' quirks; damaged files."""

from fractions import Fraction
from pathlib import Path
from typing import Final

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from vcdvcd import VCDVCD

from rtoslab.base.errors import CaptureError, UnknownNameError
from rtoslab.captures.capture import UNKNOWN, LogicLevelCapture, build_channel_from_levels
from rtoslab.captures.forms import parse_capture, read_capture, write_capture
from rtoslab.captures.pins import capture_from_events
from rtoslab.captures.pulses import PulseTrain, find_pulses, unknown_pulse_width_sentence
from rtoslab.captures.sampling import resample_as_logic_analyzer
from rtoslab.targets.event_kinds import KIND_PIN
from rtoslab.targets.events import EVENT
from tests.capture_files import META, SIGROK_CSV, VCD, session

CLOCKS: Final = (84_000_000, 125_000_000, 400_000_000, 32_000_000)
RATE: Final = 8_000_000
OF_SAMPLES: Final = ("sigrok", "pulseview")
PLACES: Final = {"vcd": 15, "saleae": 9, "saleae1": 12}
"""Decimal places of a second that the other forms keep."""


@st.composite
def captures(draw: st.DrawFn) -> tuple[LogicLevelCapture, int]:
    """Two pins of a virtual board, some pulses on each, and the clock."""
    clock_hz = draw(st.sampled_from(CLOCKS))
    lengths = st.lists(st.integers(1, 3000), min_size=2, max_size=24)
    rows = [np.cumsum(draw(lengths)) for _ in range(2)]
    end = int(max(row[-1] for row in rows)) + draw(st.integers(1, 100))
    events = [(int(cycle), pin, (index + 1) % 2) for pin, row in enumerate(rows) for index, cycle in enumerate(row)]
    raw = np.array([(cycle + 1000, level, 0, pin, KIND_PIN, 0, 0) for cycle, pin, level in sorted(events)], EVENT)
    return capture_from_events(raw.tobytes(), {0: "out", 1: "in"}, clock_hz, 1000, 1000 + end), clock_hz


def pulses(capture: LogicLevelCapture, name: str = "out") -> PulseTrain:
    return find_pulses(capture.find_logic_channel(name), capture.tick_s)


QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@QUICK
@given(made=captures(), form=st.sampled_from(sorted(PLACES)))
def test_capture_survives_formats_with_times(made: tuple[LogicLevelCapture, int], form: str, tmp_path: Path) -> None:
    capture, clock_hz = made
    write_capture(capture, tmp_path / "x", form)
    again = read_capture(tmp_path / "x")
    assert [channel.name for channel in again.channels] == ["out", "in"]
    for name in ("out", "in"):
        before, after = pulses(capture, name), pulses(again, name)
        assert len(before.width_ticks) == len(after.width_ticks)
        step_cycles = clock_hz / 10 ** PLACES[form]
        assert (
            np.abs(before.pulse_widths_in_cycles(clock_hz) - after.pulse_widths_in_cycles(clock_hz)).max(initial=0)
            <= step_cycles + 1e-6
        )
    if form != "saleae1":
        assert abs(again.end_tick * again.tick_s - capture.end_tick * capture.tick_s) <= Fraction(1, 10 ** PLACES[form])


@QUICK
@given(made=captures(), form=st.sampled_from(OF_SAMPLES))
def test_capture_survives_formats_with_samples(made: tuple[LogicLevelCapture, int], form: str, tmp_path: Path) -> None:
    """Through the file nothing changes; through sampling, an interval by less than a sample."""
    seen = resample_as_logic_analyzer(made[0], RATE)
    write_capture(seen, tmp_path / "x", form)
    again = read_capture(tmp_path / "x")
    assert (again.tick_s, again.end_tick) == (seen.tick_s, seen.end_tick)
    for name in ("out", "in"):
        assert pulses(again, name).width_ticks.tolist() == pulses(seen, name).width_ticks.tolist()
        assert pulses(again, name).start_ticks.tolist() == pulses(seen, name).start_ticks.tolist()


@given(
    starts=st.lists(st.integers(40, 900), min_size=1, max_size=9), high=st.integers(40, 900), phase=st.fractions(0, 1)
)
def test_sampling_error_is_less_than_one_sample(starts: list[int], high: int, phase: Fraction) -> None:
    ticks, levels, now = [0], [0], 0
    for gap in starts:
        ticks += [now + gap, now + gap + high]
        levels += [1, 0]
        now += gap + high
    capture = LogicLevelCapture(Fraction(1, 125_000_000), (build_channel_from_levels("out", ticks, levels),), now + 100)
    seen = find_pulses(resample_as_logic_analyzer(capture, RATE, phase).channels[0], Fraction(1, RATE))
    assert len(seen.width_ticks) == len(starts)
    assert np.abs(seen.pulse_widths_in_cycles(125_000_000) - high).max() < 125_000_000 / RATE


def test_pulse_between_two_samples_is_lost() -> None:
    capture = LogicLevelCapture(
        Fraction(1, 80_000_000), (build_channel_from_levels("out", [0, 11, 13, 35, 45], [0, 1, 0, 1, 0]),), 60
    )
    seen = resample_as_logic_analyzer(capture, RATE)
    assert find_pulses(seen.channels[0], seen.tick_s).width_ticks.tolist() == [1]
    assert seen.end_tick == 6


def test_independent_vcd_reader_agrees(tmp_path: Path) -> None:
    capture = LogicLevelCapture(
        Fraction(1, 10_000_000),
        (build_channel_from_levels("a", [0, 3, 9], [0, 1, 0]), build_channel_from_levels("b", [0, 9], [1, 0])),
        20,
    )
    write_capture(capture, tmp_path / "x.vcd")
    other = VCDVCD(str(tmp_path / "x.vcd"))
    assert other.timescale["timescale"] == Fraction(1, 10**7).limit_denominator() or float(
        other.timescale["timescale"]
    ) == pytest.approx(1e-7)
    assert other["pins.a"].tv == [(0, "0"), (3, "1"), (9, "0")]
    assert other["pins.b"].tv == [(0, "1"), (9, "0")]


def test_vcd_of_another_program(tmp_path: Path) -> None:
    """White space anywhere, a vector, a real, unknown levels, two names for one wire."""
    (tmp_path / "x.vcd").write_text(VCD)
    result = read_capture(tmp_path / "x.vcd")
    assert result.tick_s == Fraction(1, 10**8)
    assert [channel.name for channel in result.channels] == ["D0", "bus[3]", "bus[2]", "bus[1]", "bus[0]"]
    d0 = result.find_logic_channel("D0")
    assert d0.levels.tolist() == [UNKNOWN, 0, 1, UNKNOWN, 1, 0]
    assert d0.logic_level_changes()[0].tolist() == [7, 12]
    # The only whole pulse would be from 7 to 12, but in between nobody knows.
    assert find_pulses(d0, result.tick_s).width_ticks.tolist() == []
    assert find_pulses(d0, result.tick_s).unsure_ticks.tolist() == [9]
    assert result.find_logic_channel("bus[1]").logic_level_changes()[0].tolist() == []
    assert result.find_logic_channel("bus[0]").logic_level_changes()[0].tolist() == [12]
    assert result.end_tick == 20


def test_saleae_logic_2_with_unknown_levels_and_a_trigger(tmp_path: Path) -> None:
    (tmp_path / "digital.csv").write_text(
        "Time [s],Channel 0,Ch 1\n-0.000002000,1,X\n0.000000000,0,0\n0.000001500,0,1\n"
        "0.000004000,1,0\n0.000010000,X,X\n"
    )
    result = read_capture(tmp_path / "digital.csv")
    assert find_pulses(
        result.find_logic_channel("Ch 1"), result.tick_s
    ).pulse_widths_in_seconds().tolist() == pytest.approx([2.5e-6])
    assert float(result.end_tick * result.tick_s) == pytest.approx(12e-6)


def test_saleae_logic_2_with_calendar_times(tmp_path: Path) -> None:
    (tmp_path / "digital.csv").write_text(
        "Time [s],Channel 0\n2024-05-11T23:59:59.999999999+00:00,0\n2024-05-12T00:00:00.000000123+00:00,1\n"
        "2024-05-12T00:00:00.500000123+00:00,0\n"
    )
    result = read_capture(tmp_path / "digital.csv")
    pulse = find_pulses(result.channels[0], result.tick_s)
    assert (pulse.start_ticks.tolist(), pulse.width_ticks.tolist()) == ([124_000], [5 * 10**11])


def test_saleae_logic_1(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(
        "Time[s], Channel 0, Channel 1\n0.000000000000000, 0, 1\n7.642110550000000, 1, 1\n7.642110675000000, 0, 1\n"
    )
    result = read_capture(tmp_path / "x.csv")
    assert [channel.name for channel in result.channels] == ["Channel 0", "Channel 1"]
    assert find_pulses(result.find_logic_channel(None), result.tick_s).width_ticks.tolist() == [125_000]


@pytest.mark.parametrize("head", ["", "logic,logic\n", "P8_45,P8_46\n"])
def test_pulseview_with_and_without_a_header(head: str, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(SIGROK_CSV + head + "0,1\n1,1\n1,1\n0,1\n")
    result = read_capture(tmp_path / "x.csv")
    assert [channel.name for channel in result.channels] == ["P8_45", "P8_46"]
    assert find_pulses(result.find_logic_channel(None), result.tick_s).width_ticks.tolist() == [2]
    assert (result.tick_s, result.end_tick) == (Fraction(1, 10**7), 4)


def test_dsview_file_contains_changes_only(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(
        "; CSV, generated by libsigrok4DSL 0.2.0\n; Channels (1/16)\n; Sample rate: 25 MHz\n"
        "Time(s), 0\n0,0\n0.001,1\n0.0015,0\n"
    )
    result = read_capture(tmp_path / "x.csv")
    assert result.channels[0].name == "0"
    assert find_pulses(result.channels[0], result.tick_s).width_ticks.tolist() == [12_500]


def test_sigrok_session_with_unused_probes_and_several_parts(tmp_path: Path) -> None:
    samples = np.array([0, 0x8000, 0x8002, 0x8002, 2, 0], "<u2").tobytes()
    (tmp_path / "x.sr").write_bytes(
        session(META + "probe2=D1\nprobe16=CH15\nunitsize=2\n", logic_1_1=samples[:4], logic_1_2=samples[4:])
    )
    result = read_capture(tmp_path / "x.sr")
    assert [channel.name for channel in result.channels] == ["D1", "CH15"]
    assert find_pulses(result.find_logic_channel("D1"), result.tick_s).width_ticks.tolist() == [3]
    assert find_pulses(result.find_logic_channel("CH15"), result.tick_s).width_ticks.tolist() == [3]
    assert result.tick_s == Fraction(1, 24_000_000)


HEAD: Final = "$timescale 1 ns $end $var wire 1 ! a $end $enddefinitions $end\n"


@pytest.mark.parametrize(
    ("levels", "widths", "unsure"),
    [
        ("0101", [1], 0),
        ("01x10", [], 1),  # unknown inside
        ("01x0", [], 1),  # at the end
        ("0x10", [], 1),  # at the beginning
        ("0x0", [], 1),  # between two lows
        ("01z0x01x0010", [1], 3),
        ("01x1x10", [], 1),  # one pulse, twice unknown
        ("x010x", [1], 0),  # before the first and after the last known level
        ("xxxx", [], 0),
        ("1010", [1], 0),
        ("", [], 0),
    ],
)
def test_pulse_with_an_unknown_level_is_not_counted(levels: str, widths: list[int], unsure: int) -> None:
    body = "".join(f"#{at}\n{level}!\n" for at, level in enumerate(levels))
    result = parse_capture((HEAD + body + f"#{len(levels)}\n").encode(), "x")
    pulses_seen = find_pulses(result.channels[0], result.tick_s)
    assert (pulses_seen.width_ticks.tolist(), len(pulses_seen.unsure_ticks)) == (widths, unsure)
    note = unknown_pulse_width_sentence(result.channels[0], result.tick_s)
    assert (note is not None) == bool(unsure)


@pytest.mark.parametrize("form", ["sigrok", "pulseview", "saleae1", "oscilloscope", "saleae_binary"])
def test_format_without_unknown_levels_refuses_them(form: str, tmp_path: Path) -> None:
    capture = LogicLevelCapture(
        Fraction(1, RATE), (build_channel_from_levels("a", [0, 1, 2, 3], [0, 1, UNKNOWN, 0]),), 5
    )
    with pytest.raises(CaptureError, match="cannot store that the level of a is unknown"):
        write_capture(capture, tmp_path / "x", form)
    write_capture(capture, tmp_path / "x", "vcd")
    again = read_capture(tmp_path / "x").channels[0]
    assert find_pulses(again, Fraction(1, RATE)).unsure_ticks.tolist() == [again.ticks[2]]


def test_channel_and_format_must_be_unambiguous(tmp_path: Path) -> None:
    two = LogicLevelCapture(
        Fraction(1, RATE),
        (build_channel_from_levels("a", [0, 1], [0, 1]), build_channel_from_levels("b", [0, 1], [0, 1])),
        3,
    )
    with pytest.raises(CaptureError, match="a, b have edges; choose one with --channel"):
        two.find_logic_channel(None)
    with pytest.raises(CaptureError, match="no channel 'c'; the capture has a, b"):
        two.find_logic_channel("c")
    with pytest.raises(
        CaptureError,
        match=r"cannot be seen from the suffix of .*; add --form with one of oscilloscope, pulseview, saleae, saleae1",
    ):
        write_capture(two, tmp_path / "x.csv")
    with pytest.raises(UnknownNameError, match="did you mean 'sigrok'"):
        write_capture(two, tmp_path / "x", "sigrock")
    uneven = LogicLevelCapture(Fraction(3, 10**9), two.channels, 3)
    with pytest.raises(CaptureError, match="choose one with --sample-rate"):
        write_capture(uneven, tmp_path / "x.sr")
