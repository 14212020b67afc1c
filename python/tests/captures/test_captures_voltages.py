"""Oscilloscopes' CSV: a known pulse train in the form of each instrument, read back within a sample."""

from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Final

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from rtoslab.base.errors import CaptureError
from rtoslab.captures.capture import UNKNOWN, LogicLevelCapture
from rtoslab.captures.forms import capture_format_modules, parse_capture, read_capture
from rtoslab.captures.pulses import PulseTrain, find_pulses
from rtoslab.captures.voltages import STEPS, VoltageThreshold
from rtoslab.cli.pins_decode import pins_decode_command as decode
from tests.capture_files import SCOPES, VCD, infiniivision, rigol_ds1000z, saleae_analog, siglent, tektronix_mso

ONE_CHANNEL: Final = {"lecroy", "tektronix_tds"}
QUICK: Final = settings(max_examples=25, deadline=None)


def _quoted(text: str) -> str:
    return "\n".join(
        ",".join(f'"{cell}"' if cell and '"' not in cell else cell for cell in line.split(","))
        for line in text.split("\n")
    )


VARIANTS: Final[dict[str, Callable[[str], bytes]]] = {
    "plain": str.encode,
    "semicolons": lambda text: text.replace(",", ";").encode(),
    "decimal commas": lambda text: text.replace(",", ";").replace(".", ",").encode(),
    "tabs": lambda text: text.replace(",", "\t").replace(".", ",").encode(),
    "quoted": lambda text: _quoted(text).encode(),
    "CRLF": lambda text: text.replace("\n", "\r\n").encode(),
    "UTF-8 with a mark": lambda text: text.encode("utf-8-sig"),
    "UTF-16": lambda text: text.encode("utf-16"),
    "UTF-16, big-endian": lambda text: b"\xfe\xff" + text.encode("utf-16-be"),
}


def volts_at(times: Sequence[float], edges: Sequence[float], rise_s: float = 0.0) -> list[float]:
    """0.02 V and 3.3 V in turn; each edge begins half a rise before its time and ends half a rise after it."""
    levels = [0.02 if at % 2 == 0 else 3.3 for at in range(len(edges) + 1)]
    if rise_s == 0:
        return [levels[int(place)] for place in np.searchsorted(edges, times, side="right")]
    points = [point for edge in edges for point in (edge - rise_s / 2, edge + rise_s / 2)]
    heights = [level for at, _ in enumerate(edges) for level in (levels[at], levels[at + 1])]
    return [float(value) for value in np.interp(times, points, heights)]


def sample_times(count: int, step_s: float, first_s: float) -> list[float]:
    return [first_s + number * step_s for number in range(count)]


def widths_of(capture: LogicLevelCapture, channel: int = 0) -> PulseTrain:
    return find_pulses(capture.channels[channel], capture.tick_s, capture.sample_s)


@QUICK
@pytest.mark.parametrize("form", SCOPES)
@given(
    gaps=st.lists(st.integers(300, 3000), min_size=2, max_size=8),
    step_s=st.sampled_from([1e-9, 4e-8, 1e-6]),
    variant=st.sampled_from(sorted(VARIANTS)),
    noise_v=st.sampled_from([0.0, 0.1]),
    threshold_v=st.sampled_from([None, 0.8, 2.6]),
)
def test_pulse_train_is_read_back_within_a_sample(
    form: str, gaps: list[int], step_s: float, variant: str, noise_v: float, threshold_v: float | None
) -> None:
    """Gaps in hundredths of a sample. The second channel is the first one half as fast."""
    random = Random(1)  # noqa: S311 (a seed, no secret)
    edges = [float(edge) * step_s / 100 for edge in np.cumsum(gaps)]
    first_s = -20 * step_s
    times = sample_times(int(sum(gaps) / 50) + 60, step_s, first_s)
    columns = [volts_at(times, edges), volts_at(times, [2 * edge for edge in edges])]
    columns = columns[: 1 if form in ONE_CHANNEL else 2]
    rows = [[value + random.uniform(-noise_v, noise_v) for value in row] for row in zip(*columns, strict=True)]
    result = parse_capture(VARIANTS[variant](SCOPES[form](times, rows)), "x.csv", VoltageThreshold(threshold_v))
    assert result.notes == ()
    assert float(result.sample_s or 0) == pytest.approx(step_s, rel=1e-5)
    assert len(result.channels) == len(columns)
    for number in range(len(columns)):
        pulses = widths_of(result, number)
        expected = [(1 + number) * (after - before) for before, after in zip(edges[::2], edges[1::2], strict=False)]
        assert len(pulses.width_ticks) == len(expected)
        assert np.abs(pulses.pulse_widths_in_seconds() - expected).max(initial=0) <= 1.001 * step_s
        assert pulses.resolution_s == result.sample_s


