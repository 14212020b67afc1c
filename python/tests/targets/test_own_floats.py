"""Which functions of an image's own calculate in floating point; moves of the compiler's and data are none."""

import subprocess
from pathlib import Path

import pytest

from rtoslab.targets.own_floats import functions_with_float_code

SOURCE = """
void calculates(float *value) { *value = *value + 1.5f; }
void touches(void) { __asm volatile("vmov s0, s0" ::: "s0"); }
void moves(void) { __asm volatile("vldr d7, [sp]\\n vstr d7, [sp, #8]" ::: "d7"); }
unsigned counts(unsigned n) { return n + 1u; }
/* Between the instructions lies a word that would be VADD.F32. */
void jumps(void) { __asm volatile("b 1f\\n .balign 4\\n .word 0x0a00ee30\\n 1:"); }
"""


@pytest.mark.parametrize(
    ("place", "found"), [("firmware/benchmarks/t/t.c", ("calculates", "touches")), ("kernel/t.c", ())]
)
def test_own_functions_with_floating_point_are_found(tmp_path: Path, place: str, found: tuple[str, ...]) -> None:
    source = tmp_path / place
    source.parent.mkdir(parents=True)
    source.write_text(SOURCE)
    core = ["-mcpu=cortex-m7", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv5-d16"]
    command = ["arm-none-eabi-gcc", *core, "-g", "-O2", "-nostdlib", "-Wl,-Ttext=0x08000000", "-Wl,-ecounts"]
    subprocess.run([*command, "-o", "image.elf", place], cwd=tmp_path, check=True)
    assert functions_with_float_code((tmp_path / "image.elf").read_bytes()) == found


def test_non_elf_image_has_no_floating_point_functions() -> None:
    assert functions_with_float_code(b"no image") == ()
