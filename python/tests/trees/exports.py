"""Test code only: the tiny kernel as one that builds itself: a port that links an export, and the export."""

import subprocess
from pathlib import Path

from tests.trees.tiny import CPU, HEADER, KERNEL, WANTS, make_port

EXPORT = """
[export]
config = ".config"
board = "CONFIG_ARCH_BOARD"
cores = "CONFIG_CPUS"
optimisation = "CONFIG_OPTIMISATION"
headers = ["include"]
linked = [".config", "libs/*.a"]
version_header = "include/tiny.h"
version = "TINY_VERSION"

[export.lacks]
counting = ["semaphore"]
"""
LINK = """add_library(kernel INTERFACE)
target_include_directories(kernel SYSTEM INTERFACE ${TREE_HEADERS})
set(libraries ${TREE_SOURCES})
list(FILTER libraries INCLUDE REGEX "\\\\.a$")
target_link_libraries(kernel INTERFACE ${libraries})"""
PARTS = {
    "common": 'CONFIG_TICK=1000\n# CONFIG_DEBUG is not set\nCONFIG_OPTIMISATION="-O2"\n',
    "pico": '# The board.\nCONFIG_ARCH_BOARD="small"\nCONFIG_RAM=1\n',
    "counting": "CONFIG_COUNTING=y\n",
}
CONFIG = """# Made by a tool.
CONFIG_ARCH_BOARD="small"
CONFIG_RAM=1
CONFIG_TICK=1000
CONFIG_OPTIMISATION="-O2"
CONFIG_COUNTING=y
CONFIG_SOMETHING_ELSE=3
# CONFIG_DEBUG is not set
"""


def make_export_port(folder: Path) -> Path:
    """A folder `tiny` with the port, which takes no sources but an export."""
    port = make_port(folder)
    facts = (port / "kernel.toml").read_text()
    (port / "kernel.toml").write_text(facts.replace(WANTS, EXPORT))
    script = (port / "kernel.cmake").read_text()
    compiled = "kernel_from_tree(tiny_kernel)\nadd_library(kernel INTERFACE)\n"
    script = script.replace(f"{compiled}target_link_libraries(kernel INTERFACE tiny_kernel)", LINK)
    (port / "kernel.cmake").write_text(script.replace("set(KERNEL_TARGETS tiny_kernel)", 'set(KERNEL_TARGETS "")'))
    for name, text in PARTS.items():
        (port / "config" / f"{name}.defconfig").write_text(text)
    (port / "config" / "README.in").write_text(
        "For {board}{needs}: {machine}, `rtoslab kernel tree add {id} {folder}`, {}.\n"
    )
    return port


def make_export(folder: Path, config: str = CONFIG, pause: str = "") -> Path:
    """What the kernel's own build would leave, for a Pico."""
    for name in ("include", "libs", "made"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / ".config").write_text(config)
    (folder / "include" / "tiny.h").write_text(HEADER.replace("#define TINY_PAUSE", f"#define TINY_PAUSE {pause}"))
    objects = []
    for name, text in (("cpu", CPU), ("semaphore", KERNEL)):
        source = folder / "made" / f"{name}.c"
        source.write_text(text)
        objects.append(source.with_suffix(".o"))
        compile_it: list[str | Path] = [
            "arm-none-eabi-gcc",
            "-mcpu=cortex-m0plus",
            "-mthumb",
            "-O2",
            "-I",
            folder / "include",
            "-c",
        ]
        subprocess.run([*compile_it, source, "-o", objects[-1]], check=True, capture_output=True)
    library = folder / "libs" / "libtiny.a"
    library.unlink(missing_ok=True)
    subprocess.run(["arm-none-eabi-ar", "rcsD", library, *objects], check=True, capture_output=True)
    return folder
