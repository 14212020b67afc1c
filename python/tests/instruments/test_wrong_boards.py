"""Images of other boards, and code that is never code: the sentences say what is wrong."""

import subprocess
from pathlib import Path

import pytest

from rtoslab.base import ImageFileError
from rtoslab.instruments import Timeline, record_timeline
from rtoslab.instruments.subject import ObservedRunSection, find_observed_image
from tests.cli.test_cli import rtoslab
from tests.instruments.images import CATALOGUE


def test_kernel_whose_variables_have_no_memory_is_refused(tmp_path: Path) -> None:
    """The H743's main RAM is at an address that the F767 does not have, while both have flash at the same address."""
    source, elf = tmp_path / "kernel.c", tmp_path / "kernel.elf"
    source.write_text(
        "void *volatile pxCurrentTCB;\nvoid vTaskSwitchContext(void) { pxCurrentTCB = 0; }\n"
        "void reset(void) { vTaskSwitchContext(); for (;;) { } }\n"
        '__attribute__((section(".vectors"), used)) void *const vectors[] = {(void *)0x20001000, reset};\n'
    )
    gcc = [
        "arm-none-eabi-gcc",
        "-mcpu=cortex-m7",
        "-mthumb",
        "-O1",
        "-nostdlib",
        "-Wl,-e,reset",
        "-Wl,-Tbss=0x24000000",
    ]
    places = ["-Wl,--section-start=.vectors=0x08000000", "-Wl,-Ttext=0x08000200"]
    subprocess.run([*gcc, *places, "-o", elf, source], check=True)

    def record(board: str) -> Timeline:
        section = ObservedRunSection(cycles=10_000)
        return record_timeline(
            find_observed_image(CATALOGUE, str(elf), board=board, kernel="freertos", stretch=section)
        )

    assert record("nucleo-h743zi").end == 10_000
    with pytest.raises(ImageFileError, match="at 0x24000000, where the board has no memory; name the board"):
        record("nucleo-f767zi")


@pytest.mark.parametrize(("target", "why"), [("0xfffffff1", "no core runs code from"), ("0x40000001", "no core runs")])
def test_jump_to_a_region_without_code_is_not_said_to_be_the_work_of_the_mpu(
    target: str, why: str, tmp_path: Path
) -> None:
    source, elf = tmp_path / "jump.s", tmp_path / "jump.elf"
    source.write_text(
        ".syntax unified\n.word 0x20001000, reset + 1\n.rept 14\n.word stop + 1\n.endr\n"
        f".thumb_func\nstop: b stop\n.thumb_func\nreset: ldr r0, ={target}\nbx r0\n"
    )
    gcc = ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-nostdlib", "-Wl,-Ttext=0x08000000", "-Wl,-e,reset"]
    subprocess.run([*gcc, "-o", elf, source], check=True)
    done = rtoslab("sim", elf, "--board", "nucleo-f446re", "--for", "1ms")
    assert done.returncode == 3
    assert why in done.stderr
    assert "that the MPU forbids" not in done.stderr
