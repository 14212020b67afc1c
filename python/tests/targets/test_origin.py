"""A binary speaks for its own sources, and is refused beside others."""

import hashlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

import rtoslab
from rtoslab import _sim
from rtoslab.base.errors import StaleSimulatorError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.cli.cmd_doctor import check_installation
from rtoslab.plan.plan import PlanOptions, make_measurement_plan
from rtoslab.store.manifest import virtual_board_manifest_entries
from rtoslab.targets import board
from rtoslab.targets.origin import simulator_sources_digest, simulator_version

SOURCE = "sim/cpu/src/v6m/exec.rs"


def test_binary_lists_its_crates() -> None:
    names = [line.rpartition(" ")[0] for line in _sim.SOURCES.splitlines()]
    assert {"Cargo.lock", SOURCE, "sim/py/build.rs", "sim/timing/Cargo.toml"} <= set(names)
    crates = {name.split("/")[1] for name in names if name.startswith("sim/")}
    assert crates == {"cpu", "debuginfo", "gdb", "lab", "machine", "periph", "py", "tables", "timing"}
    content = (find_checkout_root() / SOURCE).read_bytes()
    assert f"{SOURCE} {hashlib.sha256(content).hexdigest()}" in _sim.SOURCES.splitlines()


def test_same_sources_in_another_folder_are_equal(checkout: Path) -> None:
    assert simulator_sources_digest(checkout) == simulator_sources_digest(find_checkout_root())


def test_tests_are_not_part_of_the_sources(checkout: Path) -> None:
    assert "/tests" not in _sim.SOURCES
    path = checkout / "sim/machine/src/tests/m3m4_table.rs"
    path.write_text(path.read_text() + "\n")
    assert simulator_sources_digest(checkout) == simulator_sources_digest(find_checkout_root())


def _edit(checkout: Path) -> str:
    path = checkout / SOURCE
    path.write_text(path.read_text() + "\n")
    return SOURCE


def _add(checkout: Path) -> str:
    name = "sim/periph/src/rp2040/new_block.rs"
    (checkout / name).write_text("//! New.\n")
    return name


def _remove(checkout: Path) -> str:
    (checkout / SOURCE).unlink()
    return SOURCE


def _other_dependency(checkout: Path) -> str:
    path = checkout / "Cargo.lock"
    path.write_text(path.read_text().replace("0.", "9.", 1))
    return path.name


@pytest.mark.parametrize("change", [_edit, _add, _remove, _other_dependency])
def test_other_sources_are_refused_and_named(checkout: Path, change: object) -> None:
    assert callable(change)
    name = change(checkout)
    with pytest.raises(StaleSimulatorError, match=rf"\({name}\); run `make set-up`"):
        simulator_sources_digest(checkout)
    catalogue = Catalogue(checkout)
    result = next(item for item in check_installation(checkout) if item.name == "virtual board")
    assert not result.fine
    plan = make_measurement_plan(catalogue, ["t2"], PlanOptions())
    point = plan.points[0]
    with pytest.raises(StaleSimulatorError):
        virtual_board_manifest_entries(checkout, point, catalogue.find_board(point.board).facts)


def test_several_changed_files_are_counted(checkout: Path) -> None:
    _edit(checkout)
    _add(checkout)
    with pytest.raises(StaleSimulatorError, match=r"and 1 other files?\)"):
        simulator_sources_digest(checkout)


def test_other_files_do_not_matter(checkout: Path) -> None:
    (checkout / "sim" / "elsewhere" / "src").mkdir(parents=True)
    (checkout / "sim" / "elsewhere" / "src" / "main.rs").write_text("fn main() {}\n")
    assert simulator_sources_digest(checkout) == simulator_sources_digest(find_checkout_root())


@pytest.mark.parametrize("name", [*board._REQUIRED_NAMES, "take_uart"])
def test_binary_without_a_function_is_too_old(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`take_uart` stands for the methods of a board."""
    old = ModuleType(_sim.__name__)
    old.__file__ = "old/_sim.so"
    names = {attribute: getattr(_sim, attribute) for attribute in board._REQUIRED_NAMES if attribute != name}
    names["Machine"] = type(
        "Machine", (), {item: None for item in dir(_sim.Machine) if item not in {name, "__class__"}}
    )
    vars(old).update({item: value for item, value in names.items() if item != name})
    monkeypatch.setattr(rtoslab, "_sim", old)
    monkeypatch.setitem(sys.modules, _sim.__name__, old)
    catalogue = Catalogue(find_checkout_root())
    facts = catalogue.find_board("pico").facts
    point = make_measurement_plan(catalogue, ["t2"], PlanOptions()).points[0]
    sentence = rf"old/_sim\.so is older .*\(it has no {name}\); run `make set-up`"
    simulator_version.cache_clear()
    simulator_sources_digest.cache_clear()
    for use in (
        lambda: virtual_board_manifest_entries(find_checkout_root(), point, facts),
        lambda: simulator_sources_digest(find_checkout_root()),
        simulator_version,
        lambda: board.make_board_at_reset(facts, cores=1),
    ):
        with pytest.raises(StaleSimulatorError, match=sentence):
            use()
    result = next(item for item in check_installation(find_checkout_root()) if item.name == "virtual board")
    assert not result.fine
    assert not board.is_simulator_panic(ValueError())


def test_binary_without_sources_is_accepted(tmp_path: Path) -> None:
    assert simulator_sources_digest(tmp_path) == simulator_sources_digest(find_checkout_root())
