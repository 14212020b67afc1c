"""Placements: the same code elsewhere. 0 is the linker's own order to the byte, any other an order of its own."""

import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from rtoslab.analyses.bands import CodePlacementValueRange
from rtoslab.analyses.counts_per_second import counts_per_second_of_point
from rtoslab.base.errors import PlanError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.catalogue.defaults import DEFAULT_BOARD
from rtoslab.cli import app
from rtoslab.images.builder import build_measurement_point_image
from rtoslab.images.elf import ImageSymbol, read_elf
from rtoslab.measure.identity import identity_of_point
from rtoslab.measure.pool import measure_points_of_plan
from rtoslab.placements.moved_functions import FunctionInCodePlacements, functions_affected_by_code_placement
from rtoslab.plan.placements import repeat_plan_in_code_placements
from rtoslab.plan.plan import PlannedPoint, PlanOptions, make_measurement_plan, make_planned_point
from rtoslab.results.results import MeasuredPoint
from rtoslab.store.store import RunDirectory

ROOT: Final = find_checkout_root()
CATALOGUE: Final = Catalogue(ROOT)
BOARDS: Final = ["pico", "nucleo-f446re", "nucleo-f767zi"]
"""An XIP cache, a flash accelerator, caches before and behind an AXI bus."""


def _point(benchmark: str, board: str, **config: str) -> PlannedPoint:
    (point,) = make_measurement_plan(
        CATALOGUE, [benchmark], PlanOptions(["freertos"], [board], window_ms=20, config=config)
    ).points
    return point


Linked = tuple[bytes, tuple[ImageSymbol, ...]]
"""What an image loads, and its symbols."""


def _link_image(firmware: Path, folder: Path, number: int = 0) -> Linked:
    """Of an image made by CMake alone, without anything kept of other builds but those in the folder."""
    what = ["-DBENCH=t7_synchronisation", "-DKERNEL=bare", "-DBOARD=nucleo-f446re", f"-DPLACEMENT={number}"]
    subprocess.run(["cmake", "-S", firmware, "-B", folder, "-G", "Ninja", *what], check=True, capture_output=True)
    subprocess.run(["cmake", "--build", folder], check=True, capture_output=True)
    return _loaded_bytes(folder / "image.elf"), _symbols(folder / "image.elf")


