"""The part of docs/choose.md that says which figures there are, and why others are not.

cd python && python -m tests.doc_matrix    # writes it anew from reference/matrix
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.choose import (
    KernelBoardMatrix,
    boards_to_compare,
    kernel_title,
    measurement_coverage_by_board,
    read_kernel_matrices,
)
from rtoslab.choose.coverage import reasons_for_missing_measured_values
from tests.doc_parts import replace_part

ROOT: Final = find_checkout_root()
PAGE: Final = ROOT / "docs" / "choose.md"
_SENTENCE_MOST: Final = 200


def page(text: str) -> str:
    """The page with its part written anew."""
    return replace_part(text, "matrix", "tests.doc_matrix", _lines(read_kernel_matrices(ROOT)))


def _lines(result: Sequence[KernelBoardMatrix]) -> Iterator[str]:
    catalogue = Catalogue(ROOT)
    boards = boards_to_compare(ROOT)
    yield f"| kernel | version | measured | {' | '.join(boards)} |"
    yield f"|---|---|---|{'---|' * len(boards)}"
    titles = {}
    for matrix in result:
        titles[matrix.kernel] = kernel_title(catalogue, matrix.kernel)
        own = measurement_coverage_by_board(matrix)
        cells = (f"{own[name].measured} of {own[name].requested}" if name in own else "-" for name in boards)
        versions = ", ".join(matrix.kernel_versions)
        yield f"| {titles[matrix.kernel]} | {versions} | {matrix.date} | {' | '.join(cells)} |"
    yield ""
    yield "| kernel | benchmarks without a figure | boards | why |"
    yield "|---|---|---|---|"
    for kernel, reason, benchmarks, names in reasons_for_missing_measured_values(result):
        yield f"| {titles[kernel]} | {', '.join(benchmarks)} | {', '.join(names)} | {_short(reason)} |"


def _short(reason: str) -> str:
    """As a cell has it: not longer than a sentence or two."""
    text = re.sub(r"\s+", " ", reason).replace("|", "/")
    return text if len(text) <= _SENTENCE_MOST else f"{text[:_SENTENCE_MOST].rsplit(' ', 1)[0]} …"


def main() -> None:
    """Writes the page."""
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
