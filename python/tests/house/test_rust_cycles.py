"""No two files of the simulator need each other: whoever changes one need not read a circle of them."""

from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from rtoslab.base.paths import find_checkout_root
from tests.rust_modules import Modules, expand, without_tests


def _circle(folder: Path) -> list[str]:
    """Modules that need each other in turn; none if there is no such circle."""
    try:
        TopologicalSorter(Modules(folder).dependencies()).prepare()
    except CycleError as error:
        return ["::".join(module) for module in error.args[1]]
    return []


def _crates(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_simulator_has_no_import_cycles() -> None:
    folder = find_checkout_root() / "sim"
    assert len(Modules(folder).dependencies()) > 300
    circle = _circle(folder)
    assert not circle, f"move what they share to a file of its own: {' -> '.join(reversed(circle))}"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("use crate::b::B;", "use super::a::A;"),
        ("use crate::{b::{B, C as D}, c};", "use rtoslab_x::a::A;"),
        ("fn f() { crate::b::g() }", "use crate::a;\nfn g() { a::f() }"),
        ("use crate::inner::B;", "use crate::a::A;"),
    ],
    ids=["use", "tree and crate", "inline", "re-exported"],
)
def test_import_cycle_is_found(first: str, second: str, tmp_path: Path) -> None:
    files = {"x/src/lib.rs": "mod a; mod b; mod inner;", "x/src/inner.rs": "pub use crate::b::B;"}
    folder = _crates(tmp_path, files | {"x/src/a.rs": first, "x/src/b.rs": second})
    assert set(_circle(folder)) == {"rtoslab_x::a", "rtoslab_x::b"}


def test_module_and_its_children_are_not_a_cycle(tmp_path: Path) -> None:
    files = {"x/src/a.rs": "mod b;\nuse b::B;\npub struct A;", "x/src/a/b.rs": "use super::A;\npub struct B;"}
    assert not _circle(_crates(tmp_path, files))


def test_tests_and_comments_are_ignored(tmp_path: Path) -> None:
    tests = "use crate::b::B;\n#[cfg(test)]\nmod tests {\n    fn f() { crate::c::g() }\n}\n"
    files = {"x/src/a.rs": tests, "x/src/b.rs": "// crate::a::A\nuse std::fmt;", "x/src/c.rs": "use crate::a::A;"}
    assert not _circle(_crates(tmp_path, files))
    assert without_tests(tests + "fn h() {}") == "use crate::b::B;\n\nfn h() {}"


def test_use_tree_is_expanded_to_paths() -> None:
    assert list(expand("a::{self, b::{C, D as E}}")) == [
        (("a",), "a"),
        (("a", "b", "C"), "C"),
        (("a", "b", "D"), "E"),
    ]