@pytest.fixture(scope="module")
def built_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which everything is compiled; to place it again is to link it again."""
    folder = tmp_path_factory.mktemp("built")
    _link_image(ROOT / "firmware", folder, 3)
    return folder


def _symbols(elf: Path) -> tuple[ImageSymbol, ...]:
    return read_elf(elf).symbols


def _loaded_bytes(elf: Path) -> bytes:
    flat = elf.with_suffix(".bin")
    subprocess.run(["arm-none-eabi-objcopy", "-O", "binary", elf, flat], check=True)
    return flat.read_bytes()


def test_placement_0_is_what_scripts_without_placements_give(built_folder: Path, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "spec", tmp_path / "spec")
    firmware = shutil.copytree(ROOT / "firmware", tmp_path / "firmware", copy_function=shutil.copyfile)
    taken = 0
    for script in firmware.rglob("*.ld"):
        text, count = re.subn(r"^ *INCLUDE placed_\w+\.ld\n", "", script.read_text(), flags=re.MULTILINE)
        script.write_text(text)
        taken += count
    assert taken == 2 * 5 + 2, "code and constants of three scripts, data, zeroed data and stacks of two"
    assert _link_image(ROOT / "firmware", built_folder, 0) == _link_image(firmware, tmp_path / "plain")


def test_placement_is_reproducible_and_differs_from_the_next(built_folder: Path, tmp_path: Path) -> None:
    first, again = (_link_image(ROOT / "firmware", path, 3) for path in (built_folder, tmp_path / "again"))
    assert first == again
    assert first[0] != _link_image(ROOT / "firmware", built_folder, 4)[0]


@pytest.mark.parametrize("board", BOARDS)
def test_placement_moves_all_code_and_changes_nothing_else(board: str) -> None:
    usual, placed = (
        build_measurement_point_image(CATALOGUE, _point("t8", board, placement=number)) for number in ("0", "2")
    )
    assert (usual.info["placement"], placed.info["placement"]) == (0, 2)
    before, after = _symbols(usual.elf_path), _symbols(placed.elf_path)

    def sizes(result: tuple[ImageSymbol, ...]) -> list[tuple[str, int]]:
        return sorted((symbol.name, symbol.size) for symbol in result)

    assert sizes(before) == sizes(after), "the same functions and objects, byte for byte as long"
    # The vector table and what stands before it in the script is all that has its own place.
    orders = [[symbol.name for symbol in result] for result in (before, after)]
    still = sum(mine == other for mine, other in zip(*orders, strict=True))
    assert still < len(before) / 4, "their order is another one"
    for part in ("memset", "pvPortMalloc", "ucHeap"):  # the C library's, the kernel's, an object
        assert _symbol_address(before, part) != _symbol_address(after, part), part


def _symbol_address(result: tuple[ImageSymbol, ...], name: str) -> int:
    return next(symbol.address for symbol in result if symbol.name == name)


def test_placement_number_is_part_of_the_point_unless_0() -> None:
    placed, usual = _point("t8", "pico", placement="7"), _point("t8", "pico", placement="0")
    assert identity_of_point(CATALOGUE, placed).config == {"placement": "7"}
    assert usual == _point("t8", "pico")
    assert identity_of_point(CATALOGUE, usual).config == {}


def test_kernel_with_its_own_linker_script_has_no_placements() -> None:
    kernel = CATALOGUE.find_kernel("freertos")
    owner = replace(kernel, facts=kernel.facts.model_copy(update={"owns_start": True}))
    benchmark, board = CATALOGUE.find_benchmark("t8_allocation"), CATALOGUE.find_board("pico")
    assert make_planned_point(benchmark, owner, board, 1, 20, {}).not_applicable is None
    assert "its own script" in str(
        make_planned_point(benchmark, owner, board, 1, 20, {"placement": "1"}).not_applicable
    )


@pytest.mark.parametrize("number", ["-1", "100000", "first"])
def test_invalid_placement_number_is_refused(number: str) -> None:
    with pytest.raises(PlanError, match="placement"):
        _point("t8", "pico", placement=number)


@pytest.mark.parametrize(
    ("board", "benchmarks"), [(board, ["t8"] if board != DEFAULT_BOARD else ["t2", "t8"]) for board in BOARDS]
)
def test_all_proofs_hold_in_another_placement(board: str, benchmarks: list[str], tmp_path: Path) -> None:
    plan = make_measurement_plan(
        CATALOGUE, benchmarks, PlanOptions(["freertos"], [board], window_ms=20, config={"placement": "2"})
    )
    for outcome in measure_points_of_plan(ROOT, plan, tmp_path / "run", jobs=1):
        assert outcome.result.status == "measured", outcome.result


def _function(cycles: list[float], addresses: list[int] | None, figure: list[float]) -> FunctionInCodePlacements:
    symbols = [[ImageSymbol("f", address, 8, True, True)] for address in addresses or [0] * len(cycles)]
    if addresses is None:
        symbols = [[*symbol, ImageSymbol("f", 64, 8, True, False)] for symbol in symbols]  # a second one of its name
    (result,) = functions_affected_by_code_placement([{"f": cycle} for cycle in cycles], symbols, figure, 16, 0.01)
    return result


def test_function_address_explains_its_cycles() -> None:
    result = _function([10, 14, 10, 14], [0x100, 0x10C, 0x240, 0x24C], [100, 104, 101, 104])
    assert result.cycle_range_over_code_placements == 4
    assert result.variance_explained_by_cache_line_offset == 1.0
    assert result.correlation_with_benchmark_value == pytest.approx(0.98, abs=0.01)
    assert [(place.offset, place.cycles, place.placements) for place in result.mean_cycles_by_cache_line_offset] == [
        (0, 10, 2),
        (12, 14, 2),
    ]


def test_function_address_explains_nothing() -> None:
    result = _function([10, 14, 14, 10], [0x100, 0x10C, 0x240, 0x24C], [100, 100, 100, 100])
    assert result.variance_explained_by_cache_line_offset == 0.0
    assert result.correlation_with_benchmark_value is None, "the figure did not move"


def test_unknown_cause_is_not_stated() -> None:
    assert _function([10, 14], [0x100, 0x10C], [1, 2]).variance_explained_by_cache_line_offset is None, (
        "no two placements share an offset"
    )
    assert _function([10, 14, 12], [0x100, 0x200, 0x300], [1, 2, 3]).variance_explained_by_cache_line_offset is None, (
        "one offset only"
    )
    ambiguous = _function([10, 14, 12], None, [1, 2, 3])
    assert ambiguous.addresses is None
    assert ambiguous.mean_cycles_by_cache_line_offset == []


def test_function_with_constant_cycles_is_left_out() -> None:
    symbols = [[ImageSymbol("f", 0, 8, True, True)]] * 2
    assert functions_affected_by_code_placement([{"f": 10.0}, {"f": 10.009}], symbols, [1, 2], 16, 0.01) == []


def test_band_within_the_clock_resolution_is_ignored() -> None:
    assert CodePlacementValueRange([428.67, 428.671, 428.669], 0.002).range_width == 0.0
    band = CodePlacementValueRange([428.67, 439.81, 437.0], 0.002)
    assert (band.median, band.smallest, band.largest) == (437.0, 428.67, 439.81)
    assert band.range_width == pytest.approx(11.14)


def test_plan_contains_every_placement() -> None:
    plan = make_measurement_plan(CATALOGUE, ["t2", "t8"], PlanOptions(["freertos"], ["pico"]))
    assert repeat_plan_in_code_placements(CATALOGUE, plan, 1) == plan
    assert [point.placement for point in repeat_plan_in_code_placements(CATALOGUE, plan, 3).points] == [
        0,
        1,
        2,
        0,
        1,
        2,
    ]
    with pytest.raises(PlanError, match="leave one out"):
        repeat_plan_in_code_placements(
            CATALOGUE,
            make_measurement_plan(CATALOGUE, ["t2"], PlanOptions(["freertos"], ["pico"], config={"placement": "2"})),
            3,
        )


def test_exports_with_their_own_linker_script_have_placements() -> None:
    """What comes as an export is n/a everywhere as long as none is named, so the reason is taken away first."""
    named = make_measurement_plan(CATALOGUE, ["t2"], PlanOptions(["zephyr", "freertos"], ["pico"]))
    plan = replace(named, points=tuple(replace(point, not_applicable=None) for point in named.points))
    assert [point.not_applicable for point in repeat_plan_in_code_placements(CATALOGUE, plan, 2).points] == [None] * 4


def test_command_explains_a_single_placement(tmp_path: Path) -> None:
    words = ["sweep", "t8", "--kernel", "rt", "--placements", "2", "--out", str(tmp_path / "run")]
    done = CliRunner().invoke(app, words)
    assert isinstance(done.exception, PlanError)
    assert "compared: rt has no heap service" in str(done.exception)


def test_command_shows_measured_bands(tmp_path: Path) -> None:
    words = ["sweep", "t8", "--board", "nucleo-f446re", "--placements", "3", "--window", "20ms", "--jobs", "1"]
    done = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "run"), "--json"])
    assert done.exit_code in {None, 0}, done.output
    (study,) = json.loads(done.stdout)["studies"]
    stored = RunDirectory.open_run_directory(tmp_path / "run").read_measured_points()
    of_run = {point.result.run_id: point.result for point in stored if isinstance(point.result, MeasuredPoint)}
    cycles = [counts_per_second_of_point(of_run[item]).cycles_per_count for item in study["run_ids"]]
    band = study["figures"]["cycles_per_count"]
    assert band["cycles"] == cycles
    assert band["width"] > 1, "this board's flash has waits"
    assert (band["least"], band["most"]) == (min(cycles), max(cycles))
    first = study["functions"][0]
    elfs = [
        build_measurement_point_image(CATALOGUE, _point("t8", "nucleo-f446re", placement=str(index))).elf_path
        for index in range(3)
    ]
    assert first["addresses"] == [_symbol_address(_symbols(elf), first["name"]) for elf in elfs]
    assert len(set(first["addresses"])) == 3


def test_placement_has_no_effect_without_wait_states(tmp_path: Path) -> None:
    words = ["sweep", "t8", "--board", "nucleo-f446re", "--placements", "2", "--window", "20ms", "--jobs", "1"]
    words += ["--config", "wait_states=0", "--config", "clock_hz=16000000"]
    done = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "run")])
    assert done.exit_code in {None, 0}, done.output
    assert "so the placement has no effect" in done.output


@pytest.mark.parametrize("board", sorted(CATALOGUE.boards))
def test_cache_line_of_a_board_equals_the_virtual_boards(board: str) -> None:
    facts = CATALOGUE.find_board(board).facts
    family = {"rp2": None, "f1": "F1", "f4": "F4", "f7": "F7", "h7": "H7", "l0": "L0"}
    name = next(value for key, value in family.items() if facts.chip.removeprefix("stm32").startswith(key))
    if name is None:
        source, result = ROOT / "sim/timing/src/rp2040.rs", r"half an (\d+)-byte line has its own valid bit"
    else:
        source, result = ROOT / "sim/timing/src/stm32_flash.rs", rf"pub const {name}_LINE_BYTES: u32 = (\d+);"
    output = re.search(result, source.read_text())
    assert output is not None
    assert facts.memory.line_bytes == int(output[1])