@given(edges=st.lists(st.floats(8, 60), min_size=2, max_size=6), rise=st.floats(3, 6))
def test_slow_edges_are_interpolated_between_samples(edges: list[float], rise: float) -> None:
    """Where an edge takes several samples, its time is as exact as the voltages are."""
    at = [float(edge) for edge in np.cumsum(edges)]
    times = sample_times(int(at[-1]) + 20, 1e-8, 0.0)
    volts = volts_at([time * 1e8 for time in times], at, rise)
    result = parse_capture(infiniivision(times, [[volt] for volt in volts]).encode(), "x")
    pulses = widths_of(result)
    expected = [after - before for before, after in zip(at[::2], at[1::2], strict=False)]
    assert np.abs(pulses.pulse_widths_in_seconds() * 1e8 - expected).max() < 0.05


def test_written_form_keeps_the_samples(tmp_path: Path) -> None:
    content = infiniivision(sample_times(40, 1e-6, 0.0), [[3.3 if at in range(10, 17) else 0.0] for at in range(40)])
    first = parse_capture(content.encode(), "x")
    again = parse_capture(capture_format_modules()["saleae"].encode_capture(first), "x")
    assert find_pulses(again.channels[0], again.tick_s).pulse_widths_in_seconds() == pytest.approx([7e-6])


@pytest.mark.parametrize("head", ["Zeit;Kanal A", "Temps;Canal A", "Czas (s);Kanał A", "Time;Channel A"])
def test_columns_may_have_names_of_other_languages(head: str) -> None:
    rows = [f"{1e-6 * at:.7f};{3.3 if at // 10 % 2 else 0.01:.2f}".replace(".", ",") for at in range(60)]
    result = parse_capture("\r\n".join([head, *rows]).encode("utf-16"), "x")
    assert result.channels[0].name.endswith("A")
    assert widths_of(result).pulse_widths_in_seconds() == pytest.approx([10e-6, 10e-6])


NOISY: Final = [0, 0, 0, 1.5, 1.7, 1.6, 1.8, 1.6, 3.3, 3.3, 3.3, 1.8, 1.6, 1.7, 0, 0, 0, 0]


def noisy_widths(threshold: VoltageThreshold | None, volts: Sequence[float] = NOISY) -> list[int]:
    content = infiniivision(sample_times(len(volts), 1e-6, 0.0), [[volt] for volt in volts])
    return [
        round(width) for width in widths_of(parse_capture(content.encode(), "x", threshold)).width_ticks / STEPS * 10
    ]


def test_hysteresis_removes_the_edges_of_noise() -> None:
    """The last crossing of the border before the voltage is beyond the hysteresis is the edge."""
    assert len(noisy_widths(VoltageThreshold(1.65, 0.0))) == 4
    assert noisy_widths(None) == [60]
    assert noisy_widths(VoltageThreshold(1.65)) == [60]
    assert noisy_widths(VoltageThreshold(1.65, 0.6)) == [60]


def test_threshold_sets_where_a_ramp_becomes_high() -> None:
    """Up and down in steps of a volt: at 1 V the pulse is four samples longer than at 3 V."""
    ramp = [0, 0, 0, 1, 2, 3, 4, 3, 2, 1, 0, 0, 0]
    assert noisy_widths(VoltageThreshold(3.0, 0.0), ramp) == [20]
    assert noisy_widths(VoltageThreshold(1.0, 0.0), ramp) == [60]
    assert noisy_widths(VoltageThreshold(9.0), ramp) == []


def test_overshoot_and_duty_do_not_move_the_default_threshold() -> None:
    """A fifth more for one sample, and high for one part in a hundred: midway between 0 and 3 V is at 1.5 V."""
    ramp = [0.0] * 500 + [0.75, 1.5, 2.25, 3.0, 3.6, 3.0, 3.0, 2.25, 1.5, 0.75] + [0.0] * 500
    assert noisy_widths(None, ramp) == [70]


