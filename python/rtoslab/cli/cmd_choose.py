"""`rtoslab choose`: which kernel for a board and a use, from figures that come with rtoslab."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click
from rich.table import Table

from rtoslab.base import EXIT_OK, PlanError, UnknownNameError, find_checkout_root
from rtoslab.catalogue import Catalogue, Kernel
from rtoslab.choose import (
    MARKS,
    OPERATION_COLUMN,
    ComparedOperation,
    ComparedOperationsFile,
    KernelBoardMatrix,
    KernelComparison,
    add_measured_values_of_user_runs,
    compare_kernels_on_board,
    kernel_choice_explorer_page,
    kernel_choice_report,
    kernel_ranking_sentences,
    kernel_title,
    make_kernel_choice_criteria,
    median_text_with_table_symbols,
    read_compared_operations,
    read_kernel_matrices,
)
from rtoslab.cli.cmd_report import write_report
from rtoslab.cli.console import PlainConsole
from rtoslab.cli.early_end import print_json_answer
from rtoslab.cli.names import (
    CatalogueNameParam,
    CatalogueNamesParam,
    file_format_by_suffix,
    report_file_option,
    split_names,
)
from rtoslab.parity import (
    ComparedMeasuredPoint,
    UnfairDifference,
    read_configuration_change_costs,
    unfair_differences_in_groups,
)
from rtoslab.reports import report_formats
from rtoslab.results import PointId


@click.command("choose")
@click.option(
    "--board", type=CatalogueNameParam("boards"), help="The board. Without it, -o writes a page with all boards."
)
@click.option(
    "--for",
    "use",
    default="general",
    show_default=True,
    metavar="USE",
    help="What the kernel is used for: general, control, queues, isr, low-ram or smp.",
)
@click.option("--need", "needs", multiple=True, metavar="SERVICE,...", help="Services that the kernel must have.")
@click.option(
    "--weights",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE.toml",
    help="File with a table [weights]: the weight of each operation.",
)
@click.option(
    "--kernel",
    "kernels",
    multiple=True,
    type=CatalogueNamesParam("kernels"),
    help="Compare only these kernels: one or a,b.",
)
@click.option(
    "--from",
    "runs",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="RUN",
    help="A run directory of yours. Its figures replace the included ones.",
)
@report_file_option("html", "md")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def choose_command(
    board: str | None,
    use: str,
    needs: tuple[str, ...],
    weights: Path | None,
    kernels: tuple[str, ...],
    runs: tuple[Path, ...],
    outputs: tuple[Path, ...],
    as_json: bool,
) -> int:
    """Compare the kernels on a BOARD: which one is best for a use, by how much, and what its disadvantages are.

    The figures come with rtoslab. They were measured on the virtual board, with all proofs, in several placements of
    the code. A difference that another placement can reverse does not count.
    """
    catalogue = Catalogue(find_checkout_root())
    known = read_compared_operations()
    if board is None:
        return _write_interactive_comparison_page(catalogue, known, outputs)
    board = catalogue.find_board(board).id
    services = tuple(name for need in needs for name in need.split(",") if name)
    question = make_kernel_choice_criteria(known, catalogue.port_contract_services, use, services, weights)
    here = {matrix.kernel: matrix for matrix in read_kernel_matrices(catalogue.root)}
    chosen = _kernels_to_compare(catalogue, kernels, here)
    rows = add_measured_values_of_user_runs(
        runs, board, {name: here[name].rows if name in here else () for name in chosen}
    )
    lacks = {name: _missing_services(catalogue, name) for name in rows}
    comparison = compare_kernels_on_board(board, question, known.operation, rows, lacks)
    if not comparison.kernels:
        raise PlanError(
            f"There are no figures of {', '.join(chosen) or 'any kernel'} on {board}; measure them with `rtoslab "
            f"kernel reference matrix --board {board}`."
        )
    names = {
        name: _kernel_title(catalogue, name, here[name].kernel_versions_on_board(board) if name in here else ())
        for name in comparison.kernels
    }
    names[board] = catalogue.find_board(board).facts.title
    unequal = _differences_in_build_conditions(catalogue, comparison, here)
    deviations = {
        name: _declared_port_contract_deviations(here.get(name))
        for name in comparison.kernels
        if _declared_port_contract_deviations(here.get(name))
    }
    document = kernel_choice_report(comparison, names, unequal, deviations)
    for output in outputs:
        write_report(report_formats()[file_format_by_suffix(output)](document), output)
    if as_json:
        print_json_answer(_kernel_comparison_as_json(comparison, names, unequal, deviations))
    else:
        _print_comparison(comparison, names, unequal, document.summary)
    return EXIT_OK


def _write_interactive_comparison_page(
    catalogue: Catalogue, known: ComparedOperationsFile, outputs: Sequence[Path]
) -> int:
    """Writes the HTML page on which a reader chooses board, kernels and operations. Returns the exit code. Raises
    PlanError for other formats."""
    pages = [path for path in outputs if file_format_by_suffix(path) == "html"]
    if not pages or len(pages) < len(outputs):
        raise PlanError("The comparison needs a board; add --board BOARD, or -o FILE.html for a page with all boards.")
    here = read_kernel_matrices(catalogue.root)
    if not here:
        raise PlanError("There are no figures of kernels; measure them with `rtoslab kernel reference matrix`.")
    titles = {matrix.kernel: _kernel_title(catalogue, matrix.kernel, matrix.kernel_versions) for matrix in here}
    titles |= {name: entry.facts.title for name, entry in catalogue.boards.items()}
    current = _kernels_to_compare(catalogue, (), {matrix.kernel: matrix for matrix in here})
    lacks = {matrix.kernel: _missing_services(catalogue, matrix.kernel) for matrix in here}
    for path in pages:
        write_report(kernel_choice_explorer_page(known, here, titles, current, lacks), path)
    return EXIT_OK


def _kernels_to_compare(
    catalogue: Catalogue, kernels: tuple[str, ...], here: Mapping[str, KernelBoardMatrix]
) -> list[str]:
    """Returns the kernels to compare: those that the user names, or one for each port. Raises UnknownNameError.

    By default those named as their port, for earlier versions have other names. `here`: the kernels that have figures.
    """
    requested = split_names(kernels, here)
    if requested is None:
        return [name for name in here if name in catalogue.kernels and catalogue.kernels[name].folder.name == name]
    for name in requested:
        if name not in here:
            raise UnknownNameError("kernel with figures", name, here)
    return list(requested)


def _missing_services(catalogue: Catalogue, kernel: str) -> dict[str, str]:
    """Returns the services that a kernel does not have, each with the reason."""
    return catalogue.kernels[kernel].facts.reasons_by_missing_kernel_service() if kernel in catalogue.kernels else {}


def _kernel_title(catalogue: Catalogue, kernel: str, versions: Sequence[str]) -> str:
    """Returns the kernel's title with the versions that its figures were measured with."""
    numbers = " or ".join(version.lstrip("vV") for version in versions)
    return f"{kernel_title(catalogue, kernel)} {numbers}".strip()


