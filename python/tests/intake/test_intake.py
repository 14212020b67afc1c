"""The one way in: what each limit refuses, on which side of it, and that pipes, devices and folders do no harm."""

import os
import threading
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtoslab.base.errors import CatalogueError, PlanError, ReportError
from rtoslab.compare.baseline import baseline_path
from rtoslab.intake import input_files as files
from rtoslab.intake import limits
from rtoslab.intake.numbers import parse_integer, parse_seconds_as_ticks, to_exact_fraction
from rtoslab.intake.objects import parse_json_object, read_json_object
from rtoslab.intake.tables import parse_toml_table
from rtoslab.intake.texts import decode_text_lines, split_bytes_at_white_space
from rtoslab.plan.configuration import require_valid_config


def refusal(path: Path, limit: int = 10) -> str:
    with pytest.raises(ReportError) as caught:
        files.read_bytes(path, limit, "the thing", ReportError)
    return str(caught.value)


def test_file_is_read_up_to_its_limit(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"0123456789")
    assert files.read_bytes(tmp_path / "x", 10, "the thing", ReportError) == b"0123456789"
    assert "(10 bytes, at most 9 can be read)" in refusal(tmp_path / "x", 9)
    assert "no such file" in refusal(tmp_path / "y")
    assert "is a directory" in refusal(tmp_path)
    assert "is a device" in refusal(Path("/dev/zero"))
    assert "embedded null" in refusal(tmp_path / "a\0b")
    assert "file name too long" in refusal(tmp_path / ("x" * 300))


def test_file_of_unknown_size_is_read_completely() -> None:
    """Those of /proc say that they are empty."""
    assert files.read_bytes(Path("/proc/self/status"), limits.MIB, "the thing", ReportError).startswith(b"Name:")


def test_pipe_is_read_up_to_its_limit() -> None:
    for content, limit in ((b"12345", 10), (b"x" * 100, 10)):
        reading, writing = os.pipe()
        os.write(writing, content)
        os.close(writing)
        path = Path(f"/dev/fd/{reading}")
        if len(content) <= limit:
            assert files.read_bytes(path, limit, "the thing", ReportError) == content
        else:
            assert "more than 10 bytes" in refusal(path)
        os.close(reading)


def test_pipe_without_a_writer_times_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "PIPE_SECONDS", 0.2)
    os.mkfifo(tmp_path / "pipe")
    assert "the pipe had not ended after 0.2 s" in refusal(tmp_path / "pipe")


def test_pipe_whose_writer_comes_late_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    late = threading.Timer(0.2, lambda: (tmp_path / "pipe").write_bytes(b"late"))
    late.start()
    assert files.read_bytes(tmp_path / "pipe", 10, "the thing", ReportError) == b"late"
    late.join()


def test_invalid_text_is_reported_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"\xef\xbb\xbfa\nb\xff\n")
    with pytest.raises(ReportError, match="line 2, is not text in UTF-8"):
        files.read_text(tmp_path / "x", "the thing", ReportError)


@given(st.integers(-(10**25), 10**25))
def test_integer_is_read_exactly_or_refused(value: int) -> None:
    if limits.LOWEST <= value <= limits.HIGHEST:
        assert parse_integer(str(value)) == value
        assert parse_integer(hex(value)) == value
    else:
        with pytest.raises(ValueError, match="is not within"):
            parse_integer(str(value))


@pytest.mark.parametrize(
    "text", ["", "x", "1.5", "1e3", "9" * 5000, "0x", "--1", "1_0", "\u0663", "\u00b2", "0b2", "1 2"]
)
def test_invalid_integer_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"whole number|characters"):
        parse_integer(text)


@given(st.decimals(allow_nan=False, allow_infinity=False, places=12, min_value=-(10**20), max_value=10**20))
def test_decimal_is_read_exactly(value: Decimal) -> None:
    assert to_exact_fraction(str(value)) == Fraction(value)


@pytest.mark.parametrize(
    "text", ["1e9999999", "1e-9999999", "1e41", "nan", "inf", "1" * 41, "1" * 200, "1_0", "0x1", ""]
)
def test_invalid_decimal_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a number|places|characters"):
        to_exact_fraction(text)


@given(st.decimals(0, 10**9, places=14), st.sampled_from([1_000_000, 24_000_000, 10**12, 3]))
def test_ticks_equal_exact_arithmetic(value: Decimal, rate: int) -> None:
    exact = round(Fraction(value) * rate)
    assert (
        parse_seconds_as_ticks(f"{value:f}", Fraction(rate))
        == parse_seconds_as_ticks(f"{value:E}", Fraction(rate))
        == exact
    )


