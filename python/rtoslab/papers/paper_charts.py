"""Redraws a paper's figures from our values. The paper's text has no numbers for them, so ours are shown alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from rtoslab.analyses import (
    CodePlacementValueRange,
    MeasuredValue,
    MeasuredValueRatio,
    convert_unit,
    cores_and_pinning_text,
    group_values_by_axes,
    select_values_by_coordinates,
)
from rtoslab.base import ReportError, count_with_noun
from rtoslab.catalogue import RedrawnPaperChart
from rtoslab.papers.footnotes import TableFootnotes
from rtoslab.papers.reproduction import PaperReproduction
from rtoslab.papers.sources import MeasuredValueOrigin
from rtoslab.reports import ChartData, Record, TableData


@dataclass(frozen=True, slots=True)
class _RedrawnChartValue:
    """A mark in a redrawn figure of a paper, with the values that it shows."""

    x: str
    series: tuple[str, ...]
    values: Sequence[MeasuredValue]
    heights: Sequence[CodePlacementValueRange | MeasuredValueRatio]

    @property
    def median(self) -> float:
        """Returns the median of the values that the mark shows."""
        return median(height.median for height in self.heights)

    @property
    def lowest(self) -> float:
        """Returns the lowest of the mark's values in any placement of the code."""
        return min(height.smallest for height in self.heights)

    @property
    def highest(self) -> float:
        """Returns the highest of the mark's values in any placement of the code."""
        return max(height.largest for height in self.heights)


def redraw_paper_figure(
    figure: RedrawnPaperChart, reproduction: PaperReproduction, own_values: Sequence[MeasuredValue]
) -> tuple[ChartData, TableData] | None:
    """Redraws a paper's figure from our values. Returns the chart and its values as a table, None if nothing of it was
    measured."""
    series = (figure.series,) if isinstance(figure.series, str) else figure.series
    chosen = select_values_by_coordinates(own_values, figure.where)
    marks = []
    for place, values in group_values_by_axes(chosen, (figure.x, *series), figure.join, f"{figure.title!r}").items():
        heights = [
            _percent_of_base_value(figure, value, own_values)
            if figure.percent_of
            else _value_range_in_unit(figure.unit, value)
            for value in values
        ]
        known = [height for height in heights if height is not None]
        if known:
            marks.append(_RedrawnChartValue(place[0], place[1:], values, known))
    if not marks:
        return None
    marks = _sort_chart_values_in_listed_order(figure, series, marks)
    rows = [_chart_value_as_data_row(figure, series, mark, reproduction) for mark in marks]
    rows += _published_values_as_chart_rows(figure, series, marks, reproduction)
    caption = f"{figure.title}. {figure.note}".strip()
    chart = ChartData(figure.kind, rows, caption, figure.x_title, figure.y_title, figure.log)
    return chart, _table_of_redrawn_chart_values(figure, series, marks, reproduction)


def _sort_chart_values_in_listed_order(
    figure: RedrawnPaperChart, series: Sequence[str], marks: Sequence[_RedrawnChartValue]
) -> list[_RedrawnChartValue]:
    """Returns a figure's marks in the order in which the figure lists names. Marks with unlisted names come last."""

    def position_of_name_on_chart_axis(axis: str, place: str) -> int:
        """Returns the position of a name in the figure's list for an axis."""
        listed = figure.where.get(axis)
        places = [str(label) for label in listed] if isinstance(listed, list | tuple) else []
        places = [*figure.labels] if not places and place in figure.labels else places
        return places.index(place) if place in places else len(places)

    return sorted(
        marks,
        key=lambda mark: (
            position_of_name_on_chart_axis(figure.x, mark.x),
            *(position_of_name_on_chart_axis(axis, place) for axis, place in zip(series, mark.series, strict=True)),
        ),
    )


def _chart_value_as_data_row(
    figure: RedrawnPaperChart, series: Sequence[str], mark: _RedrawnChartValue, reproduction: PaperReproduction
) -> dict[str, Any]:
    """Returns a mark as a row of the chart's data."""
    row: dict[str, Any] = {
        "x": float(mark.x)
        if figure.kind == "lines"
        else _axis_label(figure, figure.x, mark.values[0], reproduction.names),
        "series": _series_label(figure, series, mark, reproduction.names),
        "y": mark.median,
        "low": mark.lowest,
        "high": mark.highest,
        "text": _four_digit_number_text(mark.median),
    }
    for axis in ("kernel", "cores", "board"):
        if axis in series:
            row[axis] = _axis_label(figure, axis, mark.values[0], reproduction.names)
    return row


