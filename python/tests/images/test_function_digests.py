"""Same code, other place: functions told apart by their instructions, not by where they lie."""

import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtoslab.base import ImageFileError, cross_compiler_tool_name
from rtoslab.images import function_code_digests
from rtoslab.images.function_digests import branch_target_address, decode_movw_movt, literal_load_address

SOURCE = """
    .syntax unified
    .thumb
    .cpu {cpu}
    .section .text.callee, "ax"
    .type callee, %function
callee: movs r0, #{number}
    bx lr
    .size callee, . - callee
    .section .text.other, "ax"
    .type other, %function
other: movs r0, #9
    bx lr
    .size other, . - other
    .section .text.near, "ax"
    .type near, %function
near: push {{r4, lr}}
1:  bl {called}
    subs r0, r0, #1
    bne 1b
    ldr r1, ={variable}
    ldr r2, =.Ltext
    ldr r3, =0x40020000
    {extra}
    pop {{r4, pc}}
    {pool}
    .size near, . - near
    .section .rodata.text, "a"
.Ltext: .asciz "{text}"
    .section .bss.one, "aw", %nobits
    .type one, %object
one: .space 4
    .size one, 4
    .section .bss.two, "aw", %nobits
    .type two, %object
two: .space 4
    .size two, 4
"""
SCRIPT = """
ENTRY(near)
SECTIONS {{
  . = {flash}; .text : {{ {order} *(.rodata*) }}
  . = {sram}; .bss (NOLOAD) : {{ {data} }}
}}
"""
PLAIN = {
    "cpu": "cortex-m4", "number": 5, "called": "callee", "variable": "one", "extra": "", "pool": "", "text": "hello",
}  # fmt: skip
HERE = {"flash": "0x08000000", "sram": "0x20000000", "order": "*(.text.*)", "data": "*(.bss.*)"}
ELSEWHERE = {
    "flash": "0x08001234 + 0x10",
    "sram": "0x20000400",
    "order": "*(.text.near) . += 64; *(.text.other) *(.text.callee)",
    "data": "*(.bss.two) *(.bss.one)",
}
MOVED = "movw r3, #:lower16:one\n    movt r3, #:upper16:one"


def digests_of_linked(folder: Path, place: dict[str, str], **changes: object) -> dict[str, tuple[str, int]]:
    folder.mkdir()
    (folder / "a.S").write_text(SOURCE.format(**{**PLAIN, **changes}))
    (folder / "a.ld").write_text(SCRIPT.format(**place))
    gcc = shutil.which(cross_compiler_tool_name("gcc"))
    assert gcc
    flags = ["-nostdlib", "-mthumb", f"-mcpu={changes.get('cpu', 'cortex-m4')}", "-Wl,-z,noexecstack,-e,0"]
    subprocess.run([gcc, *flags, "-T", "a.ld", "a.S", "-o", "a.elf"], cwd=folder, check=True)
    return function_code_digests(folder / "a.elf", ["near", "callee", "other", "nobody"])


@pytest.mark.parametrize("pool", ["", ".ltorg"])
@pytest.mark.parametrize("cpu", ["cortex-m0plus", "cortex-m4"])
def test_same_code_at_other_addresses_has_the_same_digests(tmp_path: Path, cpu: str, pool: str) -> None:
    first = digests_of_linked(tmp_path / "a", HERE, cpu=cpu, pool=pool)
    second = digests_of_linked(tmp_path / "b", ELSEWHERE, cpu=cpu, pool=pool)
    assert set(first) == {"near", "callee", "other"}
    for name, (digest, address) in first.items():
        assert second[name][0] == digest, name
        assert second[name][1] != address, name


def test_addresses_in_instructions_do_not_change_digests(tmp_path: Path) -> None:
    first, second = (
        digests_of_linked(tmp_path / "a", HERE, extra=MOVED),
        digests_of_linked(tmp_path / "b", ELSEWHERE, extra=MOVED),
    )
    assert first["near"][0] == second["near"][0]
    third = digests_of_linked(tmp_path / "c", ELSEWHERE, extra=MOVED.replace("one", "two"))
    assert third["near"][0] != first["near"][0]


