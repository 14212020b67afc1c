"""Features that an image uses and its virtual board does not model: every command that runs an image says so."""

import subprocess
from pathlib import Path

import pytest

from tests.cli.test_cli import rtoslab

SOURCE = """
.syntax unified
.thumb
.global reset, read_counter, stay
.word 0x20002000, reset + 1
.thumb_func
reset:
    bl read_counter
stay:
    nop
    b stay
.type read_counter, %function
.thumb_func
read_counter:
    ldr r0, =0xE0001004 @ DWT_CYCCNT, with DEMCR.TRCENA as after reset: off
    ldr r1, [r0]
    bx lr
.size read_counter, . - read_counter
"""


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("counter")
    (folder / "a.S").write_text(SOURCE)
    places = ["-nostdlib", "-Wl,-Ttext=0x08000000,-ereset"]
    subprocess.run(
        ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", *places, "a.S", "-o", "a.elf"], cwd=folder, check=True
    )
    return folder / "a.elf"


@pytest.mark.parametrize("command", ["sim", "profile", "trace", "masked", "diagnose", "measure read_counter --image"])
def test_commands_warn_of_what_the_board_does_not_model(command: str, image: Path, tmp_path: Path) -> None:
    output = ["-o", str(tmp_path / "trace.pftrace")] if command == "trace" else []
    done = rtoslab(*command.split(), image, "--board", "nucleo-f446re", "--for", "1ms", *output)
    assert "Traceback" not in done.stderr
    shown = " ".join((done.stdout + done.stderr).split())
    assert shown.count("DWT registers are read while DEMCR.TRCENA is off") == 1, shown