def _published_values_as_chart_rows(
    figure: RedrawnPaperChart,
    series: Sequence[str],
    marks: Sequence[_RedrawnChartValue],
    reproduction: PaperReproduction,
) -> list[dict[str, Any]]:
    """Returns the paper's printed figures as rows of the chart's data. Raises ReportError for one in another unit."""
    rows = []
    for printed in figure.printed:
        published = reproduction.paper.paper_values_by_row_id[printed.row]
        number = published.paper_value_as_number
        if number is None:
            continue
        value = convert_unit(number, published.unit, figure.unit, 1e6 * float(published.clock_mhz or 0))
        if value is None:
            raise ReportError(
                f"Row {printed.row} is in {published.unit}, but {figure.title!r} is in {figure.unit}; correct one "
                "of them."
            )
        mark = next((one for one in marks if (one.x, one.series) == (printed.x, printed.series)), None)
        if mark is not None:
            rows.append(
                {
                    **_chart_value_as_data_row(figure, series, mark, reproduction),
                    "y": value,
                    "low": value,
                    "high": value,
                    "text": "",
                    "published": True,
                }
            )
    return rows


def _series_label(
    figure: RedrawnPaperChart, series: Sequence[str], mark: _RedrawnChartValue, names: Mapping[str, str]
) -> str:
    """Returns the readable name of the series that a mark belongs to."""
    return ", ".join(_axis_label(figure, axis, mark.values[0], names) for axis in series)


def _value_range_in_unit(unit: str, value: MeasuredValue) -> CodePlacementValueRange | None:
    """Returns a value in a unit, with its range over placements of the code. None if it cannot be converted."""
    one = value.axis_value_in_unit(unit)
    if one is None:
        return None
    scale = one / value.value if value.value else 1.0
    return CodePlacementValueRange([scale * item for item in value.placement_band.values])


def _percent_of_base_value(
    figure: RedrawnPaperChart, value: MeasuredValue, values: Sequence[MeasuredValue]
) -> MeasuredValueRatio | None:
    """Returns a value in percent of its base value, which the figure's `percent_of` selects. None without a base."""
    axes = {"benchmark", "kernel", "board", "cores", "window_ms", "clock_mhz", "metric", "stat", *value.point.config}
    alike = {axis: value.coordinate_on_axis(axis) for axis in axes - set(figure.percent_of)}
    base = select_values_by_coordinates(values, {**alike, **figure.percent_of})
    if len(base) != 1 or not base[0].value:
        return None
    return (
        MeasuredValueRatio(100.0, 100.0, 100.0)
        if base[0] is value
        else value.placement_band.ratio_to(base[0].placement_band).divide_ratio_by_number(0.01)
    )


def _axis_label(figure: RedrawnPaperChart, axis: str, value: MeasuredValue, names: Mapping[str, str]) -> str:
    """Returns a readable name of a value's coordinate on an axis."""
    place = value.coordinate_on_axis(axis)
    if place in figure.labels:
        return figure.labels[place]
    if axis == "cores":
        return cores_and_pinning_text(value.point)
    return names.get(place, place)


