"""Reads `papers/<key>/`: paper.toml, published.csv, claims.toml, slips.toml. Every error names file and row."""

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pydantic import ValidationError

from rtoslab.base import CatalogueError, StrictFileSchemaModel, UnknownNameError
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.catalogue.claim_schemas import ClaimFile, PaperClaim
from rtoslab.catalogue.paper_schemas import Paper, PaperMistake, PaperMistakesFile
from rtoslab.catalogue.strict_files import read_validated_toml
from rtoslab.catalogue.suites import MeasurementSuite
from rtoslab.intake import first_validation_problem, parse_exact_decimal, read_text


class PublishedValueRow(StrictFileSchemaModel):
    """A row of published.csv: a figure of a paper and, in the `lab_` columns, where to find our value of it."""

    id: int
    section: str
    kind: str
    kernel: str
    version: str
    board: str
    clock_mhz: str
    metric: str
    stat: str
    value: str
    unit: str
    note: str
    lab_benchmark: str
    """Empty: nothing of ours is to be beside it (a condition, a model, an ordering)."""
    lab_metric: str
    lab_stat: str
    lab_kernel: str
    lab_board: str
    lab_config: str
    """Further axes, `KEY=VALUE` separated by blanks."""

    @property
    def paper_value_as_number(self) -> float | None:
        """Returns the published figure as a number. None if it is a text or an ordering."""
        try:
            return float(parse_exact_decimal(self.value))
        except ValueError:
            return None

    @property
    def experiment_coordinates_of_our_value(self) -> dict[str, str]:
        """Returns the coordinates that select our value of this figure, such as benchmark, kernel and board."""
        axes = {
            "benchmark": self.lab_benchmark,
            "metric": self.lab_metric,
            "stat": self.lab_stat,
            "kernel": self.lab_kernel,
            "board": self.lab_board,
            "clock_mhz": self.clock_mhz,
            **{key: value for key, _, value in (part.partition("=") for part in self.lab_config.split())},
        }
        return {axis: required for axis, required in axes.items() if required}


@dataclass(frozen=True)
class PaperFolder:
    """A paper with the content of its folder."""

    key: str
    folder: Path
    facts: Paper
    suites: tuple[MeasurementSuite, ...]

    @cached_property
    def paper_values_by_row_id(self) -> Mapping[int, PublishedValueRow]:
        """Returns the paper's published figures (the rows of published.csv) by id, in the file's order."""
        path = self.folder / "published.csv"
        return parse_published_values_csv(read_text(path, "the published figures", CatalogueError), path)

    @cached_property
    def claims(self) -> tuple[PaperClaim, ...]:
        """Returns the paper's statements that are checked, from claims.toml."""
        return read_validated_toml(self.folder / "claims.toml", ClaimFile).claim

    @cached_property
    def known_mistakes_in_paper(self) -> tuple[PaperMistake, ...]:
        """Returns the mistakes and preconditions of the paper, from slips.toml."""
        return read_validated_toml(self.folder / "slips.toml", PaperMistakesFile).slip

    @property
    def numeric_paper_values_by_row_id(self) -> dict[int, float]:
        """Returns those published figures of the paper that are numbers, by row id."""
        return {
            ident: row.paper_value_as_number
            for ident, row in self.paper_values_by_row_id.items()
            if row.paper_value_as_number is not None
        }


def parse_published_values_csv(text: str, path: Path) -> dict[int, PublishedValueRow]:
    """Returns the rows of a `published.csv` by id. `path` is for errors. Raises CatalogueError naming file and line."""
    result: dict[int, PublishedValueRow] = {}
    try:
        rows = csv.DictReader(io.StringIO(text, newline=""), restkey="more", strict=True)
        for line, fields in enumerate(rows, start=2):
            row = _parse_published_value_row(path, line, fields)
            if row.id in result:
                raise CatalogueError(
                    f"{path}, line {line}: the id {row.id} is used twice; give one row another number."
                )
            result[row.id] = row
    except csv.Error as cause:
        raise CatalogueError(f"{path} cannot be read ({cause}); correct it.") from None
    return result


def read_papers(catalogue: Catalogue) -> dict[str, PaperFolder]:
    """Returns the papers by key: the folders under papers/ that have a paper.toml."""
    folders = {}
    for path in sorted((catalogue.root / "papers").glob("*/paper.toml")):
        suites = tuple(suite.facts for suite in catalogue.suites.values() if suite.folder == path.parent)
        folders[path.parent.name] = PaperFolder(path.parent.name, path.parent, read_validated_toml(path, Paper), suites)
    return folders


def find_paper(catalogue: Catalogue, name: str) -> PaperFolder:
    """Returns the paper with this key, or with the only key that begins so. Raises UnknownNameError."""
    known = read_papers(catalogue)
    short = [key for key in known if key.startswith(name.lower())]
    if name in known:
        return known[name]
    if name and len(short) == 1:
        return known[short[0]]
    raise UnknownNameError("paper", name, known)


def _parse_published_value_row(path: Path, line: int, fields: Mapping[str, str]) -> PublishedValueRow:
    """Returns one row of a `published.csv`. Raises CatalogueError naming file and line."""
    try:
        return PublishedValueRow.model_validate_strings(fields)
    except ValidationError as cause:
        raise CatalogueError(f"{path}, line {line}, {first_validation_problem(cause)}; correct it.") from None
