"""Test code only: images whose memory is as a kernel leaves it, laid out by hand: structures, lists, one saved frame.

No kernel runs in them. `alpha` is the running task, `beta` waits with a saved frame, `gamma` with a spoilt one.
"""

import subprocess
from pathlib import Path
from typing import Final

from tests.debugged_firmware import SCRIPT

FOLDER: Final = Path(__file__).parent / "laid_kernels"
KERNELS: Final = sorted(path.stem for path in FOLDER.glob("*.c"))


def build(folder: Path, kernel: str) -> Path:
    """The image."""
    (folder / "fw.ld").write_text(SCRIPT.replace("BASE", "0x08000000"))
    flags = ["-mcpu=cortex-m4", "-mthumb", "-O1", "-g", "-ffreestanding", "-nostdlib", "-T", "fw.ld"]
    source = FOLDER / f"{kernel}.c"
    subprocess.run(["arm-none-eabi-gcc", *flags, source, "-o", "fw.elf"], cwd=folder, check=True)
    return folder / "fw.elf"
