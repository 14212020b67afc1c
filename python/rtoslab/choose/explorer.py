"""A page for looking: all kernels, boards and operations in one file that needs nothing else, chosen by a form."""

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any, Final

from rtoslab.base import html_page_style_and_script
from rtoslab.choose.board_comparison import OperationMeasuredValue, compare_kernels_on_board
from rtoslab.choose.compared_operations import ComparedOperationsFile, KernelChoiceCriteria
from rtoslab.choose.matrix_file import KernelBoardMatrix

_CHOICES: Final = (
    ("board", "Board"),
    ("use", "Weights for"),
    ("service", "Service"),
    ("against", "Compared with"),
)
_HOW: Final = (
    "A figure is the median over placements of the code; the dark line on its bar shows the range from the lowest "
    "to the highest. * marks the best and every figure that is as good. ? marks a figure measured in one "
    "placement, which another placement could change."
)


def kernel_choice_explorer_page(
    operation_file: ComparedOperationsFile,
    matrices: Sequence[KernelBoardMatrix],
    titles: Mapping[str, str],
    shown_kernels: Iterable[str],
    lacks: Mapping[str, Mapping[str, str]],
) -> str:
    """Returns an HTML page on which a reader chooses board, kernels and operations to compare.

    `titles` are of kernels and boards. `shown_kernels` are shown at first. `lacks` has, by kernel, the services that it
    does not have.
    """
    data = kernel_choice_page_script_data(operation_file, matrices, titles, shown_kernels, lacks)
    folder = files("rtoslab.choose") / "web"
    page = html_page_style_and_script((folder / "explorer.js").read_text(encoding="utf-8"))
    css = page.css + (folder / "explorer.css").read_text(encoding="utf-8")
    choices = "".join(f'<label>{title} <select name="{name}"></select></label>' for name, title in _CHOICES)
    figures = json.dumps(data, separators=(",", ":"), sort_keys=True).replace("<", "\\u003c")
    dates = sorted({matrix.date for matrix in matrices})
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(page.policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Kernels compared</title>\n<style>\n{css}</style>\n</head>\n<body>\n<main>\n"
        '<p class="brand">rtoslab</p>\n<h1>Kernels compared</h1>\n'
        '<p class="subtitle">Every kernel on every board, on cycle-level virtual boards, '
        f"measured {escape(dates[0])}{' to ' + escape(dates[-1]) if len(dates) > 1 else ''}.</p>\n"
        f'<form id="choice">{choices}<fieldset id="kernels"><legend>Kernels</legend></fieldset>'
        '<details><summary>Your own weights</summary><div id="weights"></div></details></form>\n'
        f'<p id="told" role="status"></p>\n<p class="note">{escape(_HOW)}</p>\n'
        '<h2>Operations</h2>\n<div id="operations"></div>\n'
        "<noscript><p>This page shows its figures by a script; <code>rtoslab choose --board BOARD</code> prints "
        "them.</p></noscript>\n</main>\n"
        f'<script type="application/json" id="figures">{figures}</script>\n<script>{page.script}</script>\n'
        "</body>\n</html>\n"
    )


def kernel_choice_page_script_data(
    operation_file: ComparedOperationsFile,
    matrices: Sequence[KernelBoardMatrix],
    titles: Mapping[str, str],
    shown_kernels: Iterable[str],
    lacks: Mapping[str, Mapping[str, str]],
) -> dict[str, Any]:
    """Returns the data for the script of the page: what can be chosen, and all figures."""
    rows = {matrix.kernel: matrix.rows for matrix in matrices}
    boards = list(dict.fromkeys(board for matrix in matrices for board in matrix.board_names))
    shown = set(shown_kernels)
    figures: dict[str, dict[str, dict[str, Any]]] = {}
    for board in sorted(boards):
        compared = compare_kernels_on_board(
            board, KernelChoiceCriteria("general", {}), operation_file.operation, rows, lacks
        )
        figures[board] = {
            kernel: {
                operation.id: _measured_value_for_page_script(cell)
                for operation in operation_file.operation
                if (cell := compared.cells[kernel, operation.id]).band is not None
            }
            for kernel in compared.kernels
        }
    return {
        "boards": [{"id": board, "title": titles[board]} for board in sorted(boards)],
        "kernels": [
            {"id": matrix.kernel, "title": titles[matrix.kernel], "current": matrix.kernel in shown}
            for matrix in matrices
        ],
        "uses": list(operation_file.needs),
        "services": sorted({service for item in operation_file.operation for service in item.services}),
        "operations": [
            item.model_dump(include={"id", "title", "unit", "better", "services", "weights"})
            for item in operation_file.operation
        ],
        "figures": figures,
    }


def _measured_value_for_page_script(cell: OperationMeasuredValue) -> dict[str, Any]:
    """Returns one figure in the form that the page's script reads."""
    assert cell.band is not None
    return {
        "median": cell.band.median, "least": cell.band.smallest, "most": cell.band.largest,
        "known": not cell.may_code_placement_change_value,
    }  # fmt: skip
