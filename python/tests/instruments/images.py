"""Images that the instruments are tried on: small benchmarks, and the planted faults of firmware/scenes/."""

import subprocess
from functools import cache
from pathlib import Path

from rtoslab.base import exclusive_lock, tools
from rtoslab.base.paths import build_folder, find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.images.compile_steps import run_build_steps
from rtoslab.images.object_cache import ObjectFileCache, compiler_identity
from rtoslab.instruments.subject import ObservedImage, ObservedRunSection, find_observed_image

ROOT = find_checkout_root()
CATALOGUE = Catalogue(ROOT)


@cache
def scene(name: str, kernel: str, board: str) -> Path:
    """Builds a scene, of objects that are kept for other images where they are the same."""
    folder, firmware = build_folder(ROOT) / f"scene-{name}-{kernel}-{board}", ROOT / "firmware"
    options = [f"-DBENCH=scene-{name}", f"-DKERNEL={kernel}", f"-DBOARD={board}"]
    with exclusive_lock(folder.with_name(f".{folder.name}.lock")):  # several processes run tests
        command: list[str | Path] = [
            tools.find_build_program("cmake"),
            "-S",
            firmware,
            "-B",
            folder,
            "-G",
            "Ninja",
            *options,
        ]
        subprocess.run(command, check=True, capture_output=True)
        with (folder / "build.log").open("w+") as log:
            run_build_steps(
                folder,
                ObjectFileCache(folder, firmware, folder.with_name("ccache"), compiler_identity(clang=False)),
                log,
            )
    return folder / "image.elf"


def scene_subject(name: str, kernel: str, board: str, milliseconds: int, start: str | None = None) -> ObservedImage:
    """So much of a scene, from reset or from a function on."""
    cycles = milliseconds * CATALOGUE.find_board(board).facts.clock.sys_hz // 1000
    stretch = ObservedRunSection(start=start, cycles=cycles)
    image = str(scene(name, kernel, board))
    return find_observed_image(CATALOGUE, image, kernel=kernel, board=board, cores=1, stretch=stretch)
