"""Kernels from trees that users name: found, described, hashed with their headers, never answered by an old number."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rtoslab import api
from rtoslab.base.errors import CatalogueError, UnknownNameError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.catalogue.trees import kernel_tree_description_as_toml, read_user_kernel_trees
from rtoslab.plan.obstacles import find_measurement_obstacle
from rtoslab.results.results import MeasuredPoint, NotApplicableMeasurement
from rtoslab.store.store import RunDirectory
from rtoslab.trees.draft import draft_kernel_tree_description
from tests.cli.test_cli import command_error, rtoslab
from tests.trees.tiny import commit, make_port, make_tree


@pytest.fixture
def home(user: Path) -> Path:
    """A user with a port and a tree of their own, which nobody has described yet."""
    make_tree(user / "tree")
    make_port(user / "ports")
    return user


def describe_tree(home: Path) -> Path:
    """The tree's description, drafted."""
    kernel = Catalogue(find_checkout_root()).kernels["tiny"]
    tree = draft_kernel_tree_description(kernel.facts, "tiny", "tiny", home / "tree", None)
    path = home / "trees" / "tiny.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(kernel_tree_description_as_toml(tree))
    return path


def measure_t7(home: Path, out: str) -> tuple[MeasuredPoint, dict[str, Any], bool]:
    """The counts, the manifest's record of the build, and whether it was known."""
    (outcome,) = api.run("t7", kernels=["tiny"], boards=["pico"], cores=[1], window_ms=10, out=home / out)
    assert isinstance(outcome.result, MeasuredPoint), outcome.result
    (point,) = RunDirectory.open_run_directory(home / out).read_measured_points()
    build = point.manifest["build"]
    assert isinstance(build, dict)
    return outcome.result, build, outcome.cached


def counts(result: MeasuredPoint) -> Any:
    return result.counters


def test_draft_contains_only_what_the_port_needs(home: Path) -> None:
    describe_tree(home)
    tree = read_user_kernel_trees()["tiny"]
    assert (tree.version, tree.path, tree.port) == ("1.5", str(home / "tree"), "tiny")
    assert tree.sources == ("kernel/*.c", "!kernel/template.c")
    assert tree.headers == ("include",)
    assert {core: part.sources for core, part in tree.cores.items()} == {
        "cortex-m0plus": ("ports/v6m/cpu.c",),
        "cortex-m4f": ("ports/v7m/cpu.c",),
    }


def test_edited_header_invalidates_cached_results(home: Path) -> None:
    describe_tree(home)
    first, build, cached = measure_t7(home, "one")
    assert not cached
    assert build["tree"]["files_read"] == 3, "a source, a core's source and their header"
    (repository,) = build["tree"]["repositories"]
    assert (repository["origin"], repository["dirty"]) == ("https://example.org/tiny.git", False)
    assert "secret" not in json.dumps(build)
    assert str(home) not in json.dumps(build)
    again, _, cached = measure_t7(home, "two")
    assert cached
    assert counts(again) == counts(first)
    header = home / "tree" / "include" / "tiny.h"
    text = header.read_text()
    header.write_text(text.replace("#define TINY_PAUSE", '#define TINY_PAUSE __asm volatile("nop");'))
    edited, other, cached = measure_t7(home, "three")
    assert not cached
    assert counts(edited) != counts(first)
    assert other["tree"]["sha256"] != build["tree"]["sha256"]
    header.write_text(text)
    back, _, cached = measure_t7(home, "four")
    assert cached
    assert counts(back) == counts(first)


def test_unread_file_changes_nothing_and_a_shadowing_one_does(home: Path) -> None:
    describe_tree(home)
    _, build, _ = measure_t7(home, "one")
    (home / "tree" / "README").write_text("not read, and not under version control\n")
    (home / "tree" / "ports" / "v7m" / "cpu.c").write_text("another core's\n")
    commit(home / "tree")
    _, after, _ = measure_t7(home, "two")
    assert after["tree"]["sha256"] == build["tree"]["sha256"]
    assert after["tree"]["repositories"] != build["tree"]["repositories"], "the commit is another"
    paused = (
        (home / "tree" / "include" / "tiny.h").read_text().replace("TINY_PAUSE", 'TINY_PAUSE __asm volatile("nop");')
    )
    (home / "tree" / "kernel" / "tiny.h").write_text(paused)  # beside the source it comes before the folder of headers
    _, third, cached = measure_t7(home, "three")
    assert not cached
    assert third["tree"]["sha256"] != build["tree"]["sha256"]


def test_kernel_without_its_tree_is_not_applicable_with_remedy(home: Path) -> None:
    ask: dict[str, Any] = {"kernels": ["tiny"], "boards": ["pico"], "cores": [1], "window_ms": 10}
    (outcome,) = api.run("t7", **ask, out=home / "one")
    assert isinstance(outcome.result, NotApplicableMeasurement)
    assert "`rtoslab kernel tree add tiny PATH`" in outcome.result.reason
    path = describe_tree(home)
    (home / "tree").rename(home / "moved")
    (outcome,) = api.run("t7", **ask, out=home / "two")
    assert isinstance(outcome.result, NotApplicableMeasurement)
    assert "is not in the folder where it was added" in outcome.result.reason
    path.write_text(path.read_text().replace(str(home / "tree"), str(home / "moved")))
    (outcome,) = api.run("t7", **{**ask, "boards": ["nucleo-f103rb"]}, out=home / "three")
    assert isinstance(outcome.result, NotApplicableMeasurement)
    assert "the port of Tiny is for cortex-m0plus, cortex-m4f" in outcome.result.reason


