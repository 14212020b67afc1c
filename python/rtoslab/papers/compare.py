"""Compares each published figure with our value of it, or gives the reason why there is none."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from rtoslab.analyses import CodePlacementValueRange, MeasuredValue, convert_unit, select_values_by_coordinates
from rtoslab.base import ReportError
from rtoslab.catalogue import PaperFolder, PublishedValueRow
from rtoslab.papers.absences import does_result_match_experiment_axes
from rtoslab.papers.sources import MeasuredValueOrigin
from rtoslab.results import FailedMeasurement, MeasuredPoint, NotApplicableMeasurement
from rtoslab.store import AnyResult

State = Literal["measured", "reference", "failed", "n/a", "not yet measured", "bring your own"]


@dataclass(frozen=True, slots=True)
class ComparedFigure:
    """A published figure of a paper and our value of it."""

    published: PublishedValueRow
    state: State
    our_value: float | None = None
    """Our value in the published unit. Of several placements the median."""
    value: MeasuredValue | None = None
    band: CodePlacementValueRange | None = None
    """Our value by placement, where there are several."""
    reason: str = ""
    no_ratio: str = ""
    """Why a ratio would say nothing: what is wrong with the printed figure."""
    deviates: bool = False
    """Whether the kernel deviates from the port contract, as it declares."""
    source: MeasuredValueOrigin | None = None
    """Where our value comes from. None without a value, or for the size of a program."""

    @property
    def ratio_to_paper(self) -> float | None:
        """Returns our value divided by the paper's. None if one of them is missing, or if the ratio would be
        meaningless."""
        number = self._number_published_in_paper
        return self.our_value / number if self.our_value is not None and number else None

    @property
    def ratio_range_over_code_placements(self) -> tuple[float, float] | None:
        """Returns the smallest and the largest ratio over the placements of the code. None for one placement."""
        number = self._number_published_in_paper
        return (self.band.smallest / number, self.band.largest / number) if self.band is not None and number else None

    @property
    def _number_published_in_paper(self) -> float | None:
        """Returns the paper's number. None if it is no number, or if a ratio to it would be meaningless."""
        return None if self.no_ratio else self.published.paper_value_as_number


def compare_published_values_with_ours(
    paper: PaperFolder,
    stored: Sequence[AnyResult],
    values: Sequence[MeasuredValue],
    kernels: Collection[str],
    sources: Mapping[str, MeasuredValueOrigin],
) -> dict[int, ComparedFigure]:
    """Compares each published figure of a paper with our value of it. Returns the comparisons by row id."""
    deviating_runs = {result.run_id for result in stored if isinstance(result, MeasuredPoint) and result.deviations}
    senseless = {row: slip.says for slip in paper.known_mistakes_in_paper if slip.no_ratio for row in slip.rows}
    return {
        row.id: replace(
            _add_provenance_of_measured_value(
                _compare_published_value(paper, row, values, stored, kernels), sources, deviating_runs
            ),
            no_ratio=senseless.get(row.id, ""),
        )
        for row in paper.paper_values_by_row_id.values()
        if row.lab_benchmark
    }


def _text_of_settings_that_differ(fits: Sequence[MeasuredValue]) -> str:
    """Returns the settings in which several values for one published figure differ, as the end of an error sentence."""
    axes = dict.fromkeys(["cores", "window_ms", *(key for fit in fits for key in fit.point.config)])
    places = {axis: list(dict.fromkeys(fit.coordinate_on_axis(axis) for fit in fits)) for axis in axes}
    differing = [
        f"{axis}={' or '.join(axis_values)}"
        for axis, axis_values in places.items()
        if len(axis_values) > 1 and all(axis_values)
    ]
    return f": {', '.join(differing)}" if differing else ""


def _add_provenance_of_measured_value(
    compared: ComparedFigure, sources: Mapping[str, MeasuredValueOrigin], deviating_runs: Collection[str]
) -> ComparedFigure:
    """Returns the compared figure with the source of our value. `sources` are by run id. `deviating_runs` are the runs
    of kernels that deviate from the port contract."""
    if compared.value is None:
        return compared
    source = sources.get(compared.value.run_id)
    state: State = "reference" if source is not None and source.is_reference else compared.state
    return replace(compared, state=state, deviates=compared.value.run_id in deviating_runs, source=source)


def _compare_published_value(
    paper: PaperFolder,
    row: PublishedValueRow,
    values: Sequence[MeasuredValue],
    stored: Sequence[AnyResult],
    kernels: Collection[str],
) -> ComparedFigure:
    """Compares one published figure with our value, or gives the reason why there is none. Raises ReportError if
    several values fit."""
    if row.lab_kernel not in kernels:
        name = paper.facts.kernels.get(row.lab_kernel, row.kernel)
        why = f"the sources of {name} were not added (`rtoslab kernel tree add`), and it has no reference result"
        return ComparedFigure(row, "bring your own", reason=why)
    fits = select_values_by_coordinates(values, row.experiment_coordinates_of_our_value)
    if len(fits) > 1:
        where = ", ".join(f"{axis} = {required}" for axis, required in row.experiment_coordinates_of_our_value.items())
        place = f"row {row.id} of {paper.folder / 'published.csv'} ({where})"
        raise ReportError(
            f"{len(fits)} values match {place}; make lab_config more specific{_text_of_settings_that_differ(fits)}."
        )
    if not fits:
        return _comparison_without_our_measurement(row, stored)
    here = fits[0].axis_value_in_unit(row.unit)
    if here is None:
        place = f"Row {row.id} of {paper.folder / 'published.csv'}"
        raise ReportError(f"{place} is in {row.unit}, but our value is in {fits[0].unit}; choose another metric.")
    band = None
    if fits[0].band is not None:
        numbers = [convert_unit(value, fits[0].unit, row.unit, fits[0].clock_hz) for value in fits[0].band.values]
        band = CodePlacementValueRange([number for number in numbers if number is not None])
    return ComparedFigure(row, "measured", here, fits[0], band)


def _comparison_without_our_measurement(row: PublishedValueRow, stored: Sequence[AnyResult]) -> ComparedFigure:
    """Returns a published figure for which we have no value, with the reason."""
    for result in stored:
        if not does_result_match_experiment_axes(result, row.experiment_coordinates_of_our_value):
            continue
        if isinstance(result, FailedMeasurement):
            return ComparedFigure(row, "failed", reason=f"{result.stage}: {result.message}")
        if isinstance(result, NotApplicableMeasurement):
            return ComparedFigure(row, "n/a", reason=result.reason)
    where = f" with {row.lab_config}" if row.lab_config else ""
    return ComparedFigure(
        row, "not yet measured", reason=f"the run has no {row.lab_metric or row.lab_benchmark}{where}"
    )
