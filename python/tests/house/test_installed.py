"""An installed package has no checkout: firmware and contracts lie inside it, and what it makes goes elsewhere."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rtoslab.base import find_checkout_root
from tests.checkouts import ROOM_OF_AN_INSTALLATION, build_apart
from tests.cli.test_cli import HANG_S

ROOT = find_checkout_root()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `make dist` packs, as pip lays it out: with its modules compiled."""
    site = tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "python" / "rtoslab", site / "rtoslab", ignore=shutil.ignore_patterns("lab"))
    for name in ROOM_OF_AN_INSTALLATION:
        shutil.copytree(ROOT / name, site / "rtoslab" / "lab" / name)
    return site


def run_installed(site: Path, here: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    stored = {name: value for name, value in os.environ.items() if not name.startswith("RTOSLAB_")}
    own = {"PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1", "XDG_CACHE_HOME": str(here.parent / "cache")}
    return subprocess.run(
        [sys.executable, "-m", "rtoslab", *words],
        capture_output=True, text=True, cwd=here, env={**stored, **own, **more}, timeout=HANG_S, check=False,
    )  # fmt: skip


def test_installed_package_measures_and_does_not_change_itself(site: Path, tmp_path: Path) -> None:
    here, built = tmp_path / "empty", tmp_path / "cache" / "rtoslab"
    here.mkdir()
    built.mkdir(parents=True)
    build_apart(built / "firmware")  # of the same sources as the checkout's
    before = sorted(site.rglob("*"))
    listed = run_installed(site, here, "list", "boards", "--json")
    assert listed.returncode == 0, listed.stderr
    assert "pico" in {load["id"] for load in json.loads(listed.stdout)["boards"]}
    done = run_installed(site, here, "run", "t2", "--window", "5ms")
    assert done.returncode == 0, done.stderr
    assert [path.name for path in here.iterdir()] == ["runs"]
    assert list((built / "firmware").glob("t2_cooperative-*"))
    refused = run_installed(site, here, "new", "benchmark", "mine")
    assert refused.returncode == 1
    assert "run the command in a checkout" in refused.stderr
    assert run_installed(site, here, "new", "kernel", "mine", "--in", "ports").returncode == 0
    assert sorted(site.rglob("*")) == before


def test_missing_program_is_reported_without_a_checkout(site: Path, tmp_path: Path) -> None:
    done = run_installed(site, tmp_path, "demo", PATH=str(tmp_path))
    assert done.returncode == 1
    assert done.stderr == (
        "rtoslab: cmake is not installed (configures the firmware); apt-get install cmake (`rtoslab doctor` lists "
        "all missing tools).\n"
    )


def test_missing_root_is_reported_with_remedy(site: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    shutil.copytree(site / "rtoslab", bare / "rtoslab", ignore=shutil.ignore_patterns("lab"))
    done = run_installed(bare, bare, "list")
    assert done.returncode == 1
    assert done.stderr.startswith("rtoslab: No checkout of rtoslab was found")
    assert "Traceback" not in done.stderr


def test_make_dist_packs_what_an_installation_needs() -> None:
    recipe = (ROOT / "Makefile").read_text().partition("\ndist:")[2].partition("\n\n")[0]
    assert f" {' '.join(ROOM_OF_AN_INSTALLATION)} |" in recipe