@pytest.mark.parametrize(
    ("changes", "changed"),
    [
        ({"number": 6}, "callee"),
        ({"called": "other"}, "near"),
        ({"variable": "two"}, "near"),
        ({"variable": "one + 4"}, "near"),
        ({"extra": "nop"}, "near"),
        ({"text": "other"}, "near"),
        ({"variable": "two", "pool": ".ltorg"}, "near"),
        ({"variable": "two", "cpu": "cortex-m0plus"}, "near"),
    ],
)
def test_every_other_change_changes_digests(tmp_path: Path, changes: dict[str, object], changed: str) -> None:
    alike = {name: value for name, value in changes.items() if name in {"pool", "cpu"}}
    plain, other = (
        digests_of_linked(tmp_path / "a", HERE, **alike),
        digests_of_linked(tmp_path / "b", ELSEWHERE, **changes),
    )
    assert [name for name in plain if plain[name][0] != other[name][0]] == [changed]


def test_damaged_file_is_reported(tmp_path: Path) -> None:
    digests_of_linked(tmp_path / "a", HERE)
    path = tmp_path / "a" / "a.elf"
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(ImageFileError, match="cannot be read as an ELF image"):
        function_code_digests(path, ["near"])


@given(st.integers(-(1 << 23), (1 << 23) - 1), st.sampled_from([0xD000, 0x9000]))
def test_far_branches_are_decoded(halves: int, kind: int) -> None:
    """Encoded after the manual's T1 of BL and T4 of B."""
    offset = halves * 2
    sign, i1, i2 = offset >> 24 & 1, offset >> 23 & 1, offset >> 22 & 1
    j1, j2 = 1 ^ i1 ^ sign, 1 ^ i2 ^ sign
    first = 0xF000 | sign << 10 | offset >> 12 & 0x3FF
    second = kind | j1 << 13 | j2 << 11 | offset >> 1 & 0x7FF
    assert branch_target_address(0x0800_0000, struct.pack("<HH", first, second)) == 0x0800_0004 + offset


@given(st.integers(-(1 << 19), (1 << 19) - 1), st.integers(0, 13))
def test_conditional_branches_are_decoded(halves: int, condition: int) -> None:
    offset = halves * 2
    sign, j2, j1 = offset >> 20 & 1, offset >> 19 & 1, offset >> 18 & 1
    first = 0xF000 | sign << 10 | condition << 6 | offset >> 12 & 0x3F
    second = 0x8000 | j1 << 13 | j2 << 11 | offset >> 1 & 0x7FF
    assert branch_target_address(0x0800_0000, struct.pack("<HH", first, second)) == 0x0800_0004 + offset


@pytest.mark.parametrize(
    "code", [(0xF3BF, 0x8F4F), (0xF3EF, 0x8010), (0xF380, 0x8811), (0xF240, 0x1234), (0xE92D, 0x41F0)]
)
def test_non_branch_has_no_target(code: tuple[int, int]) -> None:
    """DSB, MRS, MSR, MOVW, PUSH."""
    assert branch_target_address(0x100, struct.pack("<HH", *code)) is None


@given(st.integers(0, 0xFFFF), st.integers(0, 14), st.booleans())
def test_halves_of_an_address_are_joined(value: int, register: int, top: bool) -> None:
    first = 0xF240 | top << 7 | (value >> 11 & 1) << 10 | value >> 12
    second = (value >> 8 & 7) << 12 | register << 8 | value & 0xFF
    assert decode_movw_movt(struct.pack("<HH", first, second)) == (top, register, value)


@given(st.integers(0, 255), st.integers(0, 7), st.sampled_from([0x100, 0x102]))
def test_short_literals_are_found(words: int, register: int, at: int) -> None:
    code = struct.pack("<H", 0x4800 | register << 8 | words)
    assert literal_load_address(at, code) == (at + 4) // 4 * 4 + 4 * words


@given(st.integers(0, 0xFFF), st.booleans())
def test_long_literals_are_found(offset: int, forward: bool) -> None:
    code = struct.pack("<HH", 0xF85F | forward << 7, 0x1000 | offset)
    assert literal_load_address(0x1000, code) == 0x1004 + (offset if forward else -offset)
