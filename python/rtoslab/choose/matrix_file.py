"""`reference/matrix/<kernel>.ndjson`: figures of one kernel on every board, in all their placements.

Each line is a JSON object. The first has the kernel and a manifest for each board. Then come the rows, one for each
point, with its values or the reason why it has none. The last line is the SHA-256 of all others.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rtoslab.base import AlteredFileError, make_folder, write_file_atomically
from rtoslab.intake import STORED_BYTES, parse_json_object, read_text
from rtoslab.reference import (
    StoredPointValues,
    json_lines_with_digest,
    stored_row_as_json,
    stored_row_from_json,
    verify_and_strip_digest_line,
)

FORMAT: Final = 1


@dataclass(frozen=True)
class KernelBoardMatrix:
    """The content of a matrix file: the figures of one kernel on every board."""

    kernel: str
    date: str
    """The date of the last measurement, as ISO 8601."""
    manifests: Mapping[str, Mapping[str, Any]]
    """Keyed by board, the manifest of one of its points: version, flags, kernel configuration, compiler."""
    rows: tuple[StoredPointValues, ...]

    @property
    def board_names(self) -> list[str]:
        """Returns the boards for which the kernel has a figure."""
        return list(dict.fromkeys(row.stands_for.board for row in self.rows if row.values))

    @property
    def kernel_versions(self) -> list[str]:
        """Returns the measured versions of the kernel, as its sources state them."""
        return list(dict.fromkeys(row.version for row in self.rows if row.version))

    def kernel_versions_on_board(self, board: str) -> list[str]:
        """Returns the versions of the kernel whose figures on a board are stored, as the kernel's sources state
        them."""
        rows = (row for row in self.rows if row.version and row.stands_for.board == board)
        return list(dict.fromkeys(row.version for row in rows))


def kernel_board_matrix_path(root: Path, kernel: str) -> Path:
    """Returns the path of the file with a kernel's figures on all boards."""
    return root / "reference" / "matrix" / f"{kernel}.ndjson"


def read_kernel_matrices(root: Path) -> list[KernelBoardMatrix]:
    """Returns the stored figures of all kernels on all boards, sorted by kernel. Raises AlteredFileError for an edited
    file."""
    return [read_kernel_board_matrix(path) for path in sorted((root / "reference" / "matrix").glob("*.ndjson"))]


def write_kernel_board_matrix(path: Path, matrix: KernelBoardMatrix) -> None:
    """Writes a kernel's figures into its matrix file, with a seal. Raises StoreError if the disk refuses it."""
    manifests = {board: dict(manifest) for board, manifest in sorted(matrix.manifests.items())}
    head = {"format": FORMAT, "kernel": matrix.kernel, "date": matrix.date, "manifests": manifests}
    make_folder(path.parent)
    write_file_atomically(
        path,
        json_lines_with_digest([head, *(stored_row_as_json(row) for row in matrix.rows)]),
        "the figures of kernels",
    )


def read_kernel_board_matrix(path: Path) -> KernelBoardMatrix:
    """Returns the content of a kernel's matrix file. Raises AlteredFileError naming it if it was edited, or has another
    format."""
    text = read_text(path, "the figures of kernels", AlteredFileError, STORED_BYTES)
    try:
        head, *lines = (parse_json_object(line) for line in verify_and_strip_digest_line(text))
        return _parse_kernel_board_matrix(path.stem, head, lines)
    except (ValueError, LookupError, TypeError, AttributeError) as cause:
        why = cause if type(cause) is ValueError else type(cause).__name__
        raise AlteredFileError(
            f"{path} cannot be read as figures of a kernel ({why}); restore the file, or measure the figures again "
            f"with `rtoslab kernel reference matrix --kernel {path.stem}`."
        ) from None


def _parse_kernel_board_matrix(
    kernel: str, head: Mapping[str, Any], lines: Iterable[Mapping[str, Any]]
) -> KernelBoardMatrix:
    """Returns a kernel's figures from the parsed lines of its matrix file. Raises ValueError for another format or
    kernel."""
    if (head["format"], head["kernel"]) != (FORMAT, kernel):
        raise ValueError("its format or kernel is another one")
    rows = tuple(stored_row_from_json(f"{kernel} {number}", line) for number, line in enumerate(lines))
    manifests = {str(board): dict(manifest) for board, manifest in head["manifests"].items()}
    return KernelBoardMatrix(kernel, str(head["date"]), manifests, rows)
