"""Where a tree may lie and what it may be called: links, spaces, another place for one call, the wrong place."""

import json
from pathlib import Path

import pytest

from rtoslab import api
from rtoslab.base.errors import CatalogueError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.results.results import MeasuredPoint, NotApplicableMeasurement
from rtoslab.trees.versions import recognise_kernel_port
from tests.cli.test_cli import command_error, rtoslab
from tests.trees.exports import make_export, make_export_port
from tests.trees.tiny import commit, make_port, make_tree


@pytest.fixture
def home(user: Path) -> Path:
    """A user with a port of their own and a tree in a folder with a space in its name."""
    make_tree(user / "my trees" / "tiny")
    make_port(user / "ports")
    return user


def add_tree(path: Path, *words: str) -> None:
    done = rtoslab("kernel", "tree", "add", "tiny", path, *words)
    assert done.returncode == 0, done.stderr


def measure_point(home: Path, out: str) -> MeasuredPoint | NotApplicableMeasurement:
    (outcome,) = api.run("t7", kernels=["tiny"], boards=["pico"], cores=[1], window_ms=10, out=home / out)
    assert isinstance(outcome.result, MeasuredPoint | NotApplicableMeasurement), outcome.result
    return outcome.result


def test_tree_behind_a_link_is_recognised_and_its_edits_are_seen(home: Path) -> None:
    (link := home / "link").symlink_to(home / "my trees" / "tiny")
    add_tree(link)
    first = measure_point(home, "one")
    assert isinstance(first, MeasuredPoint)
    (listed,) = json.loads(rtoslab("kernel", "tree", "list", "--json").stdout)
    assert [(item["at"], item["dirty"]) for item in listed["repositories"]] == [(".", False)]
    header = home / "my trees" / "tiny" / "include" / "tiny.h"
    header.write_text(header.read_text().replace("#define TINY_PAUSE", '#define TINY_PAUSE __asm volatile("nop");'))
    edited = measure_point(home, "two")
    assert isinstance(edited, MeasuredPoint)
    assert edited.counters != first.counters


def test_tree_option_overrides_the_folder_for_one_call(home: Path) -> None:
    other = make_tree(home / "other")
    header = other / "include" / "tiny.h"
    header.write_text(header.read_text().replace("#define TINY_PAUSE", '#define TINY_PAUSE __asm volatile("nop");'))
    commit(other)
    add_tree(home / "my trees" / "tiny")
    before = measure_point(home, "one").model_dump(mode="json")
    done = rtoslab("--tree", f"tiny={other}", "run", "t7", "--kernel", "tiny", "--window", "10ms", "--json")
    assert done.returncode == 0, done.stderr
    (point,) = json.loads(done.stdout)["points"]
    after = measure_point(home, "three").model_dump(mode="json")
    assert before["counters"] == after["counters"] != point["counters"]
    assert len(point["counters"]) == len(after["counters"]) > 0
    assert "add it with `rtoslab kernel tree add foo /x`" in command_error(rtoslab("--tree", "foo=/x", "list"), 1)
    assert "write --tree ID=PATH" in command_error(rtoslab("--tree", "tiny", "list"), 2)


def test_wrong_tree_folder_is_not_applicable_with_remedy(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_tree(home / "my trees" / "tiny")
    (home / "empty" / "include").mkdir(parents=True)
    for place, message in (
        ("nowhere", "the tree tiny is not in the folder that RTOSLAB_TREE_TINY names"),
        ("empty", "does not match its description (no file is kernel/*.c); `rtoslab kernel tree check tiny` lists all"),
    ):
        monkeypatch.setenv("RTOSLAB_TREE_TINY", str(home / place))
        result = measure_point(home, f"at {place}")
        assert isinstance(result, NotApplicableMeasurement)
        assert message in result.reason
    monkeypatch.setenv("RTOSLAB_TREE_TINY", str(home / "a;b"))
    with pytest.raises(CatalogueError, match=r"RTOSLAB_TREE_TINY: .* must not contain quotes"):
        Catalogue(find_checkout_root()).kernels  # noqa: B018
    monkeypatch.delenv("RTOSLAB_TREE_TINY")
    (home / "my trees" / "tiny" / "kernel" / "template.c").unlink()
    done = rtoslab("kernel", "tree", "check", "tiny")
    assert "No file is kernel/template.c, which is to be left out." in done.stdout, done.stdout


def test_files_for_other_cores_may_be_missing(home: Path) -> None:
    add_tree(home / "my trees" / "tiny")
    (home / "my trees" / "tiny" / "ports" / "v7m" / "cpu.c").unlink()
    assert isinstance(measure_point(home, "one"), MeasuredPoint)


@pytest.mark.parametrize("ident", ["../tiny", "a b", "x" * 41])
def test_invalid_id_is_refused_before_any_change(home: Path, ident: str) -> None:
    (home / "trees").mkdir()
    (beside := home / "tiny.toml").write_text("somebody's own\n")
    tree = home / "my trees" / "tiny"
    assert "an id is up to 40" in command_error(rtoslab("kernel", "tree", "add", ident, tree, "--port", "tiny"), 1)
    assert "an id is up to 40" in command_error(rtoslab("kernel", "tree", "remove", ident), 1)
    assert beside.is_file()


def test_unsupported_file_names_are_reported(home: Path) -> None:
    assert "my trees/" not in str(home)
    message = command_error(rtoslab("kernel", "tree", "add", "tiny", home, "--port", "tiny"), 1)
    assert "my trees/tiny/" in message
    assert "must not contain spaces" in message
    assert "6;4 must not contain quotes" in command_error(
        rtoslab("kernel", "tree", "add", "tiny", home / "my trees", "--version", "6;4"), 1
    )


def test_export_shows_its_kernel(user: Path) -> None:
    port = make_export_port(user / "ports")
    other = port.with_name("other")
    port.rename(other)
    for path, before, after in (
        (other / "kernel.toml", 'version_header = "include/tiny.h"', 'version_header = "include/other/version.h"'),
        (other / "kernel.toml", 'id = "tiny"', 'id = "other"'),
    ):
        text = path.read_text()
        assert before in text
        path.write_text(text.replace(before, after))
    make_export_port(user / "ports")
    make_export(user / "export")
    assert recognise_kernel_port(Catalogue(find_checkout_root()), user / "export").id == "tiny"
