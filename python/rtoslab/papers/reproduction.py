"""Compares a paper with a run. The report, the terminal tables and the JSON are made from the result."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from rtoslab.analyses import ClaimVerdict, MeasuredValue, ValuesByCodePlacement, judge_claims, values_of_points
from rtoslab.catalogue import Catalogue, PaperFirmwareConfiguration, PaperFolder
from rtoslab.papers.absences import MissingValueReasonFinder
from rtoslab.papers.compare import ComparedFigure, compare_published_values_with_ours
from rtoslab.papers.in_setup import PaperSetupResults
from rtoslab.papers.names import reader_names
from rtoslab.papers.over_placements import add_values_for_missing_operations, join_values_over_code_placements
from rtoslab.papers.sources import (
    MeasuredValueOrigin,
    configuration_with_current_kernels,
    replace_results_of_paper_setup,
    sort_program_sizes_by_version,
    sort_results_by_version,
    value_origins_by_run_id,
)
from rtoslab.papers.weights import measure_minimal_program_sizes, program_size_values
from rtoslab.reference import StoredProgramSize
from rtoslab.results import FailedMeasurement, MeasuredPoint
from rtoslab.store import AnyResult, StoredMeasurementPoint


@dataclass(frozen=True)
class PaperReproduction:
    """A paper compared with a run: figures, verdicts, sources and set-ups."""

    paper: PaperFolder
    points: tuple[StoredMeasurementPoint, ...]
    reference_points: tuple[StoredMeasurementPoint, ...]
    """Reference results of kernels that the run does not have."""
    results: tuple[AnyResult, ...]
    """The results behind the figures and verdicts, under the paper's names of the kernels."""
    values: tuple[MeasuredValue, ...]
    compared: dict[int, ComparedFigure]
    """Keyed by id of the published row."""
    verdicts: tuple[ClaimVerdict, ...]
    sources: Mapping[str, MeasuredValueOrigin]
    """Keyed by run id: which version a value is of, and whether it is a reference result."""
    absences: MissingValueReasonFinder
    names: Mapping[str, str]
    """A value on an axis -> its name for a reader."""
    missing_benchmarks: tuple[str, ...] = ()
    """Benchmarks that the paper's suites name and this checkout does not have."""
    setups: tuple[PaperSetupResults, ...] = ()
    """The paper's other set-ups that have points."""
    today: PaperSetupResults | None = None
    """The comparison with today's versions of the kernels, where the authors' are the main ones."""

    @property
    def list_measured_points(self) -> list[MeasuredPoint]:
        """Returns the measured points of the run and of the reference results."""
        return [
            point.result for point in (*self.points, *self.reference_points) if isinstance(point.result, MeasuredPoint)
        ]


@dataclass(frozen=True)
class PaperResultsJudge:
    """Computes a paper's figures and verdicts from one set of results."""

    catalogue: Catalogue
    paper: PaperFolder
    kernels: Collection[str]
    sources: Mapping[str, MeasuredValueOrigin]
    reference_placements: Mapping[str, ValuesByCodePlacement] = field(default_factory=dict)

    def reader_names(self, results: Sequence[AnyResult]) -> dict[str, str]:
        """Returns readable names for kernels (with the version of these results), boards, benchmarks and series, by
        id."""
        return reader_names(self.catalogue, self.paper, results, self.sources)

    def compare_results_with_paper(
        self, results: Sequence[AnyResult], sizes: Sequence[MeasuredValue], unbuilt: Sequence[FailedMeasurement]
    ) -> tuple[list[MeasuredValue], dict[int, ComparedFigure], tuple[ClaimVerdict, ...], MissingValueReasonFinder]:
        """Returns our values, the compared figures, the verdicts on statements, and the reasons of missing values.
        `sizes` are values of program sizes, `unbuilt` the programs that could not be built."""
        measured = [result for result in results if isinstance(result, MeasuredPoint)]
        values_ = [
            *add_values_for_missing_operations(
                self.paper, join_values_over_code_placements(values_of_points(measured), self.reference_placements)
            ),
            *sizes,
        ]
        absences = MissingValueReasonFinder(self.paper, [*results, *unbuilt], self.kernels)
        compared = compare_published_values_with_ours(
            self.paper, [*results, *unbuilt], values_, self.kernels, self.sources
        )
        names = self.reader_names(results)
        verdicts = judge_claims(
            self.paper.claims,
            values_,
            self.paper.facts.resolution,
            absence=absences.find_missing_value_reason,
            failure=absences.find_failure_reason,
            names=names,
        )
        return values_, compared, tuple(verdicts), absences


