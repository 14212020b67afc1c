"""Style as a test: short files, short functions, no path of a machine, no orphan module, no test that cannot fail."""

import ast
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from rtoslab.base.paths import find_checkout_root
from tests.sources import statements

PYTHON = find_checkout_root() / "python"
FILES = sorted(PYTHON.rglob("*.py"))
FILE_LINES = 600
FUNCTION_LINES = 85
RUST = sorted(path for path in (find_checkout_root() / "sim").rglob("*.rs") if "target" not in path.parts)
RUST_COMMENT = 128
"""Most characters in a line of a comment, which rustfmt lets be."""


@dataclass(frozen=True, slots=True)
class _Function:
    """Of a test's file."""

    name: str
    lines: int
    demands: bool
    """Whether it contains an assertion, or what stands for one: assert_… and require_… raise where they must."""
    calls: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Source:
    """What is asked of a source. Its tree is many times as large: those of all files together would fill the memory."""

    text: str
    says_what_it_is: bool
    functions: tuple[_Function, ...]
    idle_assertions: tuple[int, ...]
    """Lines of those that always hold."""


@cache
def _read(path: Path) -> _Source:
    text = path.read_text()
    tree = ast.parse(text)
    inside = [*statements(tree)]
    return _Source(
        text,
        bool(ast.get_docstring(tree)),
        tuple(_function(item) for item in inside if isinstance(item, ast.FunctionDef)),
        tuple(item.lineno for item in inside if isinstance(item, ast.Assert) and _always_holds(item.test)),
    )


def _function(node: ast.FunctionDef) -> _Function:
    below = [*ast.walk(node)]
    names = {getattr(item, "attr", getattr(item, "id", "")) for item in below}
    substitutes = names & DEMANDS or any(name.startswith(("assert_", "require_")) for name in names)
    called = (item.func for item in below if isinstance(item, ast.Call))
    return _Function(
        node.name,
        (node.end_lineno or 0) - node.lineno + 1,
        bool(substitutes) or any(isinstance(item, ast.Assert | ast.Raise) for item in below),
        frozenset(getattr(item, "attr", getattr(item, "id", "")) for item in called),
    )


def untidy(path: Path) -> Iterator[str]:
    """What is wrong with a file."""
    source = _read(path)
    if source.text.count("\n") >= FILE_LINES and path.name != "fakes.py":
        yield "it is too long"
    for function in source.functions:
        if function.lines > FUNCTION_LINES:
            yield f"{function.name} has {function.lines} lines"
    if re.search(r"(?<![\w.])/(home|root|work|usr)/", source.text.replace("#!/usr/", "")):
        yield "it names a path of a machine"
    if not source.says_what_it_is and path.name != "__init__.py":
        yield "it does not say what it is"


def test_files_are_tidy() -> None:
    assert not [f"{path.relative_to(PYTHON)}: {wrong}" for path in FILES for wrong in untidy(path)]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ('"""A."""\n' + 599 * "\n", "it is too long"),
        ('"""A."""\ndef f():\n' + 85 * "    g()\n", "f has 86 lines"),
        ('"""A."""\nclass C:\n    def f(self):\n' + 85 * "        g()\n", "f has 86 lines"),
        ('"""A."""\nA = "/' + 'home/a"\n', "it names a path of a machine"),
        ("A = 1\n", "it does not say what it is"),
    ],
)
def test_untidy_file_is_found(text: str, wrong: str, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(text)
    assert [*untidy(tmp_path / "a.py")] == [wrong]


def _long_comments(text: str) -> list[str]:
    return [line for line in text.split("\n") if len(line) > RUST_COMMENT and line.lstrip().startswith("//")]


def test_rust_comments_fit_their_width() -> None:
    """Other lines are rustfmt's business."""
    assert not [path for path in RUST if _long_comments(path.read_text())]


@pytest.mark.parametrize(("line", "is_wide"), [(f"    /// {'w' * 121}", True), (f"//! {'w' * 124}", False)])
def test_wide_comment_is_found(line: str, is_wide: bool) -> None:
    assert bool(_long_comments(f"fn f() {{}}\n{line}\n{'w' * 200}\n")) == is_wide


def test_tracked_files_are_text() -> None:
    """And so nobody else's archive or binary: but for pictures of the pages, and what a fuzzer found."""
    if not (find_checkout_root() / ".git").exists():
        pytest.skip("no git checkout, so what is kept is not known")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=find_checkout_root(), capture_output=True, check=True).stdout
    paths = [find_checkout_root() / part for part in listed.decode().split("\0") if part]
    stored = [path.relative_to(find_checkout_root()) for path in paths if path.is_file() and b"\0" in path.read_bytes()]
    assert {stored_item.parts[:2] for stored_item in stored if stored_item.suffix != ".png"} <= {("sim", "fuzz")}
    assert {stored_item.parent.as_posix() for stored_item in stored if stored_item.suffix == ".png"} <= {"docs"}


