"""Intel HEX and plain binaries: what a public library writes is read back, damage is told by its line, images run."""

import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtoslab.intake.hex_images import elf_from_segments, parse_intel_hex
from tests.cli.test_cli import command_error, rtoslab
from tests.printing_firmware import build


def record(kind: int, address: int, data: bytes = b"") -> str:
    body = bytes([len(data), address >> 8, address & 0xFF, kind]) + data
    return f":{(body + bytes([-sum(body) & 0xFF])).hex().upper()}"


END = record(1, 0)


def text(*records: str) -> bytes:
    return "\n".join(records).encode()


def convert_image(image: Path, form: str) -> Path:
    out = image.with_suffix(f".{form}")
    kind = {"hex": "ihex", "bin": "binary"}[form]
    only = ["-j", ".text", "-j", ".data"] if form == "bin" else []
    subprocess.run(["arm-none-eabi-objcopy", "-O", kind, *only, image, out], check=True)
    return out


def run_image(*image: str | Path) -> dict[str, object]:
    done = rtoslab("sim", *image, "--board", "nucleo-f446re", "--max-cycles", "100000", "--json")
    assert done.returncode == 0, done.stderr
    return {name: json.loads(done.stdout)[name] for name in ("stop", "cycle", "cycles", "instructions")}


def test_hex_and_binary_images_run_like_the_elf(tmp_path: Path) -> None:
    image = build(tmp_path)
    stripped = tmp_path / "stripped.elf"  # with names it would find the buffers of RTT, and read them
    subprocess.run(["arm-none-eabi-objcopy", "--strip-all", image, stripped], check=True)
    expected = run_image(stripped)
    assert expected["instructions"] != [0]
    assert run_image(convert_image(image, "hex")) == expected
    assert run_image(convert_image(image, "bin"), "--load-address", "0x08000000") == expected


@given(st.dictionaries(st.integers(0, (1 << 32) - 1), st.integers(0, 255), min_size=1, max_size=40))
def test_every_byte_keeps_its_address(content: dict[int, int]) -> None:
    lines = []
    for address, byte in content.items():
        lines += [record(4, 0, (address >> 16).to_bytes(2, "big")), record(0, address & 0xFFFF, bytes([byte]))]
    segments, start = parse_intel_hex(text(*lines, END))
    assert start is None
    result = {at + number: byte for at, data in segments for number, byte in enumerate(data)}
    assert {at: result[at] for at in content} == content
    assert all(byte == 0xFF for at, byte in result.items() if at not in content)


def test_addresses_by_segment_and_a_start() -> None:
    lines = (record(2, 0, b"\x10\x00"), record(0, 4, b"abc"), record(5, 0, b"\x08\x00\x01\x01"), END)
    assert parse_intel_hex(text(*lines)) == ([(0x10004, b"abc")], 0x0800_0101)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (text(record(0, 0, b"x")), "is truncated"),
        (text(record(0, 0, b"x")[:-2], END), "line 1 is not a record"),
        (text(record(0, 0, b"x")[:-1] + "F", END), "checksum of line 1"),
        (text(END, record(0, 0, b"x")), "line 2 follows"),
        (text(record(7, 0, b"x"), END), "of an unknown type"),
        (text(record(0, 0, b"x"), record(0, 0, b"y"), END), "line 2 gives 0x00000000 another value"),
        (text(record(4, 0, b"\xff\xff"), record(0, 0xFFFF, b"xy"), END), "does not fit into 32 bits"),
        (b":zz", "line 1 is not a record"),
        (text(END), "0 separate memory areas"),
    ],
)
def test_damage_is_reported_with_its_line(content: bytes, why: str, tmp_path: Path) -> None:
    path = tmp_path / "fw.hex"
    path.write_bytes(content)
    output = command_error(rtoslab("sim", path, "--board", "nucleo-f446re"), 1)
    assert why in output
    assert output.count("\n") == 0


def test_too_many_memory_areas_are_refused() -> None:
    with pytest.raises(ValueError, match="300 separate memory areas"):
        elf_from_segments([(number << 20, b"x") for number in range(300)])
