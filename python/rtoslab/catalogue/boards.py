"""The boards: `firmware/boards/<id>/board.toml`, and the user's own. The commands that run an image need no more of
the catalogue, so they start without the forms of kernels and benchmarks."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from rtoslab.base import find_project_folder
from rtoslab.catalogue.folder_entries import CatalogueEntry, find_name_or_prefix, read_catalogue_entry
from rtoslab.catalogue.schemas import Board

BOARDS_VARIABLE: Final = "RTOSLAB_BOARDS"


def board_folders(root: Path) -> list[Path]:
    """Returns the folders that contain boards: the checkout's, those of RTOSLAB_BOARDS, and `boards` beside the project
    file."""
    own = [Path(part).absolute() for part in os.environ.get(BOARDS_VARIABLE, "").split(os.pathsep) if part]
    project = find_project_folder()
    beside = [project / "boards"] if project is not None and (project / "boards").is_dir() else []
    return [root / "firmware" / "boards", *own, *beside]


def board_files(root: Path) -> Mapping[str, Path]:
    """Returns the board.toml of each board by id. If several folders have the same id, the first one of `board_folders`
    counts."""
    files: dict[str, Path] = {}
    for folder in board_folders(root):
        files = {**{path.parent.name: path for path in sorted(folder.glob("*/board.toml"))}, **files}
    return dict(sorted(files.items()))


def read_boards(root: Path) -> dict[str, CatalogueEntry[Board]]:
    """Returns all known boards by id. Raises CatalogueError for an invalid file."""
    return {name: _read_board(name, path) for name, path in board_files(root).items()}


def find_board(root: Path, name: str) -> CatalogueEntry[Board]:
    """Returns the board with this id, or with the only id that begins so. Reads only this board's file. Raises
    UnknownNameError, CatalogueError."""
    files = board_files(root)
    board = find_name_or_prefix("board", files, name)
    return _read_board(board, files[board])


def _read_board(name: str, path: Path) -> CatalogueEntry[Board]:
    """Returns the board of a board.toml. Raises CatalogueError."""
    return read_catalogue_entry(path, name, path.parent, Board)
