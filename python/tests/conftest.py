"""Test code only: fixtures of several files."""

from pathlib import Path

import pytest

from .checkouts import copy_checkout


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of this checkout that a test may break; images of it are built apart."""
    root = copy_checkout(tmp_path / "checkout")
    monkeypatch.setenv("RTOSLAB_ROOT", str(root))
    monkeypatch.setenv("RTOSLAB_BUILD", str(tmp_path / "build"))
    return root
