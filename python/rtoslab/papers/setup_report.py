"""A paper's other set-ups beside the suites' own: figures with both ratios, and changed verdicts."""

from collections.abc import Mapping
from math import exp, log
from statistics import fmean
from typing import Final

from rtoslab.analyses import ClaimVerdict, MeasuredValue
from rtoslab.papers.compare import ComparedFigure
from rtoslab.papers.in_setup import PaperSetupResults
from rtoslab.papers.reproduction import PaperReproduction
from rtoslab.papers.tables import NONE, ratio_to_paper_value_text, text_of_reproduced_value
from rtoslab.reports import ReportSection, TableData, measured_value_with_range_text

_PROSE = (
    "The paper does not describe its builds completely. A set-up is another way in which its authors may have built "
    "the kernels, or it consists of today's versions of the kernels. All settings that a set-up does not name are as "
    "in the sections above. The distance compares our figures with the paper's: the larger value divided by the "
    "smaller one, as the geometric mean over all figures (medians over placements). A dash means that the paper "
    "prints no figure. In a table of figures, it can also mean that the set-up does not change the figure. If a "
    "statement above is a tie because of the placement of the code, its result in a set-up that was measured in one "
    "placement may also come from the placement."
)


_RATE: Final = "{:,.0f}".format


def mean_deviation_factor_from_paper(compared: Mapping[int, ComparedFigure]) -> float | None:
    """Returns how far our figures are from the paper's, as a factor: the geometric mean of the larger value divided by
    the smaller. None without a figure."""
    ratios = [compared_row.ratio_to_paper for compared_row in compared.values() if compared_row.ratio_to_paper]
    return exp(fmean(abs(log(ratio)) for ratio in ratios)) if ratios else None


def setup_deviation_factors_from_paper(
    reproduction: PaperReproduction, setup: PaperSetupResults
) -> tuple[float, float] | None:
    """Returns how far the figures that a set-up changes are from the paper's, as factors: without the set-up, and with
    it. None without a figure."""
    own = setup.paper_values_changed_by_configuration()
    before, after = (
        mean_deviation_factor_from_paper({ident: reproduction.compared[ident] for ident in own}),
        mean_deviation_factor_from_paper(own),
    )
    return None if before is None or after is None else (before, after)


def count_values_with_ratio_to_paper(compared: Mapping[int, ComparedFigure]) -> int:
    """Returns the number of compared figures that have a ratio to the paper's."""
    return sum(bool(compared_row.ratio_to_paper) for compared_row in compared.values())


def verdict_changes_caused_by_setup(
    reproduction: PaperReproduction, setup: PaperSetupResults
) -> list[tuple[ClaimVerdict, ClaimVerdict]]:
    """Returns the statements on which a set-up changes the verdict: the verdict without the set-up, and with it."""
    above = {verdict.claim.id: verdict for verdict in reproduction.verdicts}
    return [
        (above[verdict.claim.id], verdict)
        for verdict in setup.verdicts
        if verdict.claim_outcome_with_count_text != above[verdict.claim.id].claim_outcome_with_count_text
        and verdict.outcome_of_all_statement_cases != "not computed"
    ]


def paper_configurations_report_section(reproduction: PaperReproduction) -> list[ReportSection]:
    """Returns the report section on the paper's set-ups (other configurations) that were measured. Empty if there are
    none."""
    wanting = unmeasured_versions_sentences(reproduction)
    if not _current_and_paper_setup_results(reproduction) and not wanting:
        return []
    tables = [
        TableData(
            "Set-ups", ("set-up", "evidence", "statements", ">figures", ">distance"), _setup_overview_rows(reproduction)
        )
    ]
    figures = _paper_value_change_table_rows(reproduction)
    if figures:
        heads = [
            f">{setup.setup.id}: {part}"
            for setup in _current_and_paper_setup_results(reproduction)
            for part in ("here", "ratio")
        ]
        columns = ("figure", "unit", ">paper", ">here", ">ratio", *heads)
        tables.append(TableData("Published figures by set-up", columns, figures))
    rates = _throughput_change_table_rows(reproduction)
    if rates:
        names = (
            "test",
            "kernel",
            "cores",
            ">above, 1/s",
            *(f">{setup.setup.id}, 1/s" for setup in _current_and_paper_setup_results(reproduction)),
        )
        outcome = [place for place in range(len(names)) if any(row[place] != NONE for row in rates)]
        shown = [[row[place] for place in outcome] for row in rates]
        tables.append(TableData("Throughput by set-up", tuple(names[place] for place in outcome), shown))
    rows = [
        [
            above.claim.section,
            above.claim.says,
            above.claim_outcome_with_count_text,
            setup.setup.id,
            change.claim_outcome_with_count_text,
            change.text_of_compared_claim_numbers,
        ]
        for setup in _current_and_paper_setup_results(reproduction)
        for above, change in verdict_changes_caused_by_setup(reproduction, setup)
    ]
    if rows:
        columns = ("section", "the paper says", "above", "set-up", "there", "seen there")
        tables.append(TableData("Statements with another result in a set-up", columns, rows))
    return [ReportSection("setups", "Other versions and builds", (_PROSE, *wanting), (), tuple(tables))]


