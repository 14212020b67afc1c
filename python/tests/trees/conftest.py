"""Test code only: a user's folders, and what whoever runs the tests has named."""

import shutil
from pathlib import Path

import pytest

from tests.checkouts import build_apart


@pytest.fixture
def user(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with ports and descriptions of one user's own, and images apart; nothing is in it yet. It has the same
    name in all tests of a process: compilers are told it, so that under another nothing kept is found again."""
    folder = tmp_path_factory.getbasetemp() / "user"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    monkeypatch.setenv("RTOSLAB_PORTS", str(folder / "ports"))
    monkeypatch.setenv("RTOSLAB_TREES", str(folder / "trees"))
    monkeypatch.setenv("RTOSLAB_BUILD", str(build_apart(tmp_path / "build")))
    return folder