def reproduce_paper(
    catalogue: Catalogue,
    paper: PaperFolder,
    points: Sequence[StoredMeasurementPoint],
    missing_benchmarks: Sequence[str] = (),
    reference_points: Sequence[StoredMeasurementPoint] = (),
    reference_weights: Sequence[StoredProgramSize] = (),
    reference_placements: Mapping[str, ValuesByCodePlacement] | None = None,
) -> PaperReproduction:
    """Compares every figure of a paper with a run and judges every statement.
    Raises ReportError, CatalogueError, PlanError. `reference_points` and `reference_weights` are reference results of
    kernels that are not here. A figure or verdict that uses one says so. `reference_placements` are values in further
    placements, by the run id of the first. A figure in several placements counts by its median, and a statement is
    judged in each.
    """
    own, unbuilt = measure_minimal_program_sizes(catalogue, paper, catalogue.buildable_kernels)
    lent = [weight for weight in reference_weights if weight.weight.point.kernel not in catalogue.buildable_kernels]
    sources = value_origins_by_run_id(paper, points, reference_points, own, lent)
    sorted_results = sort_results_by_version(paper, [point.result for point in (*points, *reference_points)])
    main_weights, todays_weights = sort_program_sizes_by_version(
        paper, [stored_weight.weight for stored_weight in (*own, *lent)]
    )
    sizes = [value for weight in main_weights for value in program_size_values(weight)]
    kernels = {*catalogue.buildable_kernels, *(item.point.kernel for item in (*sorted_results.main, *main_weights))}
    judge = PaperResultsJudge(catalogue, paper, kernels, sources, reference_placements or {})

    def results_in_paper_setup(
        setup: PaperFirmwareConfiguration,
        changed: Mapping[str, Sequence[AnyResult]],
        with_sizes: Sequence[MeasuredValue],
    ) -> PaperSetupResults:
        """Returns the figures and verdicts if the results in `changed` replace those of the suites."""
        ours = {
            result.run_id for results in changed.values() for result in results if isinstance(result, MeasuredPoint)
        }
        ours |= {value.run_id for value in with_sizes} - {size.run_id for size in sizes}
        results = replace_results_of_paper_setup(paper, sorted_results.main, changed)
        judged, compared, verdicts, _ = judge.compare_results_with_paper(results, with_sizes, unbuilt)
        own = tuple(value for value in judged if value.run_id in ours)
        return PaperSetupResults(setup, frozenset(ours), compared, verdicts, judge.reader_names(results), own)

    todays = configuration_with_current_kernels(paper, sorted_results, sources)
    todays_sizes = {weight.point.kernel: list(program_size_values(weight)) for weight in todays_weights}
    swapped = [size for size in sizes if size.point.kernel not in todays_sizes]
    swapped += [value for size in todays_sizes.values() for value in size]
    judged, compared, verdicts, absences = judge.compare_results_with_paper(sorted_results.main, sizes, unbuilt)
    return PaperReproduction(
        paper=paper,
        points=tuple(points),
        reference_points=tuple(reference_points),
        results=(*sorted_results.main, *unbuilt),
        values=tuple(judged),
        compared=compared,
        verdicts=verdicts,
        sources=sources,
        absences=absences,
        names=judge.reader_names(sorted_results.main),
        missing_benchmarks=tuple(missing_benchmarks),
        setups=tuple(
            results_in_paper_setup(item, sorted_results.setups[item.id], sizes)
            for item in paper.facts.setup
            if sorted_results.setups[item.id]
        ),
        today=None if todays is None else results_in_paper_setup(todays, sorted_results.today, swapped),
    )
