"""Placements: the same code elsewhere. 0 is the linker's own order to the byte, any other an order of its own."""

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from rtoslab.base.errors import PlanError
from rtoslab.base.paths import find_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.images.builder import build
from rtoslab.images.elf import Symbol, read_elf
from rtoslab.measure.identity import point_id
from rtoslab.measure.pool import run_plan
from rtoslab.plan.plan import Options, Point, make_plan, one_point

ROOT: Final = find_root()
CATALOGUE: Final = Catalogue(ROOT)
BOARDS: Final = ["pico", "nucleo-f446re", "nucleo-f767zi"]
"""An XIP cache, a flash accelerator, caches before and behind an AXI bus."""


def _point(benchmark: str, board: str, **config: str) -> Point:
    (point,) = make_plan(CATALOGUE, [benchmark], Options(["freertos"], [board], config=config)).points
    return point


def _linked(firmware: Path, folder: Path, *options: str) -> Path:
    """An image made by CMake alone, without anything kept of other builds."""
    what = ["-DBENCH=t8_allocation", "-DKERNEL=freertos", "-DBOARD=nucleo-f446re", *options]
    subprocess.run(["cmake", "-S", firmware, "-B", folder, "-G", "Ninja", *what], check=True, capture_output=True)
    subprocess.run(["cmake", "--build", folder], check=True, capture_output=True)
    return folder / "image.elf"


def _symbols(elf: Path) -> tuple[Symbol, ...]:
    return read_elf(elf).symbols


def _loaded(elf: Path) -> bytes:
    flat = elf.with_suffix(".bin")
    subprocess.run(["arm-none-eabi-objcopy", "-O", "binary", elf, flat], check=True)
    return flat.read_bytes()


def test_placement_0_is_what_scripts_without_placements_give(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "spec", tmp_path / "spec")
    firmware = shutil.copytree(ROOT / "firmware", tmp_path / "firmware")
    taken = 0
    for script in firmware.rglob("*.ld"):
        text, count = re.subn(r"^ *INCLUDE placed_\w+\.ld\n", "", script.read_text(), flags=re.MULTILINE)
        script.write_text(text)
        taken += count
    assert taken == 2 * 5 + 2, "code and constants of three scripts, data, zeroed data and stacks of two"
    plain = _linked(firmware, tmp_path / "plain")
    usual = _linked(ROOT / "firmware", tmp_path / "usual")
    assert _loaded(usual) == _loaded(plain)
    assert _symbols(usual) == _symbols(plain)


def test_a_placement_is_the_same_on_every_build_and_another_than_the_next(tmp_path: Path) -> None:
    first, again, other = (
        _linked(ROOT / "firmware", tmp_path / str(at), f"-DPLACEMENT={number}")
        for at, number in enumerate(("3", "3", "4"))
    )
    assert _loaded(first) == _loaded(again)
    assert _symbols(first) == _symbols(again)
    assert _loaded(first) != _loaded(other)


@pytest.mark.parametrize("board", BOARDS)
def test_a_placement_moves_everything_and_changes_nothing_else(board: str) -> None:
    usual, placed = (build(CATALOGUE, _point("t8", board, placement=each)) for each in ("0", "2"))
    assert (usual.info["placement"], placed.info["placement"]) == (0, 2)
    before, after = _symbols(usual.elf), _symbols(placed.elf)

    def sizes(found: tuple[Symbol, ...]) -> list[tuple[str, int]]:
        return sorted((each.name, each.size) for each in found)

    assert sizes(before) == sizes(after), "the same functions and objects, byte for byte as long"
    # The vector table and what stands before it in the script is all that has its own place.
    orders = [[each.name for each in found] for found in (before, after)]
    still = sum(mine == other for mine, other in zip(*orders, strict=True))
    assert still < len(before) / 4, "their order is another one"
    for part in ("memset", "pvPortMalloc", "ucHeap"):  # the C library's, the kernel's, an object
        assert _address(before, part) != _address(after, part), part


def _address(found: tuple[Symbol, ...], name: str) -> int:
    return next(each.address for each in found if each.name == name)


def test_the_number_is_part_of_the_point_unless_it_is_0() -> None:
    placed, usual = _point("t8", "pico", placement="7"), _point("t8", "pico", placement="0")
    assert point_id(CATALOGUE, placed).config == {"placement": "7"}
    assert usual == _point("t8", "pico")
    assert point_id(CATALOGUE, usual).config == {}


def test_a_kernel_with_a_script_of_its_own_has_no_placements() -> None:
    kernel = CATALOGUE.kernel("freertos")
    owner = replace(kernel, facts=kernel.facts.model_copy(update={"owns_start": True}))
    benchmark, board = CATALOGUE.benchmark("t8_allocation"), CATALOGUE.board("pico")
    assert one_point(benchmark, owner, board, 1, 20, {}).not_applicable is None
    assert "its own script" in str(one_point(benchmark, owner, board, 1, 20, {"placement": "1"}).not_applicable)


@pytest.mark.parametrize("number", ["-1", "100000", "first"])
def test_a_number_that_is_none_is_refused(number: str) -> None:
    with pytest.raises(PlanError, match="placement"):
        _point("t8", "pico", placement=number)


@pytest.mark.parametrize("board", BOARDS)
def test_all_proofs_hold_in_another_place(board: str, tmp_path: Path) -> None:
    plan = make_plan(CATALOGUE, ["t2", "t8"], Options(["freertos"], [board], window_ms=20, config={"placement": "6"}))
    for each in run_plan(ROOT, plan, tmp_path / "run", jobs=1):
        assert each.result.status == "measured", each.result
