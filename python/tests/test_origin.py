"""A binary speaks for its own sources, and is refused beside others."""

import hashlib
from pathlib import Path

import pytest

from rtoslab import _sim
from rtoslab.catalogue import Catalogue
from rtoslab.doctor import examine
from rtoslab.errors import StaleSimulatorError
from rtoslab.manifest import virtual_target
from rtoslab.paths import find_root
from rtoslab.plan import Options, make_plan
from rtoslab.run.origin import simulator_sources

SOURCE = "sim/cpu/src/v6m/exec.rs"


def test_the_binary_lists_the_crates_it_is_made_of() -> None:
    names = [line.rpartition(" ")[0] for line in _sim.SOURCES.splitlines()]
    assert {"Cargo.lock", SOURCE, "sim/py/build.rs", "sim/timing/Cargo.toml"} <= set(names)
    crates = {name.split("/")[1] for name in names if name.startswith("sim/")}
    assert crates == {"cpu", "lab", "machine", "periph", "py", "timing"}
    content = (find_root() / SOURCE).read_bytes()
    assert f"{SOURCE} {hashlib.sha256(content).hexdigest()}" in _sim.SOURCES.splitlines()


def test_the_same_sources_elsewhere_are_the_same(checkout: Path) -> None:
    assert simulator_sources(checkout) == simulator_sources(find_root())


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
        simulator_sources(checkout)
    catalogue = Catalogue(checkout)
    found = next(each for each in examine(checkout) if each.name == "virtual board")
    assert not found.fine
    plan = make_plan(catalogue, ["t2"], Options())
    point = plan.points[0]
    with pytest.raises(StaleSimulatorError):
        virtual_target(checkout, point, catalogue.board(point.board).facts)


def test_several_are_counted(checkout: Path) -> None:
    _edit(checkout)
    _add(checkout)
    with pytest.raises(StaleSimulatorError, match=r"and 1 other files?\)"):
        simulator_sources(checkout)


def test_what_is_no_part_of_the_binary_does_not_matter(checkout: Path) -> None:
    (checkout / "sim" / "elsewhere" / "src").mkdir(parents=True)
    (checkout / "sim" / "elsewhere" / "src" / "main.rs").write_text("fn main() {}\n")
    assert simulator_sources(checkout) == simulator_sources(find_root())


def test_without_sources_the_binary_speaks_for_itself(tmp_path: Path) -> None:
    assert simulator_sources(tmp_path) == simulator_sources(find_root())
