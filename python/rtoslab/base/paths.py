"""The laboratory's folders: the root with firmware/, spec/ and papers/, the runs, the caches.

Firmware is built from its sources, so the root is needed. It is searched for in this order: the RTOSLAB_ROOT
variable, the working directory and its parents, the checkout this package is in, the copy inside an installed package
(`make dist`).
Results and baselines go to the working directory. Built images and remembered points, which can be made again, stay in
the checkout's build/, or in the user's cache folder where there is no checkout, or none that can be written to.
"""

import os
from pathlib import Path
from typing import Final

from platformdirs import user_cache_path

from rtoslab.base.errors import CatalogueError

_MARK = Path("spec") / "wire.toml"
PROJECT_FILE: Final = "rtoslab.toml"
"""The project file in a user's own project folder."""
_INSTALLED = Path(__file__).resolve().parents[1] / "lab"
"""The copy in an installed package."""


def find_checkout_root() -> Path:
    """Returns the absolute path of the checkout of rtoslab, or of the copy in an installed package. Raises
    CatalogueError if there is none."""
    named = os.environ.get("RTOSLAB_ROOT")
    if named:
        root = Path(named).resolve()
        if not (root / _MARK).is_file():
            raise CatalogueError(
                f"RTOSLAB_ROOT is {root}, but this folder does not contain {_MARK}; set "
                "RTOSLAB_ROOT to a checkout of rtoslab."
            )
        return root
    here = Path.cwd()
    for folder in (here, *here.parents, *Path(__file__).resolve().parents, _INSTALLED):
        if (folder / _MARK).is_file():
            return folder
    raise CatalogueError(
        "No checkout of rtoslab was found, and this installation does not contain a copy; run the command inside "
        "a checkout, or set RTOSLAB_ROOT to its folder."
    )


def find_project_folder() -> Path | None:
    """Returns the nearest folder, from the working directory upwards, that contains an rtoslab.toml. None if there is
    none."""
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if _is_readable_file(folder / PROJECT_FILE)), None)


def _is_readable_file(path: Path) -> bool:
    """Whether the path is a file or a FIFO. False in a folder that may not be searched."""
    try:
        return path.is_file() or path.is_fifo()
    except OSError:  # a folder that may not be searched
        return False


def default_runs_folder() -> Path:
    """Returns the default folder of run directories: `runs` in the working directory. The option `--out` names
    another."""
    return Path.cwd() / "runs"


def build_folder(root: Path) -> Path:
    """Returns the folder of built images. The environment variable RTOSLAB_BUILD names another."""
    named = os.environ.get("RTOSLAB_BUILD")
    return Path(named).resolve() if named else _generated_files_folder(root) / "firmware"


def is_checkout(root: Path) -> bool:
    """Whether this root is a checkout of rtoslab, and not the copy in an installed package."""
    return root != _INSTALLED


def _generated_files_folder(root: Path) -> Path:
    """Returns the folder of files that can be made again: `build` in a checkout that can be written to, else the user's
    cache folder."""
    return root / "build" if is_checkout(root) and os.access(root, os.W_OK) else user_cache_path("rtoslab")


def cached_results_folder(root: Path) -> Path:
    """Returns the folder of cached results. RTOSLAB_CACHE names another, and RTOSLAB_BUILD moves it too."""
    named = os.environ.get("RTOSLAB_CACHE")
    if named:
        return Path(named).resolve()
    return (
        build_folder(root) / "results" if os.environ.get("RTOSLAB_BUILD") else _generated_files_folder(root) / "results"
    )
