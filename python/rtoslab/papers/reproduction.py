"""A paper set against a run: what its report, its terminal tables and its JSON are all made from."""

from collections.abc import Sequence
from dataclasses import dataclass

from rtoslab.analyses import ClaimVerdict, Value, judge_claims, values
from rtoslab.catalogue import Catalogue, PaperFolder
from rtoslab.papers.compare import Compared, compare
from rtoslab.papers.weights import weights
from rtoslab.results import Measured
from rtoslab.store import StoredPoint


@dataclass(frozen=True)
class Reproduction:
    """The comparison, done."""

    paper: PaperFolder
    points: tuple[StoredPoint, ...]
    values: tuple[Value, ...]
    compared: dict[int, Compared]
    """By id of the published row."""
    verdicts: tuple[ClaimVerdict, ...]
    missing: tuple[str, ...] = ()
    """Benchmarks that the paper's suites name and this checkout does not have."""


def reproduce(
    catalogue: Catalogue, paper: PaperFolder, points: Sequence[StoredPoint], missing: Sequence[str] = ()
) -> Reproduction:
    """Compares every figure and judges every statement. Raises ReportError, CatalogueError, BuildError."""
    results = [each.result for each in points]
    measured = [each for each in results if isinstance(each, Measured)]
    weighed = weights(catalogue, paper)
    found = [*values(measured), *weighed]
    return Reproduction(
        paper,
        tuple(points),
        tuple(found),
        compare(paper, results, found, catalogue.kernels_here),
        tuple(judge_claims(paper.claims, measured, catalogue.kernels_here, weighed, paper.facts.resolution)),
        tuple(missing),
    )
