"""Figures of a user's own runs, which replace those that come with rtoslab, and are compared with each other."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from rtoslab.analyses import (
    group_measurements_over_code_placements,
    measurement_id_without_code_placement,
    results_depending_on_addresses,
)
from rtoslab.base import StoreError
from rtoslab.catalogue import Catalogue
from rtoslab.choose.answer import kernel_ranking_sentences
from rtoslab.choose.board_comparison import KernelComparison, compare_kernels_on_board
from rtoslab.choose.compared_operations import GENERAL, make_kernel_choice_criteria, read_compared_operations
from rtoslab.choose.document import kernel_comparison_table
from rtoslab.reference import StoredPointValues, make_stored_row_of_code_placements
from rtoslab.reports import ReportDocument, ReportSection, add_kernel_deviation_footnotes
from rtoslab.results import MeasuredPoint, PointId
from rtoslab.store import RunDirectory, StoredMeasurementPoint

_MEASURING_OPTIONS: Final = ("instrument", "samples", "placement")
"""Options of the measurement that do not change what is measured."""
_BY_DISTURBANCE: Final = ("probe", "counter", "pin")
"""Instruments, the one that costs nothing first."""


def add_measured_values_of_user_runs(
    runs: Sequence[Path], board: str, rows: Mapping[str, Iterable[StoredPointValues]]
) -> dict[str, list[StoredPointValues]]:
    """Returns the figures of a user's runs by kernel, followed by those that come with rtoslab. Raises StoreError for a
    folder that is no run, and for a run without a figure of the board.

    A kernel that only a run has is added. If a run has the benchmark of a row on its board with as many cores, its own
    figure replaces the one that comes with rtoslab.
    """
    points = {path: RunDirectory.open_run_directory(path).read_measured_points() for path in runs}
    for path, stored in points.items():
        if not any(isinstance(item.result, MeasuredPoint) and item.result.point.board == board for item in stored):
            raise StoreError(
                f"{path} contains no measured point on {board}, so it changes no figure; leave it out, or measure the "
                f"board by `rtoslab run --board {board}`."
            )
    own = value_rows_by_kernel([item for stored in points.values() for item in stored])
    merged_rows = {kernel: [*own.pop(kernel, []), *known] for kernel, known in rows.items()}
    return merged_rows | own


def value_rows_by_kernel(points: Sequence[StoredMeasurementPoint]) -> dict[str, list[StoredPointValues]]:
    """Returns the figures of measured points by kernel, each over all placements of the code."""
    by_run_id = {stored_point.result.run_id: stored_point for stored_point in points}
    groups = group_measurements_over_code_placements(
        stored_point.result for stored_point in points if isinstance(stored_point.result, MeasuredPoint)
    )
    bound = results_depending_on_addresses(points)
    own: dict[str, list[StoredPointValues]] = {}
    for group in sorted(groups, key=lambda group: _rank_of_instrument_intrusiveness(group[0].point)):
        point = measurement_id_without_code_placement(group[0].point)
        row = make_stored_row_of_code_placements(point, point.kernel, [by_run_id[item.run_id] for item in group], "")
        is_single = len(group) == 1 and id(group[0]) in bound
        own.setdefault(point.kernel, []).append(replace(row, single_placement=is_single))
    return own


def _rank_of_instrument_intrusiveness(point: PointId) -> int:
    """Returns the rank of a point's instrument by how much it disturbs, 0 for the probe, which does not."""
    instrument = point.config.get("instrument", _BY_DISTURBANCE[0])
    return _BY_DISTURBANCE.index(instrument) if instrument in _BY_DISTURBANCE else len(_BY_DISTURBANCE)


