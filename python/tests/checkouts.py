"""Test code only: copies of this checkout's firmware that a test may break."""

import shutil
from pathlib import Path

from rtoslab.base.paths import find_root

ROOM_OF_AN_INSTALLATION = ("firmware", "spec", "papers", "baselines", "reference")
"""What an installed package holds of a checkout."""


def copy_checkout(folder: Path) -> Path:
    """What the laboratory reads of a checkout, copied into a folder."""
    for name in ("firmware", "spec", "papers"):
        shutil.copytree(find_root() / name, folder / name)
    shutil.copytree(find_root() / "sim", folder / "sim", ignore=shutil.ignore_patterns("target"))
    for name in ("Cargo.toml", "Cargo.lock"):
        shutil.copy(find_root() / name, folder / name)
    return folder


def alter(root: Path, file: str, old: str, new: str) -> None:
    """Replaces a text that must be there, in a file below firmware/."""
    path = root / "firmware" / file
    text = path.read_text()
    assert old in text, f"{file} has changed: this test must break it another way"
    path.write_text(text.replace(old, new))
