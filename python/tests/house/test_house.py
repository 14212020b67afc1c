"""The plan of the package: every module in a package, and packages met by their public names.

Their order and the absence of circles are import-linter's (`[tool.importlinter]` in pyproject.toml, `make lint`)."""

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from rtoslab.base.paths import find_checkout_root
from tests.sources import statements

ROOT = find_checkout_root()
PACKAGE = ROOT / "python" / "rtoslab"
FILES = sorted(PACKAGE.rglob("*.py"))
PACKAGES = sorted(path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file())
FOUND_BY_NAME = {"cli"}
"""Packages whose modules are loaded by the names of commands, so that nothing is public."""
TESTED_BY_OTHERS = {"api", "base", "records"}
"""Packages without a folder of tests: the tests of the others use them."""


@cache
def _imports(path: Path) -> tuple[tuple[int, str, str], ...]:
    """Line, module and name of everything that is imported from the package."""
    results: list[tuple[int, str, str]] = []
    for node in statements(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            results += [(node.lineno, name.name, "") for name in node.names if name.name.startswith("rtoslab.")]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rtoslab"):
            results += [(node.lineno, str(node.module), name.name) for name in node.names]
    return tuple(results)


@cache
def _public(package: str) -> tuple[str, ...]:
    """What a package's `__init__` takes from the package's own modules."""
    body = ast.parse((PACKAGE / package / "__init__.py").read_text()).body
    body += [node for block in body if isinstance(block, ast.If) for node in block.body]  # names imported when used
    own = (node for node in body if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[1:2] == [package])
    return tuple(alias.asname or alias.name for node in own for alias in node.names)


def _home(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0] if path.is_relative_to(PACKAGE) else ""


def test_root_contains_only_known_files() -> None:
    assert {path.name for path in PACKAGE.glob("*.py")} == {"__init__.py", "__main__.py"}


def test_every_package_is_in_the_layer_list() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (layers,) = [setting["layers"] for setting in settings["contracts"] if setting["type"] == "layers"]
    assert sorted(name for layer in layers for name in re.split(r"\s*[|:]\s*", layer)) == PACKAGES


def test_every_package_has_a_test_folder() -> None:
    folders = {path.parent.name for path in (ROOT / "python" / "tests").glob("*/test_*.py")}
    assert set(PACKAGES) - folders == TESTED_BY_OTHERS


@pytest.mark.parametrize("package", PACKAGES)
def test_package_docstring_names_its_contents(package: str) -> None:
    message = ast.get_docstring(ast.parse((PACKAGE / package / "__init__.py").read_text())) or ""
    first = message.partition("\n")[0]
    assert first.endswith((".", "`.")) or ". " in first, first


@pytest.mark.parametrize(
    "path", [path for path in FILES if path.name == "__init__.py"], ids=lambda path: path.parent.name
)
def test_package_docstring_names_existing_modules(path: Path) -> None:
    """What moved is named as it is called now; other words in backticks are those of files that modules read."""
    others = {"catalogue", "document", "rtoslab", "when"}
    message = re.findall(r"`([a-z_]+)/?`", ast.get_docstring(ast.parse(path.read_text())) or "")
    assert not set(message) - {item.stem for item in path.parent.iterdir()} - others


def not_public(path: Path) -> Iterator[str]:
    """What a file imports of another package by a name that is its own affair."""
    for line, module, name in _imports(path):
        parts = module.split(".")
        if len(parts) == 1 or parts[1] in {_home(path), "_sim"} or path == PACKAGE / "__main__.py":
            continue
        if len(parts) > 2 or (parts[1] not in FOUND_BY_NAME and name not in _public(parts[1])):
            yield f"{path}:{line}: {module} {name}"


def test_other_packages_are_imported_by_public_names() -> None:
    assert not [item for path in (*FILES, *(ROOT / "bench").glob("*.py")) for item in not_public(path)]


@pytest.mark.parametrize(
    ("line", "is_wrong"),
    [
        ("from rtoslab.base import find_checkout_root", False),
        ("from rtoslab.base.paths import find_checkout_root", True),
        ("from rtoslab.base import no_such", True),
        ("import rtoslab.base.paths", True),
        ("def f():\n    if a:\n        from rtoslab.base.paths import find_checkout_root", True),
    ],
)
def test_private_import_is_found(line: str, is_wrong: bool, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(f"{line}\n")
    assert bool([*not_public(tmp_path / "a.py")]) == is_wrong


def test_no_public_name_is_unused() -> None:
    """A public name is for another package or bench/. A test takes from a module what only it needs."""
    used: set[tuple[str, str]] = set()
    for path in [*FILES, *(ROOT / "bench").glob("*.py")]:
        for _, module, name in _imports(path):
            parts = module.split(".")
            if len(parts) > 1 and parts[1] != _home(path):
                used.add((parts[1], name))
    unused = [
        f"{package}.{name}"
        for package in PACKAGES
        if package not in FOUND_BY_NAME
        for name in _public(package)
        if (package, name) not in used
    ]
    message = (ROOT / "python" / "rtoslab" / "__init__.py").read_text() + (ROOT / "docs" / "python-api.md").read_text()
    assert not [item for item in unused if not re.search(rf"\b{item.partition('.')[2]}\b", message)]


def test_crate_left_out_of_the_rust_tests_has_none() -> None:
    """`make test` would pass without running them."""
    (command,) = re.findall(r"^CARGO_TEST := (?:.*\\\n)*.*$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert "--exclude" not in command
    manifests = {path.parent: tomllib.loads(path.read_text()) for path in (ROOT / "sim").glob("*/Cargo.toml")}
    left_out = [folder for folder, crate in manifests.items() if crate.get("lib", {}).get("test") is False]
    assert left_out
    for folder in left_out:
        files = [*folder.rglob("*.rs")]
        assert files, folder
        assert [file for file in files if "#[test]" in file.read_text() or "proptest!" in file.read_text()] == []


def test_module_names_are_unique() -> None:
    """Two modules of one name are a wall in the wrong place, but for what every package of the
    kind has, and for files that are named after what they register."""
    common = {"__init__", "document", "judge", "names", "plan", "records", "report", "schemas", "series", "tables"}
    registrations = {"cli", "sections", "formats", "rules", "forms"}
    names: dict[str, list[str]] = {}
    for path in FILES:
        if path.stem not in common and not registrations & set(path.parts):
            names.setdefault(path.stem, []).append(str(path.relative_to(PACKAGE)))
    assert not {name: places for name, places in names.items() if len(places) > 1}
