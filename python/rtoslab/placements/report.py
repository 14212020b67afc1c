"""The report of studies of placements, and the studies as JSON."""

from collections.abc import Sequence
from typing import Any

from rtoslab.analyses import CodePlacementValueRange
from rtoslab.base import count_with_noun
from rtoslab.placements.moved_functions import FunctionInCodePlacements, MeanCyclesAtCacheLineOffset
from rtoslab.placements.study import LEAST_MOVED, CodePlacementStudy
from rtoslab.reports import ReportDocument, ReportSection, TableData

SHOWN_FUNCTIONS = 12
EXPLAINS = 0.5
"""From this share of a function's spread on, the report says that its own place explains it."""


def code_placement_study_report(studies: Sequence[CodePlacementStudy]) -> ReportDocument:
    """Returns the report on how the placement of the code changes the figures of a benchmark."""
    first = studies[0].point
    sections = [
        section
        for study in studies
        for section in (_code_placement_values_report_section(study), _moved_functions_section(study))
    ]
    return ReportDocument(
        title=f"{first.title} in {count_with_noun(len(studies[0].placements), 'placement')}",
        subtitle=" · ".join(
            [
                first.title,
                first.kernel,
                first.board,
                count_with_noun(first.cores, "core"),
                *_configuration_of_all_studies(studies),
            ]
        ),
        summary=" ".join(
            _value_range_sentence(name, band) for study in studies for name, band in list(study.bands.items())[:1]
        ),
        sections=tuple(sections),
    )


def _configuration_of_all_studies(studies: Sequence[CodePlacementStudy]) -> list[str]:
    """Returns the configuration that all studies have in common, as texts `NAME=VALUE`."""
    shared = set.intersection(*(set(study.point.config.items()) for study in studies))
    return [f"{key}={value}" for key, value in sorted(shared)]


def _value_range_sentence(name: str, band: CodePlacementValueRange) -> str:
    """Returns a sentence on a figure's median and range over all placements. `name`: the figure's."""
    placements = count_with_noun(len(band.values), "placement")
    if not band.range_width:
        return f"{name}: {band.median:,.2f} in each of {placements}, so the placement has no effect."
    return (
        f"{name}: median {band.median:,.2f} cycles, band {band.smallest:,.2f} to {band.largest:,.2f} "
        f"({band.range_width_percent:.2f} %) over {placements}."
    )


def _code_placement_values_report_section(study: CodePlacementStudy) -> ReportSection:
    """Returns the report section on the figures of one benchmark in each placement of the code."""
    rows = [
        [
            name,
            *(f"{value:,.2f}" for value in (band.median, band.smallest, band.largest)),
            f"{band.range_width_percent:.2f} %",
        ]
        for name, band in study.bands.items()
    ]
    columns = ("figure", ">median", ">least", ">most", ">band")
    tables = [TableData("Over all placements, in cycles", columns, rows)]
    for name, band in list(study.bands.items())[:1]:
        item = [
            [str(number), f"{value:,.2f}", f"{value - band.median:+,.2f}"]
            for number, value in zip(study.placements, band.values, strict=True)
        ]
        tables.append(TableData(f"{name}, by placement", ("placement", ">cycles", ">to median"), item))
    prose = ("Placement 0 is the linker's own order. The instructions are the same in all placements.",)
    return ReportSection(
        f"figures{_section_id_suffix_of_instrument(study)}",
        f"Figures{_instrument_title_suffix(study)}",
        prose,
        (),
        tables,
    )