TABLES = {
    "a = 99999999999999999999": "64 bits",
    f"a = {'9' * 5000}": "too many digits",
    "a = 1e999": "not finite",
    "a = nan": "not finite",
    "a = " + "[" * 40 + "]" * 40: "deeper than 32",
    "a = " + "[" * 5000: "deeper than 32",
    ".".join("a" * 17) + " = 1": "more than 16 parts",
    "a = [" + "1," * 100_001 + "]": "more than 100,000 values",
    "a = 1\na = 2": "not valid TOML",
}


@pytest.mark.parametrize("text", TABLES, ids=lambda text: text[:20])
def test_table_over_a_limit_is_refused(text: str) -> None:
    with pytest.raises(CatalogueError, match=TABLES[text]):
        parse_toml_table(text, "x", CatalogueError)


OBJECTS = {
    "[1]": "a list, not an object",
    "null": "a NoneType, not an object",
    '{"a": NaN}': "NaN is not a number",
    '{"a": -Infinity}': "Infinity is not a number",
    '{"a": 1e999}': "too large",
    '{"a": 1, "a": 2}': "contains the same key twice",
    '{"a": 18446744073709551616}': "64 bits",
    '{"a": ' + "9" * 5000 + "}": "64 bits",
    '{"a": ' * 40 + "1" + "}" * 40: "deeper than 32",
    "[" * 100_000: "deeper than 32",
    '{"a": [' + "[]," * 1_000_001: "more than 1,000,000",
    "{": "line 1",
}


@pytest.mark.parametrize("text", OBJECTS, ids=lambda text: text[:20])
def test_object_over_a_limit_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=OBJECTS[text]):
        parse_json_object(text)
    (tmp_path / "x").write_text(text)
    with pytest.raises(ReportError, match=OBJECTS[text]):
        read_json_object(tmp_path / "x", "the thing", ReportError)


@given(st.text(st.sampled_from("ab,\n\r é"), max_size=60))
def test_lines_equal_those_of_the_file(text: str) -> None:
    expected = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert list(decode_text_lines(text.encode(), "x", ReportError)) == (
        expected[:-1] if expected[-1] == "" else expected
    )


@given(st.lists(st.binary(min_size=1, max_size=9).filter(lambda word: len(word.split()) == 1), max_size=20))
def test_words_equal_those_of_the_file(found: list[bytes]) -> None:
    plain = [result.strip() for result in found]
    assert list(split_bytes_at_white_space(b" \n".join(plain), "x", ReportError)) == plain


def test_chunks_are_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"".join(b"%d some words\r\n" % number for number in range(40_000))
    assert list(split_bytes_at_white_space(data, "x", ReportError)) == data.split()
    assert list(decode_text_lines(data, "x", ReportError)) == data.decode().splitlines()


@pytest.mark.parametrize(
    ("key", "value"),
    [*(("configX", value) for value in ("/*", "1 // 2", "1)", "((1)", "1;2", "1\n", "$x", '"a"', "\\", "1" * 201, "é")),
     *((key, "1") for key in ("a b", "", "1a", "x/*", "a.b.c"))],
)  # fmt: skip
def test_invalid_configuration_is_refused(key: str, value: str) -> None:
    with pytest.raises(PlanError, match=r"is not a valid (key|value)"):
        require_valid_config({key: value})


def test_valid_configuration_is_accepted() -> None:
    """Each is taken; with one bad value among them none is."""
    good = {
        "configTOTAL_HEAP_SIZE": "( ( size_t ) ( 10 * 1024 ) )", "opt": "-O3", "feature.icache": "1", "x": "",
        "configX": "(1UL<<3)|!0", "instrument": "pin,counter", "timing.boot": "0x10",
    }  # fmt: skip
    require_valid_config(good)
    with pytest.raises(PlanError, match="configX='1;2' is not a valid value"):
        require_valid_config({**good, "configX": "1;2"})


@pytest.mark.parametrize("name", ["../../x", "a/b", "", ".hidden", "x" * 101, "a\0b", "-x"])
def test_baseline_stays_in_its_folder(name: str, tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="cannot be the name of a file"):
        baseline_path(tmp_path, name)
    assert baseline_path(tmp_path, "main") == tmp_path / "baselines" / "main.toml"