def test_port_for_one_chip_is_not_applicable_on_others(home: Path) -> None:
    describe_tree(home)
    catalogue = Catalogue(find_checkout_root())
    tiny = catalogue.find_kernel("tiny")
    assert tiny.facts.tree is not None
    tree = tiny.facts.tree.model_copy(update={"chips": ("rp2040",)})
    limited = replace(tiny, facts=tiny.facts.model_copy(update={"tree": tree}))

    def obstacle(board: str) -> str | None:
        benchmark = catalogue.find_benchmark("t7_synchronisation")
        return find_measurement_obstacle(benchmark, limited, catalogue.find_board(board), 1, {})

    assert obstacle("pico") is None
    assert obstacle("nucleo-l073rz") == "the port of Tiny is for the chip rp2040"


def test_command_adds_checks_lists_and_removes_trees(home: Path) -> None:
    done = rtoslab("kernel", "tree", "add", "tiny", home / "tree")
    assert done.returncode == 0, done.stderr
    assert "Tiny 1.5: 2 files for cortex-m0plus, 2 files for cortex-m4f." in done.stdout
    assert rtoslab("kernel", "tree", "add", "tiny", home / "tree").returncode == 1, (
        "what the user may have edited stays"
    )
    assert rtoslab("kernel", "tree", "add", "other", home / "tree", "--port", home / "ports" / "tiny").returncode == 0
    listed = json.loads(rtoslab("kernel", "tree", "list", "--json").stdout)
    assert [(item["id"], item["there"], item["repositories"][0]["dirty"]) for item in listed] == [
        ("other", True, False), ("tiny", True, False),
    ]  # fmt: skip
    checked = rtoslab("kernel", "tree", "check", "other", "--board", "pico")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert " hold, " in checked.stdout
    assert "tiny" in rtoslab("doctor", "--json").stdout
    (home / "tree" / "ports" / "v6m" / "cpu.c").unlink()
    checked = rtoslab("kernel", "tree", "check", "tiny")
    assert checked.returncode == 1
    assert "No file is ports/v6m/cpu.c (for cortex-m0plus)." in checked.stdout
    assert rtoslab("kernel", "tree", "remove", "tiny").returncode == 0
    assert "There is no tree tiny" in command_error(rtoslab("kernel", "tree", "remove", "tiny"), 1)


def test_environment_variable_overrides_the_folder_of_a_tree(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    describe_tree(home)
    (home / "tree").rename(home / "moved")
    monkeypatch.setenv("RTOSLAB_TREE_TINY", str(home / "moved"))
    measure_t7(home, "one")


@pytest.mark.parametrize(("old", "new", "says"), [
    ('port = "tiny"', 'port = "nowhere"', "which was not found"),
    ('id = "tiny"', 'id = "other"', "the id must be the file's name"),
    ('headers = ["include"]', 'headers = ["../include"]', "stay inside"),
    ('headers = ["include"]', 'headers = ["a b"]', "must not contain spaces"),
    ('version = "1.5"', "version = 15", "version"),
])  # fmt: skip
def test_bad_description_is_refused_in_one_sentence(home: Path, old: str, new: str, says: str) -> None:
    path = describe_tree(home)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(CatalogueError, match=says):
        Catalogue(find_checkout_root()).kernels  # noqa: B018


@pytest.mark.parametrize(("file", "says"), [
    ("include/tiny.h", "There is no tiny.h"),
    ("kernel/semaphore.c", "contains none of the functions that the port of Tiny calls.*: bare_event_clear, .*, …"),
    ("ports", "contains the kernel's port for one core"),
])  # fmt: skip
def test_folder_that_is_not_the_tree_is_refused(home: Path, file: str, says: str) -> None:
    path = home / "tree" / file
    path.rename(home / "gone")
    with pytest.raises(CatalogueError, match=says):
        describe_tree(home)


def test_name_of_a_packaged_kernel_cannot_be_used(home: Path) -> None:
    done = rtoslab("kernel", "tree", "add", "freertos", home / "tree")
    assert "give the tree another name" in command_error(done, 1)


def test_unknown_kernel_is_reported_with_known_ones(home: Path) -> None:
    with pytest.raises(UnknownNameError, match="tiny"):
        api.run("t7", kernels=["tinny"], boards=["pico"], out=home / "one")


@pytest.mark.parametrize("ask", [
    ("run", "t7", "--dry-run"), ("kernel", "conformance"), ("footprint",), ("masked", "t7"), ("trace", "t7"),
    ("profile", "t7"), ("worst-case", "phase_sweep"),
    ("rta", str(find_checkout_root() / "examples" / "response-time" / "control.toml")),
])  # fmt: skip
def test_every_command_reports_a_missing_tree(ask: tuple[str, ...]) -> None:
    """In one sentence with what to do, and never by a traceback."""
    done = rtoslab(*ask, "--kernel", "threadx")
    assert "`rtoslab kernel tree add threadx PATH`" in done.stdout + done.stderr, done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_kernel_without_a_tree_is_not_in_all() -> None:
    catalogue = Catalogue(find_checkout_root())
    assert set(catalogue.buildable_kernels) == {"bare", "freertos", "rt"}
    assert set(catalogue.kernels) > {"nuttx", "threadx"}