def test_channel_at_rest_has_no_level_unless_a_threshold_is_given() -> None:
    rows = [[0.01 * (at % 3), 3.3 * (at // 5 % 2)] for at in range(40)]
    content = infiniivision(sample_times(40, 1e-6, 0.0), rows).encode()
    result = parse_capture(content, "x.csv")
    assert result.channels[0].levels.tolist() == [UNKNOWN]
    assert result.notes == (
        "x.csv: 1 changes by less than 0.4 V, so it has no levels; if it is a signal, add --threshold.",
    )
    assert result.find_logic_channel(None).name == "2"
    assert parse_capture(content, "x.csv", VoltageThreshold(0.015, 0.001)).notes == ()
    assert len(widths_of(parse_capture(content, "x.csv", VoltageThreshold(0.015, 0.001))).width_ticks) == 13


def test_level_is_unknown_before_the_first_sure_voltage() -> None:
    content = infiniivision(sample_times(6, 1e-6, 0.0), [[volt] for volt in (1.6, 1.7, 3.3, 3.3, 0.0, 0.0)])
    result = parse_capture(content.encode(), "x", VoltageThreshold(1.65, 0.5))
    assert result.channels[0].levels.tolist() == [UNKNOWN, 1, 0]
    assert result.channels[0].ticks.tolist()[:2] == [0, 2 * STEPS]


TIMES: Final = sample_times(50, 1e-6, -1e-5)
ROWS: Final = [[3.3 * (at // 5 % 2), 1.0] for at in range(50)]
SCOPE: Final = infiniivision(TIMES, ROWS)
LINES: Final = SCOPE.splitlines(keepends=True)


def with_line(number: int, line: str) -> str:
    return "".join([*LINES[: number - 1], line, *LINES[number:]])


BAD: Final = {
    "back.csv": (with_line(20, LINES[5]), "line 20: the time is earlier than in the row before"),
    "missing.csv": (with_line(20, ""), "line 20: the time is 2e-06 after the row before, where other rows are 1e-06"),
    "digit.csv": (with_line(20, LINES[19].replace("7.", "7.4", 1)), "line 20: the time is 1.4e-06 after the row"),
    "cut.csv": (SCOPE[:-13], "line 52: 2 columns instead of 3; the file may be truncated"),
    "cut in the time.csv": (SCOPE[: -len(LINES[-1]) + 12], "line 52: 1 column instead of 3"),
    "many.csv": (with_line(20, LINES[19].strip() + ",1\n"), "line 20: 4 columns instead of 3"),
    "text.csv": (with_line(20, LINES[19].replace("E", "F", 1)), "line 20: '+7.000000000F-06' is not a number"),
    "nan.csv": (with_line(20, LINES[19].replace("+1.0000E+00", "nan")), "line 20: 'nan' is not a number"),
    "overrange.csv": (with_line(20, LINES[19].replace("+1.0000E+00", "****")), "line 20: '****' is not a number"),
    "huge.csv": (with_line(20, LINES[19].replace("1.0000E+00", "1.0000E+09")), "line 20: '+1.0000E+09' is more than"),
    "late.csv": (SCOPE.replace("+3.900000000E-05", "+3.900000000E+99"), "line 52: the time '3.900000000E+99'"),
    "longer.csv": (with_line(20, LINES[19].replace("+7.0", "+7" + "0" * 60 + ".0")), "is not a number"),
    "empty line.csv": (with_line(20, "\n"), "line 20: it is empty, but rows follow"),
    "one row.csv": ("".join(LINES[:3]), "has a single row of samples"),
    "head.csv": ("".join(LINES[:2]), "has no row of numbers in its first 2 lines"),
    "same time.csv": ("x-axis,1\nsecond,Volt\n1,2\n1,2\n1,2\n", "line 5: no time has passed since the first row"),
    "unit.csv": ("Time (fortnights),CH1\n1,2\n2,2\n", "the unit of the times, 'fortnights', is not known"),
    "no volts.csv": ("x-axis,1\nsecond,Volt\n1\n2\n", "has 0 columns of voltages"),
    "no increment.csv": ("X,CH1\nSequence,Volt\n0,2\n1,2\n", "does not state the time from row to row"),
    "increment.csv": ("X,CH1,Start,Increment\nSequence,Volt,0,-1e-6\n0,2\n1,2\n", "the time from row to row in its"),
    "sequence.csv": (
        rigol_ds1000z(TIMES, ROWS).replace("\n31,", "\n32,", 1),
        "line 34: the time is 2 after the row before, where other rows are 1 apart",
    ),
    "voltages.csv": (saleae_analog(TIMES, ROWS).replace("3.3", "3.3.3", 1), "'3.3.3' is not a number"),
    "quote.csv": (with_line(20, '"' + LINES[19]), "line 20: a quotation mark is not closed"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_damaged_file_is_refused_and_the_line_is_named(name: str, tmp_path: Path) -> None:
    content, says = BAD[name]
    (tmp_path / name).write_text(content)
    with pytest.raises(CaptureError) as caught:
        read_capture(tmp_path / name)
    assert says in str(caught.value)
    assert str(caught.value).startswith(name)


@pytest.mark.parametrize("form", [siglent, tektronix_mso])
def test_fewer_rows_than_the_head_declares_are_noted(form: Callable[..., str]) -> None:
    content = form(TIMES, [row[:1] for row in ROWS]).splitlines(keepends=True)
    (note,) = parse_capture("".join(content[:-10]).encode(), "x.csv").notes
    assert note == "x.csv has 40 rows of samples, but its head declares 50; the file may be truncated."


def test_rounded_times_that_repeat_are_samples_all_the_same() -> None:
    """Five digits for 40 ns steps from -2 ms on: the times of many rows are equal."""
    times = sample_times(100_000, 4e-8, -2e-3)
    rows = "".join(f"{time:.4E},{3.3 * (at // 1000 % 2)}\n" for at, time in enumerate(times))
    result = parse_capture(("x-axis,1\nsecond,Volt\n" + rows).encode(), "x")
    assert float(result.sample_s or 0) == pytest.approx(4e-8, rel=1e-4)
    assert set((widths_of(result).width_ticks / STEPS).tolist()) == {1000.0}


def test_utf_16_is_read_in_every_form_of_text() -> None:
    whole = parse_capture(VCD.encode(), "x")
    again = parse_capture(VCD.encode("utf-16"), "x")
    assert [channel.ticks.tolist() for channel in again.channels] == [item.ticks.tolist() for item in whole.channels]
    assert parse_capture(VCD.encode("utf-8-sig"), "x").end_tick == whole.end_tick
    with pytest.raises(CaptureError, match="x is not whole text in UTF-16"):
        parse_capture(VCD.encode("utf-16")[:-1], "x")


def test_saleae_levels_with_other_separators() -> None:
    text = 'Time [s];"Channel 0";Channel 1\n-0,000001000;0;1\n0,000000500;1;1\n0,000002000;0;0\n'
    for content in (text, text.replace(";", "\t")):
        result = parse_capture(content.encode(), "x")
        assert find_pulses(result.channels[0], result.tick_s).width_ticks.tolist() == [1_500_000]
        assert result.channels[1].levels.tolist() == [1, 0]


def test_command_reads_voltages(tmp_path: Path) -> None:
    (tmp_path / "scope.csv").write_text(infiniivision(TIMES, [[volt] for volt, _ in ROWS]))
    path = str(tmp_path / "scope.csv")
    default = CliRunner().invoke(decode, [path], catch_exceptions=False, standalone_mode=False)
    assert "│ 1         │ 4 │   5.000 │      5.000 │   5.000 │      1.000 │" in default.output
    above = CliRunner().invoke(decode, [path, "--threshold", "3400mV"], standalone_mode=False)
    assert "│ 1         │ 0 │" in above.output
    (tmp_path / "pins.vcd").write_text(VCD)
    refused = CliRunner().invoke(decode, [str(tmp_path / "pins.vcd"), "--hysteresis", "0.2V"], standalone_mode=False)
    assert str(refused.exception) == (
        "pins.vcd contains logic levels, not voltages; omit --threshold and --hysteresis."
    )
    wrong = CliRunner().invoke(decode, [path, "--threshold", "high"])
    assert "'high' is not a voltage such as 1.65V or 800mV" in wrong.output
