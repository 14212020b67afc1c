"""Test code only: copies of this checkout's firmware that a test may break."""

import shutil
from pathlib import Path

from rtoslab.base.paths import build_folder, find_checkout_root
from rtoslab.images.builder import SHARED_FOLDERS

ROOM_OF_AN_INSTALLATION = ("firmware", "spec", "papers", "baselines", "reference")
"""What an installed package holds of a checkout."""


def copy_checkout(folder: Path) -> Path:
    """What the laboratory reads of a checkout, copied into a folder: a thousand files, without their times and rights,
    which nobody asks for and which take longer than what they hold."""
    for name in ("firmware", "spec", "papers", "sim"):
        ignored = shutil.ignore_patterns("target")
        shutil.copytree(find_checkout_root() / name, folder / name, ignore=ignored, copy_function=shutil.copyfile)
    for name in ("Cargo.toml", "Cargo.lock"):
        shutil.copy(find_checkout_root() / name, folder / name)
    return folder


def build_apart(folder: Path) -> Path:
    """A folder for a test's own images of this checkout. Objects and what CMake found out are those of all tests: they
    are named by all that made them. Two fixtures of a test may ask for the same one."""
    if folder.is_dir():
        return folder
    folder.mkdir()
    for name in SHARED_FOLDERS:
        stored = build_folder(find_checkout_root()) / name
        stored.mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(stored)
    return folder


def replace_text(root: Path, file: str, old: str, new: str) -> None:
    """Replaces a text that must be there, in a file below firmware/."""
    path = root / "firmware" / file
    text = path.read_text()
    assert old in text, f"{file} has changed: this test must break it another way"
    path.write_text(text.replace(old, new))
