"""Inputs that describe something: trees, exports, projects, papers, reference results."""

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final

from rtoslab.base import to_canonical_json
from rtoslab.base.errors import CatalogueError
from rtoslab.base.paths import find_checkout_root
from rtoslab.calibrate.silicon_file import read_silicon_calibration_file
from rtoslab.catalogue.paper_folders import parse_published_values_csv
from rtoslab.catalogue.strict_files import validate_table
from rtoslab.intake.objects import parse_json_object
from rtoslab.intake.tables import parse_toml_table
from rtoslab.project.project_file import Project, require_project_items_name_images
from rtoslab.reference.reference_file import read_reference_file
from tests.inputs.kind import text_of
from tests.inputs.mutate import damage_input

COMMENT: Final = re.compile(rb"^[ \t]*#.*\n", re.MULTILINE)
TREE: Final = b"""id = "tiny"
port = "threadx"
path = "/elsewhere/threadx"
version = "6.4.1"
sources = ["common/src/*.c", "!common/src/tx_misra.c"]
headers = ["common/inc"]
defines = ["TX_NO_FILEX", "A=1"]
absent = ["tx_later"]
[exports]
pico-1 = "/elsewhere/export"
[cores.cortex-m4f]
sources = ["ports/cortex_m4/gnu/src/*.S"]
headers = ["ports/cortex_m4/gnu/inc"]
flags = ["-mfloat-abi=hard"]
"""
PROJECT: Final = b"""[image.app]
elf = "build/app.elf"
board = "nucleo-f446re"
build = ["make", "-C", "firmware"]
for_ms = 500
until = "work_done"
[[function]]
image = "app"
name = "control.c:120"
max_cycles = 900
by = "undisturbed"
max_stack_bytes = 256
"""
BENCH: Final = b"""[[target]]
name = "left"
board = "nucleo-f446re"
probe = "066BFF3535"
port = "/dev/ttyACM0"
tool = "openocd"
flash_limit_s = 90
[[target]]
name = "pico-2"
board = "pico"
probe = "E660:58"
drive = "/media/RPI-RP2"
silence_limit_s = 7.5
"""
SILICON: Final[dict[str, Any]] = {
    "format": 1, "rtoslab": "0.2.0", "board": "nucleo-f446re", "chip": "stm32f446", "clock_hz": 84_000_000,
    "about": "on a desk", "image_sha256": "ab" * 32, "simulator_sha256": "cd",
    "rules": {"timing.it_folding": {"default": 1, "best": 1, "low": 1, "high": 1, "error_cycles": 0.125}},
    "rows": {"nop": [[20, 20, 21], [40, 40, 40]], "ldr": [[30], [60]]},
}  # fmt: skip
EXPORT: Final = b'CONFIG_ARCH_BOARD="nucleo"\n# CONFIG_SMP is not set\nCONFIG_SMP_NCPUS=2\nCONFIG_OPT="-O2"\n\n# end\n'


def papers(name: str) -> Sequence[bytes]:
    """Of each paper one file, without comments and only its head where it is long: the rest is more of the same."""
    results = [COMMENT.sub(b"", path.read_bytes()) for path in sorted(find_checkout_root().glob(f"papers/*/{name}"))]
    return [
        b"\n".join(result.split(b"\n")[:60]) if name.endswith("csv") else _shortest_tables(result) for result in results
    ]


def _shortest_tables(data: bytes) -> bytes:
    """Two of every array of tables."""
    head, *tables = re.split(rb"^(?=\[\[)", data, flags=re.MULTILINE)
    seen: dict[bytes, int] = {}
    stored = [head]
    for table in tables:
        name = table.split(b"\n")[0]
        seen[name] = seen.get(name, 0) + 1
        stored += [table] * (seen[name] <= 2)
    return b"".join(stored)


def read_project(data: bytes) -> None:
    """`rtoslab.toml`, and whether its names fit."""
    require_project_items_name_images(
        validate_table(parse_toml_table(text_of(data), "x", CatalogueError), "x", Project)
    )


def read_published(data: bytes) -> None:
    """A paper's figures, the numbers among them."""
    rows = parse_published_values_csv(text_of(data), Path("published.csv"))
    assert all(
        row.paper_value_as_number is None or row.paper_value_as_number == row.paper_value_as_number
        for row in rows.values()
    )


def silicon() -> bytes:
    """A calibration with its seal."""
    return _reseal(to_canonical_json(SILICON).encode())


def damage_silicon_file(data: bytes, random: Random, other: bytes) -> bytes:
    """Mostly with the seal made right again."""
    data = damage_input(data, random, other)
    return data if random.random() < 0.2 else _reseal(data)


def _reseal(data: bytes) -> bytes:
    try:
        body = parse_json_object(text_of(data))
    except (ValueError, CatalogueError):
        return data
    body = {key: value for key, value in body.items() if key != "sha256"}
    try:
        return to_canonical_json(
            {**body, "sha256": hashlib.sha256(to_canonical_json(body).encode()).hexdigest()}
        ).encode()
    except ValueError:  # a number that canonical text does not have
        return data


def read_calibration(data: bytes) -> None:
    """As a file in a board's folder, with the raw rounds in it."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "silicon.json"
        path.write_bytes(data)
        read_silicon_calibration_file(path).calibration_readings()


def references() -> Sequence[bytes]:
    """The head and two points of files of reference results."""
    results = []
    for path in sorted(find_checkout_root().glob("reference/*/*.jsonl")):
        head, *points = path.read_bytes().split(b"\n")[:-2]
        results.append(b"\n".join([head, *sorted(points, key=len)[len(points) // 2 :][:2], b""]))
    return [_seal(result) for result in results]


def _seal(data: bytes) -> bytes:
    return data + b'{"sha256":"%b"}\n' % hashlib.sha256(data).hexdigest().encode()


def damage_reference_file(data: bytes, random: Random, other: bytes) -> bytes:
    """Mostly with the seal made right again."""
    if random.random() < 0.2:
        return damage_input(data, random, other)
    lines, others = data.split(b"\n")[:-2], other.split(b"\n")[:-2]
    place = random.randrange(len(lines))
    lines[place] = damage_input(lines[place], random, random.choice(others))
    return _seal(b"\n".join([*lines, b""]))


def read_references(data: bytes) -> None:
    """As its name says it is of this paper and kernel."""
    message = re.search(rb'"kernel":"([\w.-]{1,40})","manifest".{0,100000}?"paper":"([\w.-]{1,40})"', data, re.DOTALL)
    paper, kernel = (message[2].decode(), message[1].decode()) if message else ("paper", "kernel")
    with TemporaryDirectory() as folder:
        path = Path(folder) / paper / f"{kernel}.jsonl"
        path.parent.mkdir()
        path.write_bytes(data)
        read_reference_file(path)
