"""A paper set against a run: what its report, its terminal tables and its JSON are all made from."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from rtoslab.analyses import ClaimVerdict, Value, joined_verdicts, judge_claims, values
from rtoslab.catalogue import Catalogue, PaperFolder, Setup
from rtoslab.papers.compare import Compared, compare
from rtoslab.papers.over_placements import in_each_placement, joined_figures, joined_values
from rtoslab.papers.setups import InSetup, but_for_length, stands_for
from rtoslab.papers.weights import weigh_programs, weight_values
from rtoslab.reference import WORD, StoredWeight
from rtoslab.results import Failed, Measured, PointId, Weight
from rtoslab.store import AnyResult, StoredPoint


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
    setups: tuple[InSetup, ...] = ()
    """The same in the paper's other set-ups, of which the run holds points."""

    @property
    def measured(self) -> list[Measured]:
        """Of the run, and of the references."""
        return [each.result for each in (*self.points, *self.beside) if isinstance(each.result, Measured)]


@dataclass(frozen=True, slots=True)
class _Weighed:
    """Programs that the paper weighs: those of kernels that are here, reference results of others, and what failed."""

    own: Sequence[Weight]
    lent: Sequence[Weight]
    unbuilt: Sequence[Failed]


def reproduce(
    catalogue: Catalogue,
    paper: PaperFolder,
    points: Sequence[StoredPoint],
    missing: Sequence[str] = (),
    beside: Sequence[StoredPoint] = (),
    lent_weights: Sequence[StoredWeight] = (),
) -> Reproduction:
    """Compares every figure and judges every statement. Raises ReportError, CatalogueError, PlanError.

    `beside` and `lent_weights` are reference results of kernels that are not here; a figure or verdict that rests on
    one says so. Of points in several placements a figure counts by its median, and a statement is judged in each.
    """
    own, unbuilt = weigh_programs(catalogue, paper, catalogue.kernels_here)
    lent = [each.weight for each in lent_weights if each.weight.point.kernel not in catalogue.kernels_here]
    weighed = _Weighed([each.weight for each in own], lent, unbuilt)
    places = [_in_one_placement(catalogue, paper, each, missing, beside, weighed) for each in in_each_placement(points)]
    first = places[0]
    if len(places) == 1:
        return first
    return replace(
        first,
        points=tuple(points),
        values=joined_values([each.values for each in places]),
        compared=joined_figures([each.compared for each in places]),
        verdicts=joined_verdicts([each.verdicts for each in places]),
        setups=tuple(_joined_setup(each) for each in zip(*(place.setups for place in places), strict=True)),
    )


def _joined_setup(places: Sequence[InSetup]) -> InSetup:
    return replace(
        places[0],
        run_ids=frozenset().union(*(each.run_ids for each in places)),
        compared=joined_figures([each.compared for each in places]),
        verdicts=joined_verdicts([each.verdicts for each in places]),
        values=joined_values([each.values for each in places]),
    )


def _in_one_placement(
    catalogue: Catalogue,
    paper: PaperFolder,
    points: Sequence[StoredPoint],
    missing: Sequence[str],
    beside: Sequence[StoredPoint],
    weighed: _Weighed,
) -> Reproduction:
    lent = frozenset([*_run_ids([each.result for each in beside]), *(each.run_id for each in weighed.lent)])
    theirs = (*(each.result.point.kernel for each in beside), *(each.point.kernel for each in weighed.lent))
    kernels = {*catalogue.kernels_here, *theirs}
    sizes = [value for each in (*weighed.own, *weighed.lent) for value in weight_values(each)]
    plain, others = _by_setup(paper, [each.result for each in (*points, *beside)])

    def told(results: Sequence[AnyResult]) -> tuple[list[Value], dict[int, Compared], tuple[ClaimVerdict, ...]]:
        measured = [each for each in results if isinstance(each, Measured)]
        found = [*values(measured), *sizes]
        verdicts = judge_claims(paper.claims, measured, kernels, sizes, paper.facts.resolution)
        compared = compare(paper, [*results, *weighed.unbuilt], found, kernels, lent)
        named = {each.point.kernel for each in measured if each.run_id in lent}
        return found, compared, tuple(_with_source(each, named) for each in verdicts)

    def in_setup(setup: Setup, own: Mapping[str, AnyResult]) -> InSetup:
        ours = frozenset(_run_ids(own.values()))
        found, compared, verdicts = told(_in_place_of(paper, plain, own))
        return InSetup(setup, ours, compared, verdicts, tuple(each for each in found if each.run_id in ours))

    found, compared, verdicts = told(plain)
    return Reproduction(
        paper,
        tuple(points),
        tuple(beside),
        tuple(found),
        compared,
        verdicts,
        tuple(missing),
        tuple(in_setup(setup, own) for setup, own in others),
    )


def _by_setup(
    paper: PaperFolder, results: Sequence[AnyResult]
) -> tuple[list[AnyResult], list[tuple[Setup, dict[str, AnyResult]]]]:
    """Results of the suites themselves, and those of each set-up by the point that they stand for (`but_for_length`).

    Of two that stand for one point the one with the version that the set-up names counts.
    """
    own: dict[str, dict[str, AnyResult]] = {each.id: {} for each in paper.facts.setup}
    plain = []
    # What is built as the suites build it comes first, so that a version takes its place.
    for each in sorted(results, key=lambda one: _is_version(paper, one.point)):
        meant = {setup.id: stands_for(paper, setup, each.point) for setup in paper.facts.setup}
        for name, point in meant.items():
            if point is not None:
                own[name][but_for_length(paper, point)] = each.model_copy(update={"point": point})
        if not any(meant.values()):
            plain.append(each)
    return plain, [(each, own[each.id]) for each in paper.facts.setup if own[each.id]]


def _is_version(paper: PaperFolder, point: PointId) -> bool:
    return any(point.kernel in each.instead.values() for each in paper.facts.setup)


def _in_place_of(paper: PaperFolder, plain: Sequence[AnyResult], own: Mapping[str, AnyResult]) -> list[AnyResult]:
    """What a set-up does not change, and what it does: also by a reference result that was measured for less long."""
    return [*(each for each in plain if but_for_length(paper, each.point) not in own), *own.values()]


def _run_ids(results: Iterable[AnyResult]) -> list[str]:
    return [each.run_id for each in results if isinstance(each, Measured)]


def _with_source(verdict: ClaimVerdict, lent: Collection[str]) -> ClaimVerdict:
    """Says of which kernels reference results were used."""
    claim = verdict.claim
    named = {*claim.needs, *(str(part["kernel"]) for part in (claim.where, *claim.of, *claim.at) if "kernel" in part)}
    used = sorted(named & set(lent))
    return replace(verdict, seen=f"{verdict.seen} [{', '.join(used)} {WORD}]") if used else verdict