def unmeasured_versions_sentences(reproduction: PaperReproduction) -> list[str]:
    """Returns a sentence for each kernel version of the paper that was not measured and has no reference result."""
    present = {source.kernel for source in reproduction.sources.values()}
    names = reproduction.paper.facts.kernels
    return [
        f"The paper measured {names.get(version.kernel, version.kernel)} {version.printed}; its sources were not "
        f"added, so the figures are of the current version. Add them with `rtoslab kernel tree add {version.trees[0]} "
        f"PATH --port {version.kernel}`."
        for version in reproduction.paper.facts.version
        if version.trees and not present.intersection(version.trees)
    ]


def _current_and_paper_setup_results(reproduction: PaperReproduction) -> list[PaperSetupResults]:
    """Returns the results with today's kernel versions, then those of the paper's set-ups."""
    return [*([reproduction.today] if reproduction.today is not None else []), *reproduction.setups]


def _setup_overview_rows(reproduction: PaperReproduction) -> list[list[str]]:
    """Returns a table row for each set-up: its evidence, changed statements, figures, distance."""
    rows = []
    for setup in _current_and_paper_setup_results(reproduction):
        far = (
            " \N{RIGHTWARDS ARROW} ".join(
                f"{part:.2f}" for part in setup_deviation_factors_from_paper(reproduction, setup) or ()
            )
            or NONE
        )
        overview = (
            f"{len(verdict_changes_caused_by_setup(reproduction, setup))} of {len(setup.verdicts)} with another result"
        )
        rows.append(
            [
                f"{setup.setup.id}: {setup.setup.title}",
                setup.setup.evidence,
                overview,
                str(count_values_with_ratio_to_paper(setup.paper_values_changed_by_configuration())),
                far,
            ]
        )
    return rows


def _throughput_change_table_rows(reproduction: PaperReproduction) -> list[list[str]]:
    """Returns a table row for every rate (counts per second) that a set-up changes."""
    here = {value.point.model_dump_json(): value for value in reproduction.values if _is_throughput(value)}
    rates = [
        {value.point.model_dump_json(): value for value in one.values if _is_throughput(value)}
        for one in _current_and_paper_setup_results(reproduction)
    ]
    rows = []
    for name, above in here.items():
        cells = [_throughput_change_text(one.get(name), above) for one in rates]
        if any(cell != NONE for cell in cells):
            point = above.point
            rows.append(
                [
                    point.title,
                    point.kernel,
                    str(point.cores),
                    measured_value_with_range_text(above.placement_band, _RATE),
                    *cells,
                ]
            )
    return rows


def _throughput_change_text(other: MeasuredValue | None, above: MeasuredValue) -> str:
    """Returns the rate under a set-up, with its ratio to the rate without it, as text."""
    if other is None:
        return NONE
    ratio = other.placement_band.ratio_to(above.placement_band)
    rate = measured_value_with_range_text(other.placement_band, _RATE)
    return f"{rate}; x {measured_value_with_range_text(ratio, '{:.2f}'.format)}"


def _is_throughput(value: MeasuredValue) -> bool:
    """Whether a value is the total rate of a benchmark (counts per second)."""
    return (value.metric, value.stat) == ("throughput", "total")


def _paper_value_change_table_rows(reproduction: PaperReproduction) -> list[list[str]]:
    """Returns a table row for each published figure that a set-up changes, with our values and ratios."""
    own = [setup.paper_values_changed_by_configuration() for setup in _current_and_paper_setup_results(reproduction)]
    kernels = {compared_row.published.kernel for compared_row in reproduction.compared.values()}
    boards = {compared_row.published.board for compared_row in reproduction.compared.values()}
    rows = []
    for ident, above in reproduction.compared.items():
        if not any(ident in compared_row for compared_row in own):
            continue
        row = above.published
        name = ", ".join(
            part
            for part in (
                row.metric,
                row.stat,
                row.kernel if len(kernels) > 1 else "",
                row.board if len(boards) > 1 else "",
            )
            if part
        )
        cells = [
            cell
            for compared_row in own
            for cell in (
                (text_of_reproduced_value(compared_row[ident]), ratio_to_paper_value_text(compared_row[ident]))
                if ident in compared_row
                else (NONE, NONE)
            )
        ]
        rows.append(
            [name, row.unit, row.value, text_of_reproduced_value(above), ratio_to_paper_value_text(above), *cells]
        )
    return rows