def kernel_comparisons_by_board(
    catalogue: Catalogue, points: Sequence[StoredMeasurementPoint]
) -> list[KernelComparison]:
    """Returns a comparison of kernels for each board on which two of the measured kernels have a figure of one
    operation. Benchmarks that were measured with several settings are left out."""
    known = read_compared_operations()
    question = make_kernel_choice_criteria(known, catalogue.port_contract_services, GENERAL)
    rows = value_rows_by_kernel(points)
    result = []
    for board in dict.fromkeys(row.stands_for.board for own in rows.values() for row in own):
        alike = _rows_of_benchmarks_with_one_config(rows, board)
        lacks = {
            name: catalogue.kernels[name].facts.reasons_by_missing_kernel_service()
            for name in alike
            if name in catalogue.kernels
        }
        compared = compare_kernels_on_board(board, question, known.operation, alike, lacks)
        shared = tuple(
            operation
            for operation in compared.operations
            if _count_kernels_with_measured_value(compared, operation.id) > 1
        )
        if shared:
            result.append(replace(compared, operations=shared))
    return result


def _count_kernels_with_measured_value(compared: KernelComparison, operation: str) -> int:
    """Returns how many of the compared kernels have a figure for an operation."""
    return sum(compared.cells[kernel, operation].band is not None for kernel in compared.kernels)


def _rows_of_benchmarks_with_one_config(
    rows: Mapping[str, Sequence[StoredPointValues]], board: str
) -> dict[str, list[StoredPointValues]]:
    """Returns the figures of those benchmarks that were measured with only one set of settings on a board."""
    configurations: dict[tuple[str, int], set[str]] = {}
    for own in rows.values():
        for row in own:
            if row.stands_for.board == board:
                plain = {key: value for key, value in row.stands_for.config.items() if key not in _MEASURING_OPTIONS}
                key = (row.stands_for.benchmark, row.stands_for.cores)
                configurations.setdefault(key, set()).add(repr(sorted(plain.items())))
    return {
        kernel: [
            row for row in own if len(configurations.get((row.stands_for.benchmark, row.stands_for.cores), ())) == 1
        ]
        for kernel, own in rows.items()
    }


def kernel_comparison_section(catalogue: Catalogue, points: Sequence[StoredMeasurementPoint]) -> ReportSection | None:
    """Returns the report section that compares the kernels of measured points. None if there is nothing to compare."""
    compared = kernel_comparisons_by_board(catalogue, points)
    if not compared:
        return None
    prose = tuple(
        " ".join(kernel_ranking_sentences(comparison, _kernel_and_board_titles_by_id(catalogue, comparison)))
        for comparison in compared
    )
    tables = tuple(
        kernel_comparison_table(
            comparison,
            _kernel_and_board_titles_by_id(catalogue, comparison),
            _comparison_table_title(comparison, compared),
        )
        for comparison in compared
    )
    return ReportSection("kernels", "Kernels compared", prose, (), tables)


def _comparison_table_title(comparison: KernelComparison, compared: Sequence[KernelComparison]) -> str:
    """Returns the title of the table of a comparison."""
    return f"Kernels compared, {comparison.board}" if len(compared) > 1 else "Kernels compared"


def _kernel_and_board_titles_by_id(catalogue: Catalogue, compared: KernelComparison) -> dict[str, str]:
    """Returns the titles of the compared kernels and the board, by id."""
    kernels = {
        name: catalogue.kernels[name].facts.title if name in catalogue.kernels else name for name in compared.kernels
    }
    board = catalogue.boards.get(compared.board)
    return {**kernels, compared.board: board.facts.title if board is not None else compared.board}


def with_kernel_comparison_section(
    catalogue: Catalogue, document: ReportDocument, points: Sequence[StoredMeasurementPoint]
) -> ReportDocument:
    """Returns the report with a section that compares its kernels. Without anything to compare, returns it
    unchanged."""
    section = kernel_comparison_section(catalogue, points)
    if section is None:
        return document
    leading = tuple(item for item in document.sections if item.leads)
    others = tuple(item for item in document.sections if not item.leads)
    measured = [point.result for point in points if isinstance(point.result, MeasuredPoint)]
    names = {entry.facts.title: name for name, entry in catalogue.kernels.items()}
    (marked,) = add_kernel_deviation_footnotes(
        replace(document, summary="", sections=(section,)), measured, names
    ).sections
    return replace(document, sections=(*leading, marked, *others))
