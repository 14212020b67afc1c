"""Placements of a kernel that is linked by its own script: the order goes before the lines that take sections in."""

import re
from pathlib import Path

import pytest

from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.images.builder import build_measurement_point_image
from rtoslab.images.elf import ImageSymbol, read_elf
from rtoslab.measure.pool import measure_points_of_plan
from rtoslab.plan.placements import repeat_plan_in_code_placements
from rtoslab.plan.plan import PlanOptions, make_measurement_plan
from rtoslab.results.results import FailedMeasurement, Result
from rtoslab.store.store import RunDirectory
from tests.trees.exports import make_export, make_export_port
from tests.trees.test_exports import NAMED, command_output

BOARD = find_checkout_root() / "firmware" / "boards" / "pico"


def own_script() -> str:
    """A script as a kernel may have one: in one piece, and without a word of placements."""
    text = (BOARD / "flash.ld").read_text()
    for part in ("regions.ld", "data.ld"):
        text = text.replace(f"INCLUDE {part}\n", (BOARD / part).read_text())
    text = re.sub(r"\n[^\n]*(INCLUDE placed_|\.bench_marks)[^\n]*", "", text)
    assert "INCLUDE" not in text
    return text


@pytest.fixture
def home(user: Path) -> Path:
    """A user with an export that holds its linker script, and a port that says so."""
    port = make_export_port(user / "ports")
    with (port / "kernel.cmake").open("a") as script:
        script.write('kernel_script("${KERNEL_SOURCE_DIR}/own.ld")\n')
    facts = (port / "kernel.toml").read_text()
    (port / "kernel.toml").write_text(facts.replace('"libs/*.a"', '"libs/*.a", "own.ld"'))
    make_export(user / "export")
    (user / "export" / "own.ld").write_text(own_script())
    command_output("kernel", "tree", "add", "tiny", str(user / "export"))
    return user


def outcomes(home: Path, out: str) -> list[Result]:
    """T7's results in three placements."""
    catalogue = Catalogue(find_checkout_root())
    plan = repeat_plan_in_code_placements(
        catalogue, make_measurement_plan(catalogue, ["t7"], PlanOptions(["tiny"], ["pico"], window_ms=10)), 3
    )
    return [outcome.result for outcome in measure_points_of_plan(find_checkout_root(), plan, home / out, jobs=1)]


def symbols(kernel: str, board: str, placement: int) -> tuple[ImageSymbol, ...]:
    config = {"placement": str(placement)} if placement else {}
    (point,) = make_measurement_plan(
        Catalogue(find_checkout_root()), ["t7"], PlanOptions([kernel], [board], cores=[1], config=config)
    ).points
    return read_elf(build_measurement_point_image(Catalogue(find_checkout_root()), point).elf_path).symbols


def moved_symbols(before: tuple[ImageSymbol, ...], after: tuple[ImageSymbol, ...]) -> set[str]:
    places = {(symbol.name, symbol.size, symbol.address) for symbol in before}
    return {symbol.name for symbol in after if (symbol.name, symbol.size, symbol.address) not in places}


def test_export_with_its_own_linker_script_has_placements(home: Path) -> None:
    assert [outcome.status for outcome in outcomes(home, "run")] == ["measured"] * 3
    points = RunDirectory.open_run_directory(home / "run").read_measured_points()
    keys = [point.manifest["build"]["placement"] for point in points]  # type: ignore[index]
    assert sorted(keys) == [0, 1, 2]


def test_placement_of_an_export_only_moves_its_parts(home: Path) -> None:
    usual, first, second = (symbols("tiny", "pico", index) for index in range(3))
    for one in (first, second):
        assert sorted((symbol.name, symbol.size) for symbol in one) == sorted(
            (symbol.name, symbol.size) for symbol in usual
        )
        assert {"tiny_mask", "bare_semaphore_give", "body"} <= moved_symbols(usual, one), "the library's, the image's"
        assert "cpu_vectors" not in moved_symbols(usual, one)
    assert moved_symbols(first, second)
    assert symbols("tiny", "pico", 2) == second


def test_linker_script_that_places_code_twice_has_no_placements(home: Path) -> None:
    script = home / "export" / "own.ld"
    script.write_text(script.read_text().replace("*(.text .text.*)", "*(.text)\n        *(.text .text.*)"))
    usual, *others = outcomes(home, "run")
    assert usual.status == "measured"
    for other in others:
        assert isinstance(other, FailedMeasurement)
        assert "takes in .text in 2 lines" in other.message


@pytest.mark.parametrize(("kernel", "board", "function"), [
    ("nuttx", "pico", "sem_post"), ("zephyr", "nucleo-f446re", "z_impl_k_sem_give"),
])  # fmt: skip
def test_exports_added_by_the_user_have_placements(
    kernel: str, board: str, function: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RTOSLAB_TREES", NAMED)
    tree = Catalogue(find_checkout_root()).kernels[kernel].tree
    if tree is None or f"{board}-1" not in tree.exports or not Path(tree.exports[f"{board}-1"]).is_dir():
        pytest.skip(f"no export of {kernel} for one core of a {board} is named")
    usual, other = (symbols(kernel, board, placement) for placement in (0, 1))
    assert {function, "body"} <= moved_symbols(usual, other)
    assert sorted((symbol.name, symbol.size) for symbol in other) == sorted(
        (symbol.name, symbol.size) for symbol in usual
    )