def _modules(package: Path) -> dict[str, Path]:
    """Every module below a package's folder by its name, packages by theirs."""
    result = {}
    for path in package.rglob("*.py"):
        parts = path.relative_to(package.parent).with_suffix("").parts
        result[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return result


def test_every_module_is_imported() -> None:
    """Another module of the package or of bench/ imports it, or its package looks for it, or a process begins with it.

    Imports do not go round in circles, so one step finds every orphan or what only an orphan imports.
    """
    modules = _modules(PYTHON / "rtoslab")
    bench = (find_checkout_root() / "bench").rglob("*.py")
    named = {name for path in [*modules.values(), *bench] for name in _imported_names(path)}
    result = {name for name in modules if "iter_modules" in modules[name.rpartition(".")[0] or name].read_text()}
    result -= {name for name in result if name.startswith("rtoslab.cli.") and not name.startswith("rtoslab.cli.cmd_")}
    begun = set(re.findall(r'set_forkserver_preload\(\["([\w.]+)"\]', modules["rtoslab.measure.pool"].read_text()))
    command_groups = [path.read_text() for name, path in modules.items() if name.startswith("rtoslab.cli.cmd_")]
    named |= {f"rtoslab.cli.{name}" for text in command_groups for name in re.findall(r'": "([a-z]+_[a-z]+)"', text)}
    assert "rtoslab.analyses" in named
    assert not modules.keys() - named - result - begun - {"rtoslab", "rtoslab.__main__"}


def _imported_names(path: Path) -> Iterator[str]:
    """What a source imports, as it may name modules: dotted names, those behind `from` and those taken from there."""
    for statement in statements(ast.parse(path.read_text())):
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            yield str(statement.module)
            yield from (f"{statement.module}.{alias.name}" for alias in statement.names)


def test_every_test_helper_is_used() -> None:
    """Who imports them is read in the words: as some tests import by name, all of them take part with those."""
    modules = {name: path for name, path in _modules(PYTHON / "tests").items() if path.name != "__init__.py"}
    named = {*re.findall(r"tests\.\w+", (find_checkout_root() / "Makefile").read_text())}
    for name, path in modules.items():
        words = {*re.findall(r"tests(?:\.\w+)+", path.read_text())}
        named |= (words | {*_imported_names(path)}) - {name}
    helpers = {name for name, path in modules.items() if not path.name.startswith(("test_", "conftest"))}
    assert len(helpers) > 20
    assert not helpers - named


TESTS = [path for path in FILES if path.name.startswith("test_")]
DEMANDS = {"raises", "fail", "warns"}


def _always_holds(test: ast.expr) -> bool:
    """A constant, a tuple, a count compared with what no count is below."""
    if isinstance(test, ast.Constant | ast.Tuple):
        return bool(getattr(test, "value", True))
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return False
    bound = test.comparators[0]
    below = isinstance(bound, ast.UnaryOp) and isinstance(bound.op, ast.USub) and isinstance(test.ops[0], ast.Gt)
    empty = isinstance(bound, ast.Constant) and bound.value == 0 and isinstance(test.ops[0], ast.GtE)
    counts = isinstance(test.left, ast.Call) and getattr(test.left.func, "id", "") in {"len", "sum"}
    pure = not any(isinstance(item, ast.Call) for item in ast.walk(test.left))
    same = pure and isinstance(test.ops[0], ast.Eq | ast.Is) and ast.dump(test.left) == ast.dump(bound)
    return same or (counts and (below or empty))


def _idle(paths: list[Path]) -> list[str]:
    """Tests that contain no assertion and call nothing that does."""
    functions = [
        (function.name, function.demands, function.calls) for path in paths for function in _read(path).functions
    ]
    demanding = {name for name, demands, _ in functions if demands}
    for _ in range(3):  # those that call them, and so on
        demanding |= {name for name, _, calls in functions if calls & demanding}
    return [name for name, _, _ in functions if name.startswith("test_") and name not in demanding]


def test_every_test_asserts_something() -> None:
    """An assertion, in itself or in what it calls."""
    assert not _idle([path for path in FILES if "tests" in path.parts])


def test_test_without_assertion_is_found(tmp_path: Path) -> None:
    file = tmp_path / "test_made.py"
    file.write_text(
        "def sees(a):\n    assert a\n\ndef test_by_a_call():\n    sees(1)\n\ndef test_idle():\n    print(1)\n"
    )
    assert _idle([file]) == ["test_idle"]


def test_no_assertion_is_always_true() -> None:
    assert not [f"{path.name}:{line}" for path in TESTS for line in _read(path).idle_assertions]


@pytest.mark.parametrize("text", ["True", "(a, 'why')", "len(a) >= 0", "len(a) > -1", "a == a", "sum(a) > -1"])
def test_assertion_that_is_always_true_is_found(text: str) -> None:
    assert _always_holds(ast.parse(text, mode="eval").body)


@pytest.mark.parametrize("text", ["a", "len(a) > 0", "a > -1", "a == b", "f(a) == f(a)"])
def test_assertion_that_may_fail_is_accepted(text: str) -> None:
    assert not _always_holds(ast.parse(text, mode="eval").body)
