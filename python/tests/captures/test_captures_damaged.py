"""Damaged, truncated and foreign files: one clear sentence, whatever the form."""

from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Final

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rtoslab.base.errors import CaptureError
from rtoslab.captures.capture import LogicLevelCapture, build_channel_from_levels
from rtoslab.captures.forms import capture_format_modules, parse_capture, read_capture
from rtoslab.captures.pulses import find_pulses, unknown_pulse_width_sentence
from tests.capture_files import META, SIGROK_CSV, VCD, session

GOOD = session(META + "probe1=D0\nunitsize=1\n", logic_1_1=b"\0\1\0" * 500)
BAD: Final = {
    "nothing.txt": (b"hello", "is not a capture in a known format"),
    "empty.sr": (b"", "is not a capture in a known format"),
    "cut.sr": (GOOD[: len(GOOD) // 2], "is damaged or truncated"),
    "bit.sr": (GOOD.replace(b"\0\1\0\0\1\0", b"\0\1\0\0\1\1", 1), "is damaged or truncated"),
    "other.zip": (session("").replace(b"metadata", b"metabase"), "without `metadata`"),
    "part.sr": (session(META + "probe1=D0\n", logic_1_1=b"\0", logic_1_3=b"\0"), "its part logic-1-2 is missing"),
    "none.sr": (session(META + "probe1=D0\n"), "its samples (logic-1) are missing"),
    "odd.sr": (session(META + "probe1=D0\nunitsize=2\n", logic_1_1=b"\0\0\0"), "not a whole number of samples"),
    "wide.sr": (session(META + "probe9=D8\nunitsize=1\n", logic_1_1=b"\0"), "too few for probe9"),
    "rate.sr": (session(META.replace("24 MHz", "soon") + "probe1=a\n", logic_1_1=b"\0"), "sample rate 'soon'"),
    "bare.sr": (session(META, logic_1_1=b"\0"), "contains no digital channel"),
    "huge.sr": (session(META + "probe1=D0\n", logic_1_99999999999=b"\0"), "is there twice or has a wrong name"),
    "twin.sr": (session(META + "probe1=D0\n", logic_1_1=b"\0", logic_1_01=b"\0"), "is there twice or has a wrong name"),
    "regex.sr": (
        session(META.replace("=logic-1", "=(a+)+$") + "probe1=D0\n", **{"a" * 40 + "!-1": b"\0"}),
        "its samples ((a+)+$) are missing",
    ),
    "unit.sr": (session(META + "probe1=D0\nunitsize=" + "9" * 5000, logic_1_1=b"\0"), "its unitsize '9999"),
    "text.sr": (session("[device 1]\ncapturefile=x\n" + "a" * 70_000), "unpacks to more than 65,536 bytes"),
    "keys.sr": (session(META + "probe1=D0\nprobe1=D1\n", logic_1_1=b"\0"), "is not a key with a value"),
    "digits.vcd": (VCD.replace("#20", "#" + "9" * 5000).encode(), "does not fit into 64 bits"),
    "wide.vcd": (VCD.replace("reg 4", "reg 300000000").encode(), "300,000,000 bits wide"),
    "bits.vcd": (VCD.replace("reg 4", "reg \u0664").encode(), "is not a whole number"),
    "exponent.csv": (b"Time [s],A\n0.0,0\n1e9999999,1\n", "is not a time in seconds"),
    "far.csv": (b"Time [s],A\n0.0,0\n9999999999,1\n", "does not fit into 64 bits"),
    "zones.csv": (
        b"Time [s],A\n2024-05-11T23:59:59Z,0\n2024-05-12T00:00:00,1\n",
        "line 3: some times have a time zone",
    ),
    "mixed.csv": (b"Time [s],A\n2024-05-11T23:59:59Z,0\n1.5,1\n", "line 3: '1.5' is not a time"),
    "high.csv": (b"Time [s],A\n0.0,0\n0.1,\xff\n", "line 3: it is not text in UTF-8"),
    "rate.csv": (b"; Samplerate: " + b"9" * 5000 + b" Hz\n0\n", "the sample rate ' 9999"),
    "time.dsv": (b"; Samplerate: 1 MHz\nTime(s),A\n0,0\n1e9999999,1\n", "is not a time in seconds"),
    "head.vcd": (VCD.encode()[:120], "ends in the middle of a declaration"),
    "defs.vcd": (VCD.encode().split(b"$enddef")[0], "ends before $enddefinitions"),
    "scale.vcd": (VCD.replace("10ns", "7ns").encode(), "the $timescale '7ns' is not valid"),
    "two_scales.vcd": (VCD.replace("$end", "$end\n$timescale 1us $end", 1).encode(), "two different $timescales"),
    "two_rates.csv": (b"; Samplerate: 1 MHz\n; Samplerate: 2 MHz\n0\n1\n", "line 2: this is another sample rate"),
    "sigrok_time.csv": (b"; Samplerate: 1 MHz\nTime,A\n0,0\n1,1\n", "the unit of the column 'Time' is not known"),
    "micros.csv": (b"; Samplerate: 1 MHz\nMicroseconds,A\n0,0\n1,1\n", "the unit of the column 'Microseconds'"),
    "noscale.vcd": (VCD.replace("$timescale\n  10ns\n$end", "").encode(), "has no $timescale"),
    "back.vcd": (VCD.replace("#11", "#8").encode(), "the time goes back from 9 to 8"),
    "who.vcd": (VCD.replace("z!", "z?").encode(), "'?' changes, but it was not declared"),
    "what.vcd": (VCD.replace("z!", "hello").encode(), "'hello' at time 9 is not a value change"),
    "vector.vcd": (VCD.replace('b1111 "\n#20\n', "b11").encode(), "ends in the middle of a declaration or value"),
    "row.csv": (b"Time [s],A,B\n0.0,0,1\n0.1,0", "line 3: 2 columns instead of 3"),
    "time.csv": (b"Time [s],A\n0.0,0\nx,1\n", "line 3: 'x' is not a time in seconds"),
    "iso.csv": (b"Time [s],A\n2024-05-11T23:59:59Z,0\n2024-05-11T23:,1\n", "line 3: '2024-05-11T23:' is not a time"),
    "level.csv": (b"Time[s], A\n0.0, 0\n0.1, 3.3\n0.2, 1\n0.3, 0\n0.4, 1\n", "line 3: '3.3' is not a logic level"),
    "late.csv": (b"Time[s], A\n0.1, 0\n0.0, 1\n", "line 3: the time is earlier"),
    "only.csv": (b"Time [s],A\n", "has a header but no row"),
    "norate.csv": (b"; CSV\n0,1\n", "does not state its sample rate"),
    "short.csv": (SIGROK_CSV.encode() + b"0,1\n0", "line 5: 1 columns instead of 2"),
    "analog.csv": (SIGROK_CSV.encode() + b"0,1\n0,0.5\n", "'0.5' is not a logic level"),
    "places.csv": (b"Time [s],A\n0.000,0\n0.0001,1\n", "'0.0001' has 4 decimal places, the times before have 3"),
    "lost.csv": (b"Time[s], A\n0.000, 0\n0.01, 1\n", "line 3: the time '0.01' has 2 decimal places"),
    "long.csv": (b"Time [s],A\n0." + b"0" * 26 + b",0\n", "has 26 decimal places, more than an analyzer can measure"),
    "empty.csv": (b"Time [s],A\n0.0,0\n\n0.1,1\n", "line 3: it is empty, but rows follow"),
    "long.dsv": (
        b"; Samplerate: 1 MHz\nTime(s),A\n0,0\n0." + b"0" * 25 + b"1,1\n",
        "line 4: the time '0." + "0" * 25 + "1' has 26 decimal places",
    ),
    "back.dsv": (b"; Samplerate: 1 MHz\nTime(s),A\n0.1,0\n0.0,1\n", "line 4: the time is earlier"),
    "gap.csv": (SIGROK_CSV.encode() + b"0,1\n\n0,0\n", "line 6: there is an empty line before this row"),
    "gap_same.csv": (SIGROK_CSV.encode() + b"0,1\n\n0,1\n", "line 6: there is an empty line before this row"),
    "glued.csv": (2 * (SIGROK_CSV.encode() + b"0,1\n"), "line 5: a comment follows the rows"),
    "count.csv": (
        SIGROK_CSV.replace("(2/8)", "(3/8)").encode() + b"0,1\n",
        "line 2: 3 channels are declared, but 2 have names",
    ),
    "noend.vcd": (VCD.replace("! D0 $end", "! D0 $dne").encode(), "a $var has no $end"),
    "rows.csv": (SIGROK_CSV.encode(), "has no row of samples"),
}


@pytest.mark.parametrize("name", BAD)
def test_invalid_file_is_reported_in_one_sentence(name: str, tmp_path: Path) -> None:
    content, says = BAD[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(CaptureError) as caught:
        read_capture(tmp_path / name)
    assert says in str(caught.value)
    assert str(caught.value).startswith(name) or str(tmp_path) in str(caught.value)


NOTED: Final = {
    "cut.csv": (b"Time [s],A\n0.0,0\n0.1,1\n0.2,", "may be truncated"),
    "cut.vcd": (VCD.encode()[:-1], "may be truncated"),
    "same_time.csv": (b"Time [s],A\n0.0,0\n0.1,1\n0.1,0\n0.3,1\n", "no time passes before 1 row, first before line 4"),
    "repeat.csv": (b"Time [s],A\n0.0,0\n0.1,1\n0.2,1\n0.3,0\n", "no level changes in 1 row, first in line 4"),
    "repeat.dsv": (
        b"; Samplerate: 1 MHz\nTime(s),A\n0,0\n0.1,0\n0.2,1\n",
        "no level changes in 1 row, first in line 4",
    ),
    "repeat.vcd": (VCD.replace("#12\n0!", "#12\n1!").encode(), "1 value repeated or changed twice"),
    "lost_time.vcd": (VCD.replace("#12\n", "").encode(), "changed twice at the same time, first at time 11"),
}


@pytest.mark.parametrize("name", NOTED)
def test_possible_damage_is_reported(name: str, tmp_path: Path) -> None:
    content, says = NOTED[name]
    (tmp_path / name).write_bytes(content)
    (note,) = read_capture(tmp_path / name).notes
    assert says in note


def test_whole_files_have_no_notes(tmp_path: Path) -> None:
    ends = b"Time [s],A\n0.0,0\n0.1,1\n0.2,1\n\n"
    for content in (ends, VCD.encode(), SIGROK_CSV.encode() + b"0,1\n0,1\n\n", GOOD):
        (tmp_path / "x").write_bytes(content)
        assert read_capture(tmp_path / "x").notes == ()


DAMAGES: Final = ("insert", "cut", "lose")
MOST_SILENT: Final = {"vcd": 8, "saleae": 4, "saleae1": 4, "sigrok": 0, "pulseview": 12, "oscilloscope": 4}
"""Of 100 damages each. Nobody can tell that a whole row is lost from a form of samples."""


@pytest.mark.parametrize("form", MOST_SILENT)
def test_damage_rarely_changes_widths_unnoticed(form: str) -> None:
    random = Random(1)  # noqa: S311 (a seed, no secret)
    steps = [random.randrange(1, 60) for _ in range(60)]
    whole = LogicLevelCapture(
        Fraction(1, 8_000_000),
        (
            build_channel_from_levels("a", np.cumsum(steps[::2]).tolist(), [0, 1] * 15),
            build_channel_from_levels("b", [0, *range(3, 32)], [1, 0] * 15),
        ),
        2000,
    )
    content = capture_format_modules()[form].encode_capture(whole)
    silent = 0
    for number in range(300):
        damaged = _damage_content(content, DAMAGES[number % 3], random)
        try:
            result = parse_capture(damaged, "x")
        except CaptureError:
            continue
        report = result.notes or any(
            unknown_pulse_width_sentence(channel, result.tick_s) for channel in result.channels
        )
        silent += not report and _widths(result) != _widths(parse_capture(content, "x"))
    assert silent <= 3 * MOST_SILENT[form]


def _damage_content(content: bytes, kind: str, random: Random) -> bytes:
    at = random.randrange(len(content))
    if kind == "insert":
        return content[:at] + bytes(random.choices(b"0123456789", k=random.randrange(1, 20))) + content[at:]
    return content[:at] if kind == "cut" else content[:at] + content[at + random.randrange(1, 5) :]


def _widths(capture: LogicLevelCapture) -> list[tuple[str, list[float]]]:
    return [
        (channel.name, (find_pulses(channel, capture.tick_s).pulse_widths_in_seconds() * 1e9).round(3).tolist())
        for channel in capture.channels
    ]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_truncated_or_damaged_file_only_raises_capture_errors(data: st.DataObject, tmp_path: Path) -> None:
    capture = LogicLevelCapture(
        Fraction(1, 8_000_000), (build_channel_from_levels("out", [0, 3, 9, 20], [0, 1, 0, 1]),), 30
    )
    form = data.draw(st.sampled_from(sorted(capture_format_modules())))
    content = bytearray(capture_format_modules()[form].encode_capture(capture))
    if data.draw(st.booleans()):
        content = content[: data.draw(st.integers(0, len(content)))]
    else:
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    (tmp_path / "x").write_bytes(content)
    output = ""
    try:
        read_capture(tmp_path / "x")
    except CaptureError as problem:
        output = str(problem)
    assert "\n" not in output
