"""Headers of ours stand in one include path with a kernel's own: none has a name that a kernel may use as well."""

import re
from pathlib import Path

import pytest

from rtoslab.base.paths import find_checkout_root

FIRMWARE = find_checkout_root() / "firmware"
HEADERS = [path for path in FIRMWARE.rglob("*.h") if not {"kernels", "bench"} & set(path.relative_to(FIRMWARE).parts)]


def test_firmware_headers_are_found() -> None:
    assert len(HEADERS) > 30


@pytest.mark.parametrize("path", HEADERS, ids=lambda path: str(path.relative_to(FIRMWARE)))
def test_own_header_has_the_prefix(path: Path) -> None:
    assert path.name.startswith("bench_")


COMMON = {
    *("ABS", "ALIGN", "ARRAY_SIZE", "BIT", "BITS", "BOOL", "CLAMP", "CONCAT", "CONTAINER_OF", "EOF", "ERROR", "FALSE"),
    *(
        "MASK",
        "MAX",
        "MIN",
        "NULL",
        "OFFSETOF",
        "OK",
        "PACKED",
        "POINTER",
        "STRINGIFY",
        "SWAP",
        "TRUE",
        "UNUSED",
        "WEAK",
    ),
}
"""Macros that kernels' own headers define, and a port brings into each of our files."""


def test_own_macros_cannot_collide_with_a_kernels() -> None:
    result = {
        f"{path.relative_to(FIRMWARE)}: {name}"
        for path in FIRMWARE.rglob("*.[ch]")
        if "kernels" not in path.parts
        for name in re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", path.read_text(), re.MULTILINE)
        if name in COMMON
    }
    assert not result


def test_generated_header_has_our_prefix() -> None:
    texts = [path.read_text() for path in (FIRMWARE / "cmake").glob("*.cmake")]
    names = {
        word.rpartition("/")[2] for text in texts for word in text.replace('"', " ").split() if word.endswith(".h")
    }
    built = {name for name in names if any(f"BENCH_GENERATED_DIR}}/{name}" in text for text in texts)}
    assert len(built) >= 6
    assert all(name.startswith("bench_") for name in built), built
