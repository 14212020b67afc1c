"""What a user needs has a lock file of its own. The other one has all that a checkout needs, in the same versions."""

import re
import tomllib

from rtoslab.base.paths import find_checkout_root

ROOT = find_checkout_root()
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
INSTALLATION, CHECKOUT = "requirements.lock", "requirements-dev.lock"


def _package_names(lines: list[str]) -> set[str]:
    return {re.split(r"[^A-Za-z0-9_.-]", line)[0].lower().replace("_", "-").replace(".", "-") for line in lines}


def _locked_packages(name: str) -> list[str]:
    """The packages of a lock file, each with its version and hashes."""
    packages = re.findall(r"^[A-Za-z0-9].*\n(?:  .*\n)*", (ROOT / name).read_text(), re.MULTILINE)
    assert [package for package in packages if "==" not in package or "--hash=sha256:" not in package] == []
    return packages


def test_installation_contains_only_required_packages() -> None:
    needed = _package_names(_locked_packages(INSTALLATION))
    groups = PYPROJECT["dependency-groups"] | PYPROJECT["project"]["optional-dependencies"]
    assert _package_names(PYPROJECT["project"]["dependencies"]) <= needed
    assert needed.isdisjoint(name for packages in groups.values() for name in _package_names(packages))


def test_checkout_has_the_same_versions_and_all_groups_and_extras() -> None:
    checkout = _locked_packages(CHECKOUT)
    assert set(_locked_packages(INSTALLATION)) <= set(checkout)
    for packages in (PYPROJECT["dependency-groups"] | PYPROJECT["project"]["optional-dependencies"]).values():
        assert _package_names(packages) <= _package_names(checkout)


def test_lock_files_contain_no_package_index() -> None:
    for name in (INSTALLATION, CHECKOUT):
        assert "://" not in (ROOT / name).read_text()
        assert "index-url" not in (ROOT / name).read_text()


def test_every_group_is_installed_from_the_lock_file() -> None:
    """`maturin develop` installs the group `dev`, whatever the lock file says."""
    assert "dev" not in PYPROJECT["dependency-groups"]


def test_every_place_names_the_same_uv() -> None:
    files = ("Makefile", "Containerfile", "bench/try_wheel.sh")
    assert len({version for name in files for version in re.findall(r"uv==([0-9.]+)", (ROOT / name).read_text())}) == 1
