"""A paper set against a run: what its report, its terminal tables and its JSON are all made from."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from rtoslab.analyses import ClaimVerdict, PlacedValues, Value, judge_claims, point_values
from rtoslab.catalogue import Catalogue, PaperFolder, Setup
from rtoslab.papers.absences import Absences
from rtoslab.papers.compare import ComparedRow, compare
from rtoslab.papers.in_setup import InSetup
from rtoslab.papers.names import names_of
from rtoslab.papers.over_placements import join_placements, with_substitutes
from rtoslab.papers.sources import Source, in_place_of, sort_results, sort_weights, sources_of, todays_setup
from rtoslab.papers.weights import weigh_programs, weight_values
from rtoslab.reference import StoredWeight
from rtoslab.results import Failed, MeasuredPoint
from rtoslab.store import AnyResult, StoredPoint


@dataclass(frozen=True)
class Reproduction:
    """The comparison, done."""

    paper: PaperFolder
    points: tuple[StoredPoint, ...]
    beside: tuple[StoredPoint, ...]
    """Reference results of kernels that the run does not hold."""
    results: tuple[AnyResult, ...]
    """What the paper's figures and statements are judged by, under the kernels' names as the paper has them."""
    values: tuple[Value, ...]
    compared: dict[int, ComparedRow]
    """Keyed by id of the published row."""
    verdicts: tuple[ClaimVerdict, ...]
    sources: Mapping[str, Source]
    """Keyed by run id: which version a value is of, and whether it is a reference result."""
    absences: Absences
    names: Mapping[str, str]
    """A place on an axis -> what a reader calls it."""
    missing: tuple[str, ...] = ()
    """Benchmarks that the paper's suites name and this checkout does not have."""
    setups: tuple[InSetup, ...] = ()
    """The same in the paper's other set-ups, of which there are points."""
    today: InSetup | None = None
    """The same with the kernels' versions of today, where the authors' are the main ones."""

    @property
    def measured_results(self) -> list[MeasuredPoint]:
        """Returns the results of the run, and of the references."""
        return [point.result for point in (*self.points, *self.beside) if isinstance(point.result, MeasuredPoint)]


@dataclass(frozen=True)
class Judge:
    """The inputs by which the figures and statements of one set of results are judged."""

    catalogue: Catalogue
    paper: PaperFolder
    kernels: Collection[str]
    sources: Mapping[str, Source]
    further: Mapping[str, PlacedValues] = field(default_factory=dict)

    def names(self, results: Sequence[AnyResult]) -> dict[str, str]:
        """Returns a reader's names. A kernel's has the version that these results are of."""
        return names_of(self.catalogue, self.paper, results, self.sources)

    def judge(
        self, results: Sequence[AnyResult], sizes: Sequence[Value], unbuilt: Sequence[Failed]
    ) -> tuple[list[Value], dict[int, ComparedRow], tuple[ClaimVerdict, ...], Absences]:
        """Returns values, figures and verdicts, and what says why a value is not there."""
        measured = [result for result in results if isinstance(result, MeasuredPoint)]
        values_ = [*with_substitutes(self.paper, join_placements(point_values(measured), self.further)), *sizes]
        absences = Absences(self.paper, [*results, *unbuilt], self.kernels)
        compared = compare(self.paper, [*results, *unbuilt], values_, self.kernels, self.sources)
        names = self.names(results)
        verdicts = judge_claims(
            self.paper.claims, values_, self.paper.facts.resolution, absence=absences.why, names=names
        )
        return values_, compared, tuple(verdicts), absences


def reproduce(
    catalogue: Catalogue,
    paper: PaperFolder,
    points: Sequence[StoredPoint],
    missing: Sequence[str] = (),
    beside: Sequence[StoredPoint] = (),
    lent_weights: Sequence[StoredWeight] = (),
    further: Mapping[str, PlacedValues] | None = None,
) -> Reproduction:
    """Compares every figure and judges every statement. Raises ReportError, CatalogueError, PlanError.

    `beside` and `lent_weights` are reference results of kernels that are not here. A figure or verdict that rests on
    one says so. `further` are values in further placements, by the run id of the first. A figure in several placements
    counts by its median, and a statement is judged in each.
    """
    own, unbuilt = weigh_programs(catalogue, paper, catalogue.buildable_kernels)
    lent = [weight for weight in lent_weights if weight.weight.point.kernel not in catalogue.buildable_kernels]
    sources = sources_of(paper, points, beside, own, lent)
    sorted_results = sort_results(paper, [point.result for point in (*points, *beside)])
    main_weights, todays_weights = sort_weights(paper, [stored_weight.weight for stored_weight in (*own, *lent)])
    sizes = [value for weight in main_weights for value in weight_values(weight)]
    kernels = {*catalogue.buildable_kernels, *(item.point.kernel for item in (*sorted_results.main, *main_weights))}
    judge = Judge(catalogue, paper, kernels, sources, further or {})

    def in_setup(setup: Setup, changed: Mapping[str, Sequence[AnyResult]], with_sizes: Sequence[Value]) -> InSetup:
        ours = {
            result.run_id for results in changed.values() for result in results if isinstance(result, MeasuredPoint)
        }
        ours |= {value.run_id for value in with_sizes} - {size.run_id for size in sizes}
        results = in_place_of(paper, sorted_results.main, changed)
        judged, compared, verdicts, _ = judge.judge(results, with_sizes, unbuilt)
        own = tuple(value for value in judged if value.run_id in ours)
        return InSetup(setup, frozenset(ours), compared, verdicts, judge.names(results), own)

    todays = todays_setup(paper, sorted_results, sources)
    todays_sizes = {weight.point.kernel: list(weight_values(weight)) for weight in todays_weights}
    swapped = [size for size in sizes if size.point.kernel not in todays_sizes]
    swapped += [value for size in todays_sizes.values() for value in size]
    judged, compared, verdicts, absences = judge.judge(sorted_results.main, sizes, unbuilt)
    return Reproduction(
        paper=paper,
        points=tuple(points),
        beside=tuple(beside),
        results=(*sorted_results.main, *unbuilt),
        values=tuple(judged),
        compared=compared,
        verdicts=verdicts,
        sources=sources,
        absences=absences,
        names=judge.names(sorted_results.main),
        missing=tuple(missing),
        setups=tuple(
            in_setup(item, sorted_results.setups[item.id], sizes)
            for item in paper.facts.setup
            if sorted_results.setups[item.id]
        ),
        today=None if todays is None else in_setup(todays, sorted_results.today, swapped),
    )
