"""The effect of the code's place, on points that were measured in several placements."""

from collections.abc import Sequence

from rtoslab.analyses import CYCLES, MeasuredPointInCodePlacements, distinct_point_names
from rtoslab.reports.sections.naming import short_test_title
from rtoslab.reports.table import ReportSection, TableData, cycle_count_text


def code_placement_report_section(points: Sequence[MeasuredPointInCodePlacements]) -> ReportSection | None:
    """Returns the report section on how much the placement of the code changes figures. None if no point has several
    placements."""
    several = [placed_point for placed_point in points if placed_point.primary_speed_value_ranges]
    if not several:
        return None
    rows = []
    for name, point in zip(
        distinct_point_names([placed_point.middle.point for placed_point in several]), several, strict=True
    ):
        for metric, band in point.primary_speed_value_ranges:
            text = cycle_count_text if metric.unit == CYCLES else "{:,.1f}".format
            figures = [text(bound) for bound in (band.median, band.smallest, band.largest)]
            share = f"{band.range_width_percent:.1f} %" if band.range_width else "none"
            rows.append(
                [
                    short_test_title(point.middle.point),
                    name,
                    metric.id,
                    *figures,
                    share,
                    str(len(point.placements)),
                    point.number,
                ]
            )
    prose = (
        "The same object files were linked at several addresses and in several orders. The band of a figure "
        "reaches from its best to its worst placement. A difference within the band may come from the placement alone. "
        "Figures of such points are medians, with their bands in brackets. A figure without brackets is the same "
        "in all placements. Values that belong together, such as the parts of a sum of cycles, are those of the "
        "placement with the median."
    )
    single = [placed_point.middle.point for placed_point in points if len(placed_point.placements) == 1]
    names = distinct_point_names([*single, *(placed_point.middle.point for placed_point in several)])
    sentences = [f"{short_test_title(point)} ({name})" for point, name in zip(single, names, strict=False)]
    lone = (f"Measured in one placement, without a band: {', '.join(sentences)}.",) if single else ()
    columns = (
        "test",
        "run with",
        "figure, cycles",
        ">median",
        ">least",
        ">most",
        ">band",
        ">placements",
        ">in the middle",
    )
    return ReportSection(
        "placements", "Placements of the code", (prose, *lone), (), [TableData("Bands", columns, rows)]
    )
