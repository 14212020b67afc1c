"""Images for every board: they build without a warning, and their first words are what the part reads at reset."""

import struct
import subprocess
from pathlib import Path
from typing import Final

import pytest

from rtoslab.base.errors import BuildError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.catalogue.schemas import Board
from rtoslab.images.builder import build_failure_reason, build_measurement_point_image
from rtoslab.plan.plan import PlannedPoint, PlanOptions, make_measurement_plan
from tests.board_images import Program

CATALOGUE: Final = Catalogue(find_checkout_root())
STM32: Final = [name for name, entry in CATALOGUE.boards.items() if entry.facts.chip.startswith("stm32")]
SYSTEM_EXCEPTIONS: Final = 16
EVERY_POINT: Final = [
    point
    for opt in ("-O2", "-O3")
    for point in make_measurement_plan(
        CATALOGUE,
        CATALOGUE.benchmarks,
        PlanOptions(tuple(CATALOGUE.buildable_kernels), tuple(CATALOGUE.boards), config={"opt": opt}),
    ).points
    if point.not_applicable is None
]


def _point(benchmark: str, board: str, kernel: str = "freertos", **config: str) -> PlannedPoint:
    (point,) = make_measurement_plan(CATALOGUE, [benchmark], PlanOptions([kernel], [board], config=config)).points
    assert point.not_applicable is None
    return point


def _vectors(elf: Path, folder: Path, count: int) -> tuple[int, ...]:
    flat = folder / "image.bin"
    subprocess.run(["arm-none-eabi-objcopy", "-O", "binary", elf, flat], check=True)
    return struct.unpack_from(f"<{count}I", flat.read_bytes())


def _memory(board: Board, name: str) -> range:
    start = getattr(board.memory, f"{name}_start")
    return range(start, start + getattr(board.memory, f"{name}_bytes"))


@pytest.mark.parametrize("name", STM32)
def test_vector_table(name: str, tmp_path: Path) -> None:
    board = CATALOGUE.find_board(name).facts
    vectors = _vectors(Program("t5", name).elf(), tmp_path, SYSTEM_EXCEPTIONS + board.irq.lines)
    assert vectors[0] == _memory(board, board.memory.data).stop
    assert all(vector & 1 and vector in _memory(board, "flash") for vector in vectors[1:])
    lines = vectors[SYSTEM_EXCEPTIONS:]
    others = set(lines[: board.irq.soft] + lines[board.irq.soft + 1 :])
    assert len(others) == 1, "only the software interrupt has a handler"
    assert lines[board.irq.soft] not in others
    assert len({vectors[11], vectors[14], vectors[15]} - others) == 3, "the kernel's three handlers"


@pytest.mark.parametrize(
    ("name", "config", "runs_in"),
    [
        ("nucleo-f446re", {"code": "sram"}, "sram"),
        ("nucleo-f767zi", {"code": "itcm", "data": "sram"}, "itcm"),
        ("nucleo-f767zi", {"code": "flash_itcm"}, "flash_itcm"),
        ("nucleo-h743zi", {"code": "sram", "clock_hz": "480000000", "feature.dcache": "0"}, "sram"),
        ("stm32f407ig", {"data": "ccm", "clock_hz": "8000000", "wait_states": "2"}, "flash"),
    ],
)
def test_placements_and_options_reach_the_image(
    name: str, config: dict[str, str], runs_in: str, tmp_path: Path
) -> None:
    board = CATALOGUE.find_board(name).facts
    built = build_measurement_point_image(CATALOGUE, _point("t1", name, "bare", **config))
    stack, reset, *_ = _vectors(built.elf_path, tmp_path, 4)
    assert stack == _memory(board, config.get("data", board.memory.data)).stop
    assert reset in _memory(board, "flash_itcm" if runs_in == "flash_itcm" else "flash"), "start-up code lies in flash"
    symbols = subprocess.run(["arm-none-eabi-nm", built.elf_path], check=True, capture_output=True, text=True).stdout
    main = next(int(line.split()[0], 16) for line in symbols.splitlines() if line.endswith(" T main"))
    assert main in _memory(board, runs_in)
    output = {"code": built.info["code"], "data": built.info["data"], "clock_hz": str(built.info["clock_hz"])}
    assert output == {
        "code": config.get("code", "flash"),
        "data": config.get("data", board.memory.data),
        "clock_hz": config.get("clock_hz", str(board.clock.sys_hz)),
    }
    if "wait_states" in config:
        assert built.info["clock"]["wait_states"] == config["wait_states"]
    if "feature.dcache" in config:
        assert built.info["features"]["dcache"] == "0"


@pytest.mark.long
@pytest.mark.parametrize("point", EVERY_POINT, ids=lambda point: f"{point.label} {point.opt}")
def test_every_image_builds_without_a_warning(point: PlannedPoint) -> None:
    built = build_measurement_point_image(CATALOGUE, point)
    assert built.info["board"] == point.board
    log = (built.folder / "build.log").read_text()
    assert "warning:" not in log


@pytest.mark.parametrize("macro", ["configTICK_RATE_HS", "configTICKRATE_HZ"])
def test_unknown_macro_is_refused_with_a_suggestion(macro: str) -> None:
    with pytest.raises(BuildError, match=f"has no setting `{macro}`; did you mean `configTICK_RATE_HZ`"):
        build_measurement_point_image(CATALOGUE, _point("t2", "pico", **{macro: "100"}))


LD = "arm-none-eabi/bin/ld: "


@pytest.mark.parametrize(
    ("log", "said"),
    [
        ("x.c:3:1: error: 'y' undeclared\nninja: stopped", "x.c:3:1: error: 'y' undeclared."),
        ('x.c:3:1: error: static assertion failed: "tasks: from 2 to 20"\n', "tasks: from 2 to 20."),
        (
            f"{LD}data leaves no room\n{LD}region `sram' overflowed by 352 bytes\ncollect2: error: ld returned 1\n",
            "region `sram' overflowed by 352 bytes.",
        ),
        (f"{LD}data leaves no room\ncollect2: error: ld returned 1 exit status\n", "data leaves no room."),
        (
            "x.c:(.text+0x4): undefined reference to `port_yeild'\ncollect2: error: ld returned 1 exit status\n",
            "x.c:(.text+0x4): undefined reference to `port_yeild'.",
        ),
        ("ninja: stopped", "the last step returned an error."),
    ],
)
def test_failed_build_is_reported_with_its_reason(log: str, said: str) -> None:
    assert build_failure_reason(log) == said