def _declared_port_contract_deviations(matrix: KernelBoardMatrix | None) -> dict[str, str]:
    """Returns the checks of the port contract that a kernel's port fails as declared, each with its observation and
    reason."""
    deviations: dict[str, str] = {}
    for row in matrix.rows if matrix is not None else ():
        deviations.update(row.deviations)
    return deviations


def _differences_in_build_conditions(
    catalogue: Catalogue, comparison: KernelComparison, here: Mapping[str, KernelBoardMatrix]
) -> list[UnfairDifference]:
    """Returns in which conditions (such as optimisation) the kernels' builds on the board differ, so that the
    comparison is unfair."""
    benchmark = comparison.operations[0].benchmark
    point = PointId(benchmark=benchmark, title="", kernel="", board=comparison.board, cores=1, window_ms=0, config={})
    here = {
        name: here[name] for name in comparison.kernels if name in here and comparison.board in here[name].manifests
    }
    titles = {name: catalogue.kernels[name].facts.title if name in catalogue.kernels else name for name in here}
    facts = {name: catalogue.kernels[name].facts for name in here if name in catalogue.kernels}
    states = settings_changed_by_kernels(facts, catalogue.find_board(comparison.board).facts.chip)
    subjects = [
        ComparedMeasuredPoint(
            titles[name],
            point.model_copy(update={"kernel": name}),
            dict(entry.manifests[comparison.board]),
            state=states.get(name, {}),
        )
        for name, entry in here.items()
    ]
    return (
        unfair_differences_in_groups(catalogue, [subjects], read_configuration_change_costs(catalogue.root))
        if len(subjects) > 1
        else []
    )


