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
    needed, beside = _locked("requirements.lock"), _locked("requirements-checkout.lock")
    report, dev = (_names(PROJECT["optional-dependencies"][extra]) for extra in ("report", "dev"))
    assert _names(PROJECT["dependencies"]) <= needed, "an installation has no other lock file"
    assert needed & beside == set()
    assert report <= beside, "a checkout draws charts"
    assert dev & beside == {"maturin"}, "which builds the virtual board"
    assert dev & needed == set()


def test_tests_and_lint_have_a_lock_file_of_their_own() -> None:
    needed = _locked("requirements.lock") | _locked("requirements-checkout.lock")
    beside = _locked("requirements-dev.lock")
    assert needed & beside == set()
    assert _names(PROJECT["optional-dependencies"]["dev"]) <= needed | beside
