"""Test code only: a user's folders, and what whoever runs the tests has named."""

from pathlib import Path

import pytest

from tests.checkouts import build_apart


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with ports and descriptions of one user's own, and images apart; nothing is in it yet."""
    monkeypatch.setenv("RTOSLAB_PORTS", str(tmp_path / "ports"))
    monkeypatch.setenv("RTOSLAB_TREES", str(tmp_path / "trees"))
    monkeypatch.setenv("RTOSLAB_BUILD", str(build_apart(tmp_path / "build")))
    return tmp_path
