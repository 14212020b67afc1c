"""A paper set against a run: what its report, its terminal tables and its JSON are all made from."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from rtoslab.analyses import ClaimVerdict, Value, judge_claims, values
from rtoslab.catalogue import Catalogue, PaperFolder
from rtoslab.papers.compare import Compared, compare
from rtoslab.papers.weights import weights
from rtoslab.reference import WORD
from rtoslab.results import Measured
from rtoslab.store import StoredPoint


@dataclass(frozen=True)
class Reproduction:
    """The comparison, done."""

    paper: PaperFolder
    points: tuple[StoredPoint, ...]
    beside: tuple[StoredPoint, ...]
    """Reference results of kernels that the run does not hold."""
    values: tuple[Value, ...]
    compared: dict[int, Compared]
    """By id of the published row."""
    verdicts: tuple[ClaimVerdict, ...]
    missing: tuple[str, ...] = ()
    """Benchmarks that the paper's suites name and this checkout does not have."""


def reproduce(
    catalogue: Catalogue,
    paper: PaperFolder,
    points: Sequence[StoredPoint],
    missing: Sequence[str] = (),
    beside: Sequence[StoredPoint] = (),
) -> Reproduction:
    """Compares every figure and judges every statement. Raises ReportError, CatalogueError, BuildError.

    `beside` are reference results; a figure or verdict that rests on one says so.
    """
    results = [each.result for each in (*points, *beside)]
    lent = {each.result.point.kernel for each in beside}
    kernels = {*catalogue.kernels_here, *lent}
    measured = [each for each in results if isinstance(each, Measured)]
    weighed = weights(catalogue, paper)
    found = [*values(measured), *weighed]
    return Reproduction(
        paper,
        tuple(points),
        tuple(beside),
        tuple(found),
        compare(paper, results, found, kernels, lent),
        tuple(
            _with_source(each, lent)
            for each in judge_claims(paper.claims, measured, kernels, weighed, paper.facts.resolution)
        ),
        tuple(missing),
    )


def _with_source(verdict: ClaimVerdict, lent: Collection[str]) -> ClaimVerdict:
    """Says of which kernels reference results were used."""
    claim = verdict.claim
    named = {*claim.needs, *(str(part["kernel"]) for part in (claim.where, *claim.of, *claim.at) if "kernel" in part)}
    used = sorted(named & set(lent))
    return replace(verdict, seen=f"{verdict.seen} [{', '.join(used)} {WORD}]") if used else verdict