def _table_of_redrawn_chart_values(
    figure: RedrawnPaperChart,
    series: Sequence[str],
    marks: Sequence[_RedrawnChartValue],
    reproduction: PaperReproduction,
) -> TableData:
    """Returns the values of a redrawn figure as a table, by mark and series. A cell without a value has the reason."""
    heads = list(dict.fromkeys(_series_label(figure, series, mark, reproduction.names) for mark in marks))
    axes = {_series_label(figure, series, mark, reproduction.names): mark.series for mark in marks}
    lines: dict[str, dict[str, _RedrawnChartValue]] = {}
    for mark in marks:
        lines.setdefault(mark.x, {})[_series_label(figure, series, mark, reproduction.names)] = mark
    notes = TableFootnotes()
    rows = []
    for x, cells in lines.items():
        first = next(iter(cells.values()))
        label = (
            f"{float(x):g}"
            if figure.kind == "lines"
            else _axis_label(figure, figure.x, first.values[0], reproduction.names)
        )
        row = [label]
        for head in heads:
            if head in cells:
                stand_in = cells[head].values[0].substitute_text
                row.append(
                    _chart_value_text_with_range(cells[head]) + (notes.add_footnote(stand_in) if stand_in else "")
                )
            else:
                place = {**figure.where, figure.x: x, **dict(zip(series, axes[head], strict=True))}
                row.append(f"n/a{notes.add_footnote(reproduction.absences.find_missing_value_reason(place))}")
        rows.append(row)
    note = " ".join(
        [
            *_sample_counts_note(marks),
            *kernel_version_notes_of_values(reproduction, [v for m in marks for v in m.values]),
            *notes.footnote_lines,
        ]
    )
    columns = (figure.x_title or figure.x, *(f">{name}" for name in heads))
    records = [_chart_value_as_csv_record(figure, series, mark, reproduction) for mark in marks]
    return TableData(f"{figure.title}: values, {figure.y_title}", columns, rows, note, records=records)


def _chart_value_text_with_range(mark: _RedrawnChartValue) -> str:
    """Returns the value of a mark with its range over placements, as text."""
    least, most = _four_digit_number_text(mark.lowest), _four_digit_number_text(mark.highest)
    return _four_digit_number_text(mark.median) + ("" if least == most else f" ({least} to {most})")


def _chart_value_as_csv_record(
    figure: RedrawnPaperChart, series: Sequence[str], mark: _RedrawnChartValue, reproduction: PaperReproduction
) -> Record:
    """Returns a mark as a row of numbers for the exported CSV."""
    value = mark.values[0]
    source = reproduction.sources.get(value.run_id)
    axes = dict.fromkeys((figure.x, *series, "metric", "stat"))
    axes.pop("kernel", None)
    return {
        "source": "here",
        **{axis: value.coordinate_on_axis(axis) for axis in axes},
        "value": mark.median,
        "low": mark.lowest,
        "high": mark.highest,
        "n": value.n,
        "unit": figure.unit,
        "kernel": value.point.kernel,
        "version": source.version if source else "",
        "flags": value_origin_notes(source),
        "note": value.substitute_text,
    }


def value_origin_notes(source: MeasuredValueOrigin | None) -> str:
    """Returns flags on where a value comes from, separated by `; `: a reference result, not the paper's version."""
    if source is None:
        return ""
    return "; ".join(
        ["reference"] * source.is_reference + ["not the paper's version"] * (not source.is_authors_version)
    )


def _sample_counts_note(marks: Sequence[_RedrawnChartValue]) -> list[str]:
    """Returns a sentence on the numbers of samples and placements behind a figure's marks."""
    counts = sorted({value.n for mark in marks for value in mark.values})
    places = sorted({len(value.placement_band.values) for mark in marks for value in mark.values})
    of = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
    where = f"{places[0]}" if len(places) == 1 else f"{places[0]} to {places[-1]}"
    if places == [1]:
        return [f"n = {of} for each value, in one placement of the code."]
    medians = f"medians over {where} placements of the code, with the smallest and the largest"
    return [f"n = {of} for each value; values are {medians}."]


def kernel_version_notes_of_values(reproduction: PaperReproduction, values: Sequence[MeasuredValue]) -> list[str]:
    """Returns sentences on the versions of the values, on reference results, and on assumed timing rules."""
    sources = {reproduction.sources[value.run_id] for value in values if value.run_id in reproduction.sources}
    kernels = dict.fromkeys(
        f"{reproduction.names.get(value.point.kernel, value.point.kernel)}"
        + (" (reference)" if reproduction.sources[value.run_id].is_reference else "")
        for value in values
        if value.run_id in reproduction.sources
    )
    sentences = [f"Versions: {', '.join(kernels)}."] if kernels else []
    assumed = sorted({rule for source in sources for rule in source.assumed})
    if assumed:
        rules = ", ".join(version.removeprefix("timing.") for version in assumed)
        sentences.append(
            f"Virtual boards, not silicon. They depend on {count_with_noun(len(assumed), 'assumed timing rule')}: "
            f"{rules}."
        )
    return sentences


def _four_digit_number_text(value: float) -> str:
    """Returns a number with four significant digits, or as a whole number from 1000 on."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:,.4g}"
