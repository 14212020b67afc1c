"""Images that the instruments are tried on: small benchmarks, and the planted faults of firmware/scenes/."""

import subprocess
from functools import cache
from pathlib import Path

from rtoslab.base import tools
from rtoslab.base.paths import build_folder, find_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.instruments.subject import Stretch, Subject, make_subject

ROOT = find_root()
CATALOGUE = Catalogue(ROOT)


@cache
def scene(name: str, kernel: str, board: str) -> Path:
    """Builds a scene."""
    folder = build_folder(ROOT) / f"scene-{name}-{kernel}-{board}"
    options = [f"-DBENCH=scene-{name}", f"-DKERNEL={kernel}", f"-DBOARD={board}"]
    cmake = str(tools.find("cmake"))
    for command in (
        [cmake, "-S", str(ROOT / "firmware"), "-B", str(folder), "-G", "Ninja", *options],
        [cmake, "--build", str(folder)],
    ):
        subprocess.run(command, check=True, capture_output=True)
    return folder / "image.elf"


def scene_subject(name: str, kernel: str, board: str, milliseconds: int, start: str | None = None) -> Subject:
    """So much of a scene, from reset or from a function on."""
    cycles = milliseconds * CATALOGUE.board(board).facts.clock.sys_hz // 1000
    stretch = Stretch(start=start, cycles=cycles)
    image = str(scene(name, kernel, board))
    return make_subject(CATALOGUE, image, kernel=kernel, board=board, cores=1, stretch=stretch)