def _moved_functions_section(study: CodePlacementStudy) -> ReportSection:
    """Returns the report section on the functions whose cycles change with the placement of the code."""
    title, ident = (
        f"Functions whose cycles changed{_instrument_title_suffix(study)}",
        f"functions{_section_id_suffix_of_instrument(study)}",
    )
    if not study.functions:
        return ReportSection(
            ident, title, [f"No function's own cycles changed by {LEAST_MOVED} or more per {study.unit}."]
        )
    moved = study.functions[:SHOWN_FUNCTIONS]
    rows = [
        [
            function.name,
            f"{function.cycle_range_over_code_placements:,.2f}",
            _share_as_text(function.correlation_with_benchmark_value),
            _share_as_text(function.variance_explained_by_cache_line_offset),
            _first_cache_line_offset_text(function.mean_cycles_by_cache_line_offset[:1]),
            _first_cache_line_offset_text(function.mean_cycles_by_cache_line_offset[-1:]),
        ]
        for function in moved
    ]
    columns = ("function", ">moved", ">r", ">own", ">best at", ">worst at")
    rest = len(study.functions) - len(moved)
    note = f"{rest} more functions changed less." if rest > 0 else ""
    table = TableData(f"Own cycles per {study.unit}, largest change first", columns, rows, note)
    return ReportSection(ident, title, _functions_table_sentences(study), (), [table])


def _functions_table_sentences(study: CodePlacementStudy) -> list[str]:
    """Returns sentences that explain the table of functions whose cycles change with the placement of the code."""
    own = [
        function.name
        for function in study.functions
        if (function.variance_explained_by_cache_line_offset or 0.0) >= EXPLAINS
    ]
    text = (
        f"moved: largest minus smallest value. r: correlation with all cycles per {study.unit}. own: the share of the "
        "function's variance that its own address within a line explains. best at, worst at: the address modulo the "
        f"line of {study.line_bytes} bytes, with the mean cycles there."
    )
    if own:
        return [
            text,
            (f"The function's own address explains half or more of the change: {', '.join(own[:SHOWN_FUNCTIONS])}."),
        ]
    return [
        text,
        (
            "No function's own address explains half of its change. The cause is the caches or buffers that "
            "the functions share."
        ),
    ]


def _section_id_suffix_of_instrument(study: CodePlacementStudy) -> str:
    """Returns the instrument as the ending of a section's id. Empty for a benchmark that counts."""
    instrument = study.point.config.get("instrument", "")
    return f"-{instrument}" if instrument else ""


def _instrument_title_suffix(study: CodePlacementStudy) -> str:
    """Returns the instrument as the ending of a section's title. Empty for a benchmark that counts."""
    instrument = study.point.config.get("instrument", "")
    return f", by {instrument}" if instrument else ""


def _share_as_text(value: float | None) -> str:
    """Returns a share as text. `n/a` for None."""
    return "n/a" if value is None else f"{value:.2f}"


def _first_cache_line_offset_text(places: Sequence[MeanCyclesAtCacheLineOffset]) -> str:
    """Returns the first offset with its mean cycles, as text. `n/a` if there is none."""
    return f"{places[0].offset}: {places[0].cycles:,.2f}" if places else "n/a"


def code_placement_studies_as_json(studies: Sequence[CodePlacementStudy]) -> dict[str, Any]:
    """Returns every figure in every placement, and every function whose cycles changed, as a JSON object."""
    return {
        "studies": [
            {
                "point": study.point.model_dump(mode="json"),
                "placements": list(study.placements),
                "run_ids": list(study.run_ids),
                "deviations": dict(study.deviations),
                "line_bytes": study.line_bytes,
                "figures": {name: _value_range_as_json(band) for name, band in study.bands.items()},
                "functions": [_function_as_json(one) for one in study.functions],
            }
            for study in studies
        ]
    }


def _value_range_as_json(band: CodePlacementValueRange) -> dict[str, Any]:
    """Returns a figure's value in each placement, and their range, as a JSON object."""
    return {
        "cycles": list(band.values),
        "median": band.median,
        "least": band.smallest,
        "most": band.largest,
        "width": band.range_width,
    }


def _function_as_json(function: FunctionInCodePlacements) -> dict[str, Any]:
    """Returns a function's cycles and address in each placement as a JSON object."""
    return {
        "name": function.name,
        "cycles": list(function.cycles),
        "addresses": None if function.addresses is None else list(function.addresses),
        "with_figure": function.correlation_with_benchmark_value,
        "own_place": function.variance_explained_by_cache_line_offset,
        "places": [
            {"offset": one.offset, "cycles": one.cycles, "placements": one.placements}
            for one in function.mean_cycles_by_cache_line_offset
        ],
    }
