"""Style as a test: short files, short functions, no path of a machine, no orphan module."""

import ast
import re
from pathlib import Path

import pytest

from rtoslab.paths import find_root

PYTHON = find_root() / "python"
FILES = sorted(PYTHON.rglob("*.py"))
FILE_LINES = 300
FUNCTION_LINES = 70


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PYTHON)))
def test_file(path: Path) -> None:
    text = path.read_text()
    assert text.count("\n") < FILE_LINES or path.name == "fakes.py"
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            lines = (node.end_lineno or 0) - node.lineno + 1
            assert lines <= FUNCTION_LINES, f"{node.name} has {lines} lines"
    assert not re.search(r"(?<![\w.])/(home|root|work|usr)/", text.replace("#!/usr/", "")), "a path of a machine"
    assert ast.get_docstring(tree) or path.name == "__init__.py"
