"""Checks that the files of a paper's folder fit each other and the catalogue, before anything is measured for it."""

from collections.abc import Iterator, Mapping

from rtoslab.base import CatalogueError
from rtoslab.catalogue import Catalogue, PaperFolder, PublishedValueRow
from rtoslab.papers.arithmetic import evaluate_expression

_OF_A_POINT = frozenset({"throughput", "heap", "footprint"})
"""Metrics of a point besides those of its benchmark's series."""


def require_consistent_paper_folder(catalogue: Catalogue, paper: PaperFolder) -> None:
    """Raises CatalogueError, naming file and row, if the files of a paper's folder do not fit each other or the
    catalogue."""
    for file, what, rows in _references_to_published_rows(paper):
        for ident in rows:
            if ident not in paper.paper_values_by_row_id:
                raise CatalogueError(
                    f"{paper.folder / file}, {what}, names row {ident}, which published.csv does not have; correct one "
                    "of them."
                )
    for row in paper.paper_values_by_row_id.values():
        if row.lab_benchmark:
            _require_known_columns(catalogue, paper, row)
    for file, what, places in _axis_values_named_in_paper_files(paper):
        for place in places:
            _require_known_names(catalogue, paper, f"{paper.folder / file}, {what}", place)
    for slip in paper.known_mistakes_in_paper:
        if slip.computed:
            evaluate_expression(slip.computed, paper.numeric_paper_values_by_row_id)


def _axis_values_named_in_paper_files(paper: PaperFolder) -> Iterator[tuple[str, str, list[Mapping[str, object]]]]:
    """Yields the coordinates of our values that a paper's files name: the file, the figure or statement, the
    coordinates."""
    for part in paper.facts.part:
        for figure in part.figure:
            yield "paper.toml", f"figure {figure.title!r}", [figure.where]
    for claim in paper.claims:
        yield "claims.toml", f"claim {claim.id}", [claim.where, claim.over, *claim.of, *claim.cases]


def _require_known_names(catalogue: Catalogue, paper: PaperFolder, where: str, place: Mapping[str, object]) -> None:
    """Raises CatalogueError if coordinates name a kernel, board or benchmark that does not exist. `where` is the place
    in the file."""
    for axis, known in (
        ("kernel", tuple(paper.facts.kernels)),
        ("board", tuple(catalogue.boards)),
        ("benchmark", tuple(catalogue.benchmarks)),
    ):
        named = place.get(axis, ())
        for name in named if isinstance(named, list | tuple) else (named,):
            if name not in known:
                raise CatalogueError(f"{where}: there is no {axis} {name!r}; choose one of {', '.join(known)}.")


def _references_to_published_rows(paper: PaperFolder) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """Yields the rows of published.csv that a paper's files name: the file, the table, statement or slip, the row
    ids."""
    for part in paper.facts.part:
        for table in part.table:
            yield "paper.toml", f"table {table.title!r}", table.rows
    for claim in paper.claims:
        yield "claims.toml", f"claim {claim.id}", claim.rows
    for slip in paper.known_mistakes_in_paper:
        yield "slips.toml", f"slip {slip.id}", slip.rows


def _require_known_columns(catalogue: Catalogue, paper: PaperFolder, row: PublishedValueRow) -> None:
    """Raises CatalogueError if a row of published.csv names an unknown board, kernel or metric. A missing benchmark is
    no error: the report says `not yet measured`."""
    where = f"{paper.folder / 'published.csv'}, row {row.id}"
    for column, name, known in (
        ("lab_board", row.lab_board, tuple(catalogue.boards)),
        ("lab_kernel", row.lab_kernel, tuple(paper.facts.kernels)),
    ):
        if name not in known:
            raise CatalogueError(f"{where}: there is no {column} {name!r}; choose one of {', '.join(known)}.")
    if row.lab_benchmark not in catalogue.benchmarks:
        return
    benchmark = catalogue.benchmarks[row.lab_benchmark].facts
    series = benchmark.latency_series_ids[1:]
    is_known = any(f"{row.lab_metric}.".startswith(f"{item}.") for item in (*series, *_OF_A_POINT))
    if benchmark.kind == "latency" and not is_known:
        raise CatalogueError(
            f"{where}: {row.lab_benchmark} has no lab_metric {row.lab_metric!r}; choose one of {', '.join(series)}."
        )
