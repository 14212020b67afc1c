"""What a user needs and what tests need stand in lock files of their own, each with hashes."""

import re
import tomllib

from rtoslab.base.paths import find_root

ROOT = find_root()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def _names(lines: list[str]) -> set[str]:
    return {re.split(r"[^A-Za-z0-9_.-]", line)[0].lower().replace("_", "-").replace(".", "-") for line in lines}


def _locked(name: str) -> set[str]:
    text = (ROOT / name).read_text()
    blocks = re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE)
    packages = [block for block in blocks if re.match(r"[A-Za-z0-9]", block)]
    assert [block for block in packages if "==" not in block or "--hash=sha256:" not in block] == []
    return _names(packages)


def test_make_demo_needs_what_the_package_needs_and_no_more() -> None:
    needed, extra = _locked("requirements.lock"), _names(PROJECT["optional-dependencies"]["dev"])
    assert _names(PROJECT["dependencies"]) <= needed
    assert _names(PROJECT["optional-dependencies"]["report"]) <= needed, "a checkout draws charts"
    assert extra & needed == {"maturin"}, "which builds the virtual board"


def test_tests_and_lint_have_a_lock_file_of_their_own() -> None:
    needed, beside = _locked("requirements.lock"), _locked("requirements-dev.lock")
    assert needed & beside == set()
    assert _names(PROJECT["optional-dependencies"]["dev"]) <= needed | beside