def settings_changed_by_kernels(kernels: Mapping[str, Kernel], chip: str) -> dict[str, dict[str, str | int]]:
    """Returns the settings of this chip that kernels change as they start (by kernel, then by name), for all kernels
    alike."""
    settings = {name for kernel in kernels.values() for name in kernel.sets.get(chip, {})}
    return {
        id_: {name: kernel.sets.get(chip, {}).get(name, "the board's own") for name in sorted(settings)}
        for id_, kernel in kernels.items()
    }


_LABEL_COLUMNS: Final = 30
_FIGURE_COLUMNS: Final = 11
"""The width of a figure with its marks and the gap after it."""


def _print_comparison(
    comparison: KernelComparison, names: Mapping[str, str], unequal: Sequence[UnfairDifference], summary: str
) -> None:
    """Prints the answer, the figures of all kernels, and in which conditions their builds differ. `names`: the kernels'
    titles."""
    console = PlainConsole()
    console.print(summary, markup=False)
    ordered = comparison.kernels_by_rank
    beside = max(2, (console.width - _LABEL_COLUMNS) // _FIGURE_COLUMNS)
    for first in range(0, len(ordered), beside):
        console.print(_kernel_operation_values_table(comparison, names, ordered[first : first + beside]))
    console.print(MARKS, markup=False)
    for unfairness in unequal:
        console.print(f"{unfairness.sentence} Its cost: {unfairness.unfair_difference_cost_text}.", markup=False)


def _kernel_operation_values_table(
    comparison: KernelComparison, names: Mapping[str, str], kernels: Sequence[str]
) -> Table:
    """Returns a terminal table of these kernels' figures, with one line for each operation."""
    table = Table(box=None, padding=(0, 1, 0, 0))
    table.add_column(OPERATION_COLUMN, min_width=_LABEL_COLUMNS - 1, no_wrap=True)
    for kernel in kernels:
        table.add_column(names[kernel], justify="right", width=_FIGURE_COLUMNS - 1)
    for operation in comparison.operations:
        best = comparison.best_kernels_for_operation(operation)
        cells = (
            median_text_with_table_symbols(comparison.kernel_operation_value(kernel, operation), is_best=kernel in best)
            for kernel in kernels
        )
        table.add_row(operation.title_with_unit, *cells)
    return table


def _kernel_comparison_as_json(
    comparison: KernelComparison,
    names: Mapping[str, str],
    unequal: Sequence[UnfairDifference],
    deviations: Mapping[str, Mapping[str, str]],
) -> dict[str, Any]:
    """Returns a comparison of kernels as a JSON object. `deviations`: from the port contract, by kernel."""
    return {
        "board": comparison.board,
        "use": comparison.question.use,
        "needs": list(comparison.question.needs),
        "answer": kernel_ranking_sentences(comparison, names),
        "kernels": {kernel: names[kernel] for kernel in comparison.kernels},
        "deviations": {kernel: dict(item) for kernel, item in deviations.items()},
        "ranking": [
            {
                "kernel": score.kernel,
                "ratio": score.ratio.value,
                "least": score.ratio.smallest,
                "most": score.ratio.largest,
            }
            for score in comparison.kernel_scores
        ],
        "operations": [_kernel_operation_values_as_json(comparison, operation) for operation in comparison.operations],
        "unequal": [
            {
                "what": unfairness.concept.id,
                "sentence": unfairness.sentence,
                "cost": unfairness.unfair_difference_cost_text,
            }
            for unfairness in unequal
        ],
    }


def _kernel_operation_values_as_json(comparison: KernelComparison, operation: ComparedOperation) -> dict[str, Any]:
    """Returns the figures of all kernels for one operation as a JSON object."""
    figures: dict[str, dict[str, Any]] = {}
    for kernel in comparison.kernels:
        cell = comparison.kernel_operation_value(kernel, operation)
        if cell.band is None:
            figures[kernel] = {"reason": cell.reason}
        else:
            figures[kernel] = {
                "median": cell.band.median, "least": cell.band.smallest, "most": cell.band.largest,
                "placements": len(cell.band.values), "one_of_many": cell.may_code_placement_change_value, "n": cell.n,
                "clock_hz": cell.clock_hz,
            }  # fmt: skip
    return {
        "id": operation.id,
        "title": operation.title,
        "unit": operation.unit,
        "better": operation.better,
        "best": list(comparison.best_kernels_for_operation(operation)),
        "figures": figures,
    }
