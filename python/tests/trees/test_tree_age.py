"""What `reference list` says where the tree or export that the user names is not what was measured."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rtoslab.base import sha256_of_file
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.catalogue.trees import kernel_tree_description_as_toml, read_user_kernel_trees
from rtoslab.reference import ReferenceResultsFile, reference_file_path, source_tree_changes_since, write_reference_file
from rtoslab.results.results import MeasuredPoint
from rtoslab.store.stored_point import StoredMeasurementPoint
from rtoslab.trees import find_kernel_export_tree, find_repositories, linked_libraries_digest
from tests.cli.test_cli import rtoslab
from tests.fakes import measured_point
from tests.trees.exports import make_export, make_export_port
from tests.trees.test_exports import command_output
from tests.trees.tiny import commit, make_port, make_tree

SOURCE, HEADER = "kernel/semaphore.c", "include/tiny.h"


def reference(build: dict[str, Any]) -> ReferenceResultsFile:
    result = measured_point(1, 1000)
    point = result.point.model_copy(update={"kernel": "tiny", "board": "pico", "cores": 1, "config": {}})
    manifest: dict[str, object] = {"build": {"kernel": "tiny", "kernel_version": "1.5", "sources": {}, **build}}
    stored = StoredMeasurementPoint(Path("p"), result.model_copy(update={"point": point}), manifest)
    assert isinstance(stored.result, MeasuredPoint)
    return ReferenceResultsFile(Path("r"), "doe2020", "tiny", (stored,))


def changes(of: ReferenceResultsFile) -> list[str]:
    return source_tree_changes_since(Catalogue(find_checkout_root()), of)


@pytest.fixture
def tree(user: Path) -> Path:
    """A tree that is named, and a port for it."""
    make_port(user / "ports")
    folder = make_tree(user / "tree")
    assert rtoslab("kernel", "tree", "add", "tiny", str(folder)).returncode == 0
    return folder


def current_reference(tree: Path) -> ReferenceResultsFile:
    """What would be kept if it were measured now."""
    described = Catalogue(find_checkout_root()).kernels["tiny"].tree
    assert described is not None
    states = [
        {"at": repository.at, "origin": repository.origin, "commit": repository.commit, "dirty": repository.dirty}
        for repository in find_repositories(described)
    ]
    assert states
    sources = {f"kernel/{SOURCE}": sha256_of_file(tree / SOURCE), "firmware/core/main.c": "00"}
    return reference({"sources": sources, "tree": {"repositories": states}})


@pytest.fixture
def uncached_repositories(monkeypatch: pytest.MonkeyPatch) -> None:
    """Repositories are asked each time, not every few seconds."""
    monkeypatch.setattr(sys.modules["rtoslab.trees.repositories"], "QUERY_EVERY_S", 1e-9)


def test_tree_that_was_measured_has_not_changed(tree: Path, uncached_repositories: None) -> None:
    assert changes(current_reference(tree)) == []


def test_file_that_was_compiled_is_named(tree: Path, uncached_repositories: None) -> None:
    before = current_reference(tree)
    (tree / SOURCE).write_text((tree / SOURCE).read_text() + "/* edited */\n")
    assert changes(before) == [f"tiny's {SOURCE}"]
    (tree / SOURCE).unlink()
    assert changes(before) == [f"tiny's {SOURCE}"]


def test_changed_uncompiled_file_is_reported_by_commit(tree: Path, uncached_repositories: None) -> None:
    before = current_reference(tree)
    (tree / HEADER).write_text((tree / HEADER).read_text() + "/* edited */\n")
    (report,) = changes(before)
    assert report.startswith("tiny is at ")
    assert ", edited, not " in report
    commit(tree)
    (report,) = changes(before)
    assert "edited" not in report
    now, then = report.removeprefix("tiny is at ").split(", not ")
    assert now != then


def test_tree_that_begins_at_another_folder_has_not_changed(tree: Path, uncached_repositories: None) -> None:
    deeper, elsewhere = (
        f"kernel/Source/{SOURCE}",
        [{"at": ".", "origin": "https://a", "commit": "1" * 40, "dirty": False}],
    )
    digest = sha256_of_file(tree / SOURCE)
    before = reference({"sources": {deeper: digest}, "tree": {"repositories": elsewhere}})
    assert changes(before) == []
    (tree / SOURCE).write_text((tree / SOURCE).read_text() + "/* edited */\n")
    assert changes(before) == [f"tiny's Source/{SOURCE}"]


def test_other_version_is_reported(tree: Path) -> None:
    path = next((tree.parent / "trees").glob("tiny.toml"))
    path.write_text(
        kernel_tree_description_as_toml(read_user_kernel_trees()["tiny"].model_copy(update={"version": "1.6"}))
    )
    assert changes(current_reference(tree)) == ["tiny is 1.6, not 1.5"]


def test_missing_tree_reports_nothing(tree: Path) -> None:
    before = current_reference(tree)
    (tree / SOURCE).write_text("")
    assert changes(before) != []
    command_output("kernel", "tree", "remove", "tiny")
    assert changes(before) == []


def test_changed_export_is_found_by_its_linked_files(user: Path) -> None:
    make_export_port(user / "ports")
    make_export(user / "export")
    command_output("kernel", "tree", "add", "tiny", str(user / "export"))
    digest = linked_libraries_digest(find_kernel_export_tree(Catalogue(find_checkout_root()).kernels["tiny"], "pico-1"))
    before = reference({"tree": {"linked_sha256": digest, "repositories": []}})
    assert changes(before) == []
    make_export(user / "export", pause='__asm volatile("nop");')
    assert changes(before) == ["the export pico-1"]
    assert changes(reference({"tree": {"repositories": []}})) == [], "what was not recorded is not compared"


def test_reference_list_shows_changed_trees(checkout: Path, tree: Path, uncached_repositories: None) -> None:
    (point,) = current_reference(tree).points
    manifest = {**point.manifest, "target": {"sources_sha256": "ab" * 32}}
    write_reference_file(reference_file_path(checkout, "doe2020", "tiny"), [replace(point, manifest=manifest)])
    (tree / SOURCE).write_text("")
    rows = json.loads(command_output("kernel", "reference", "list", "--json"))
    (row,) = (item for item in rows if item["kernel"] == "tiny")
    assert row["changed_since"] == [f"tiny's {SOURCE}", "the virtual board", "firmware/core/main.c"]
