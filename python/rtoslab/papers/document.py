"""The report of a paper: its conditions, tables, figures, claims and slips beside ours, then the run's evidence."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import median
from types import MappingProxyType
from typing import Any, Final

from rtoslab.analyses import OUTCOMES, ClaimVerdict, Outcome, select_values_by_coordinates, values_of_points
from rtoslab.base import count_with_noun
from rtoslab.catalogue import Catalogue, PaperCondition, PaperFolder, PaperSection, RedrawnPaperChart, SampleTraceChart
from rtoslab.papers.over_placements import single_code_placement_note
from rtoslab.papers.over_time import over_time_chart
from rtoslab.papers.paper_charts import redraw_paper_figure
from rtoslab.papers.reproduction import PaperReproduction
from rtoslab.papers.setup_report import paper_configurations_report_section
from rtoslab.papers.slips import known_mistakes_of_paper_part, paper_mistakes_table
from rtoslab.papers.tables import published_and_our_values_chart, redraw_paper_table
from rtoslab.reference import REFERENCE_MARK, mark_kernels_as_reference
from rtoslab.reports import (
    ChartData,
    ReportDocument,
    ReportSection,
    TableData,
    add_kernel_deviation_footnotes,
    join_items_for_sentence,
    make_report_document,
)
from rtoslab.results import MeasuredPoint
from rtoslab.store import StoredMeasurementPoint

_REPLACED = frozenset({"answer", "throughput", "gain", "memory", "paper"})
"""Sections of the plain report that a paper's own parts take the place of."""

_OUTCOME_WORDS: Final[dict[Outcome, tuple[str, str]]] = {
    "same": ("holds here", "hold here"),
    "partly": ("holds in part", "hold in part"),
    "tie": ("is a tie", "are ties"),
    "different": ("does not hold", "do not hold"),
    "not computed": ("cannot be computed", "cannot be computed"),
}
"""The outcome in words, for one statement and for several, in the order of the summary."""
_NAMED: Final = 3
"""The number of contradicted statements that the summary names. The table has all."""
_REDRAWN = frozenset({"scaling", "stress"})
"""Sections of the plain report whose charts a paper's own parts draw. Their tables stand."""

_CLAIMS_PROSE = (
    "Each statement of the paper is judged by our figures in every case that it covers. The threshold is next to the "
    "result. Different: our figures contradict the statement. Partly: the statement holds only in some of its cases. "
    "Tie: the figures differ by less than the resolution of the paper's instrument, or the result depends on the "
    "placement of the code. Not computed: the reason is next to it. Numbers are those of placement 0, the linker's own "
    "order of the code, unless another placement is named. Charts show medians."
)
_BUILDS_PROSE = (
    "In builds: the number of builds of the kernels in which the statement holds. The builds differ in versions, "
    "optimisation levels, assertions, switches and placements of the code (`rtoslab stability` shows each build)."
)


def paper_comparison_report(
    catalogue: Catalogue, reproduction: PaperReproduction, in_builds: Mapping[str, str] | None = None
) -> ReportDocument:
    """Returns the report that compares a paper's figures and statements with ours. `in_builds` says by statement in how
    many builds of the kernels it holds."""
    paper, facts = reproduction.paper, reproduction.paper.facts
    titles = {entry.id: entry.facts.title for entry in catalogue.kernels.values()}
    titles |= {board.id: board.facts.title for board in catalogue.boards.values()}
    titles |= {
        item: f"{titles.get(item, item)} {REFERENCE_MARK}"
        for item in {one.result.point.kernel for one in reproduction.reference_points}
    }
    plain = (
        make_report_document(
            catalogue, reproduction.points, None, mark_kernels_as_reference(reproduction.reference_points)
        ).sections
        if reproduction.points
        else ()
    )
    sections = [
        paper_statements_report_section(
            reproduction.verdicts, [*filter(None, [single_code_placement_note(reproduction.values)])], in_builds or {}
        ),
        *(_report_section_on_paper_section(reproduction, part) for part in facts.part),
        _measurement_conditions_report_section(reproduction),
        *paper_configurations_report_section(reproduction),
        claim_cases_report_section(reproduction.verdicts),
        how_to_cite_paper_section(paper),
        *(
            replace(section, charts=()) if section.id in _REDRAWN else section
            for section in plain
            if section.id not in _REPLACED
        ),
    ]
    document = ReportDocument(
        title=f"{facts.authors} {facts.year}, reproduced",
        subtitle=f"{facts.title} \N{MIDDLE DOT} {paper.key}",
        summary=_paper_summary_text(reproduction),
        sections=tuple(sections),
        points=reproduction.points,
    )
    return add_kernel_deviation_footnotes(
        document, reproduction.list_measured_points, {title: kernel for kernel, title in titles.items()}
    )


def paper_statements_report_section(
    verdicts: Sequence[ClaimVerdict], notes: Sequence[str] = (), in_builds: Mapping[str, str] = MappingProxyType({})
) -> ReportSection:
    """Returns the report section with every statement of the paper and our verdict, the contradicted ones first.
    `in_builds` says by statement in how many builds it holds."""
    ranked = sorted(verdicts, key=lambda verdict: OUTCOMES.index(verdict.outcome_of_all_statement_cases))
    rows = [
        [
            verdict.claim.section,
            _statement_text_with_quotes(verdict),
            verdict.claim_outcome_with_count_text,
            verdict.text_of_compared_claim_numbers,
            verdict.threshold,
        ]
        for verdict in ranked
    ]
    columns = ["section", "the paper says", "here", "seen", "judged by"]
    prose = [_CLAIMS_PROSE, *notes]
    if in_builds:
        columns.append(">in builds")
        rows = [[*row, in_builds.get(pair.claim.id, "-")] for row, pair in zip(rows, ranked, strict=True)]
        prose.append(_BUILDS_PROSE)
    table = TableData("Statements", tuple(columns), rows)
    return ReportSection("claims", "What the paper says, computed again", tuple(prose), (), (table,))


def claim_cases_report_section(verdicts: Sequence[ClaimVerdict]) -> ReportSection:
    """Returns the report section with every case of the paper's statements, with its numbers."""
    ranked = sorted(verdicts, key=lambda verdict: OUTCOMES.index(verdict.outcome_of_all_statement_cases))
    tables = [
        TableData(
            f"{verdict.claim.says}: {verdict.claim_outcome_with_count_text}",
            ("case", "here", "seen"),
            [[case.name, case.outcome or "not computed", case.explanation] for case in verdict.cases],
        )
        for verdict in ranked
        if len(verdict.cases) > 1
    ]
    return ReportSection("cases", "Every case of every statement", (), (), tables, folded=True)


def _statement_text_with_quotes(verdict: ClaimVerdict) -> str:
    """Returns a statement of the paper with the paper's own words."""
    claim = verdict.claim
    return f'{claim.says} ("{claim.words}")' if claim.words else claim.says


def how_to_cite_paper_section(paper: PaperFolder) -> ReportSection:
    """Returns the report section on how to cite the paper."""
    facts = paper.facts
    doi = f" https://doi.org/{facts.doi}" if facts.doi else " It has no known DOI."
    cited = f"{facts.authors}: {facts.title}. {facts.published_in}, {facts.year}.{doi}"
    return ReportSection("citation", "The paper", (cited,))


def _measurement_conditions_report_section(reproduction: PaperReproduction) -> ReportSection:
    """Returns the report section that compares the conditions of the paper's measurement with ours."""
    paper = reproduction.paper
    main = {result.run_id for result in reproduction.results if isinstance(result, MeasuredPoint)}
    judged = [
        point
        for point in (*reproduction.points, *reproduction.reference_points)
        if isinstance(point.result, MeasuredPoint) and point.result.run_id in main
    ]
    rows = [
        [
            condition.what,
            condition.paper,
            condition.here or _measurement_condition_text(condition, judged or reproduction.points),
        ]
        for condition in paper.facts.condition
    ]
    general = [slip for slip in paper.known_mistakes_in_paper if not slip.rows and not slip.part]
    tables = [TableData("Conditions of the measurement", ("condition", "the paper", "here"), rows)]
    if general:
        tables.append(paper_mistakes_table(paper, general, "Conditions of all figures"))
    notes = [*_version_notes(reproduction), *(note for suite in paper.suites for note in suite.notes)]
    if reproduction.missing_benchmarks:
        notes.append(
            "Not measured, because this checkout does not have these benchmarks: "
            f"{', '.join(reproduction.missing_benchmarks)}."
        )
    return ReportSection("conditions", "Different conditions", tuple(notes), (), tables)


def _measurement_condition_text(condition: PaperCondition, points: Sequence[StoredMeasurementPoint]) -> str:
    """Returns our value of a condition of the measurement (such as the clock), from the points' manifests, as text."""
    fields_ = []
    for point in points:
        readings = [
            _manifest_entry_text(point.manifest, path.split("."), condition.only) for path in condition.manifest.split()
        ]
        text = " ".join(reading for reading in readings if reading)
        fields_.append(f"{text} {condition.unit}".rstrip() if text else "")
    return "; ".join(dict.fromkeys(text for text in fields_ if text)) or "not yet measured"


def _manifest_entry_text(value: Any, path: Sequence[str], only: str) -> str:
    """Returns a value of a manifest as text, by the path of its keys. In a list, only items that begin with `only`
    count."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    if path[-1] == "clock_hz" and isinstance(value, int):
        return f"{value / 1e6:g} MHz"
    if isinstance(value, dict):
        return ", ".join(f"{name} {'off' if str(item) in {'0', 'False'} else 'on'}" for name, item in value.items())
    if isinstance(value, list):
        return " ".join(str(item) for item in value if str(item).startswith(only))
    return "" if value is None else str(value)


def _report_section_on_paper_section(reproduction: PaperReproduction, part: PaperSection) -> ReportSection:
    """Returns the report section on one part of the paper: its tables and figures."""
    paper = reproduction.paper
    charts, tables, prose = [], [], list(part.prose)
    for table in part.table:
        tables.append(redraw_paper_table(table, reproduction))
        if table.chart:
            charts += published_and_our_values_chart(table, paper.paper_values_by_row_id, reproduction.compared)
    for figure in part.figure:
        drawn, note = _redraw_chart_with_table(reproduction, figure)
        if note:
            prose.append(note)
        if drawn is not None:
            charts.append(drawn[0])
            tables.append(drawn[1])
    for over_time_figure in part.over_time:
        traced, note = _redraw_time_series_chart(reproduction, over_time_figure)
        if note:
            prose.append(note)
        if traced is not None:
            charts.append(traced[0])
            tables.append(traced[1])
    slips = known_mistakes_of_paper_part(paper, part.id, (ident for table in part.table for ident in table.rows))
    if slips:
        tables.append(paper_mistakes_table(paper, slips, "Errors and preconditions of these figures"))
    return ReportSection(part.id, part.title, tuple(prose), tuple(charts), tuple(tables))


def _redraw_chart_with_table(
    reproduction: PaperReproduction, figure: RedrawnPaperChart
) -> tuple[tuple[ChartData, TableData] | None, str]:
    """Returns a redrawn figure of the paper with its table, and a note. Without values of the version that the paper
    measured, today's version is used."""
    drawn = redraw_paper_figure(figure, reproduction, reproduction.values)
    if drawn is not None:
        return drawn, ""
    today = reproduction.today
    drawn = (
        None if today is None else redraw_paper_figure(figure, replace(reproduction, names=today.names), today.values)
    )
    if drawn is None:
        return None, f"{figure.title}: not yet measured."
    return drawn, f"{figure.title}: shows the kernel's current version, because the authors' version was not measured."


def _redraw_time_series_chart(
    reproduction: PaperReproduction, figure: SampleTraceChart
) -> tuple[tuple[ChartData, TableData] | None, str]:
    """Returns a redrawn figure over time with its table, and a note. Reference results have no times, so a run of
    today's version is used in their place."""
    several = any(value.band is not None for value in reproduction.values)
    traced = over_time_chart(
        figure,
        [result for result in reproduction.results if isinstance(result, MeasuredPoint)],
        in_several_placements=several,
    )
    if traced is not None:
        return traced, ""
    here = [point.result for point in reproduction.points if isinstance(point.result, MeasuredPoint)]
    traced = over_time_chart(figure, here, in_several_placements=several)
    if traced is None:
        return None, f"{figure.title}: not yet measured."
    used = [item.run_id for item in here if select_values_by_coordinates(values_of_points([item])[:1], figure.where)]
    versions = dict.fromkeys(
        f"{source.kernel} {source.version}" for source in map(reproduction.sources.get, used) if source
    )
    return traced, (
        f"{figure.title}: shows {' and '.join(versions)}, because reference results do not contain the "
        "times of their samples."
    )


def _version_notes(reproduction: PaperReproduction) -> list[str]:
    """Returns sentences on the versions of the kernels behind the figures, and on reference results."""
    used = {value.run_id for value in reproduction.values}
    lent = sorted(
        {source.kernel for run, source in reproduction.sources.items() if run in used and source.is_reference}
    )
    sentences = [f"Reference results, which come with rtoslab, are used for {', '.join(lent)}."] if lent else []
    for version in reproduction.paper.facts.version:
        if version.stands_in:
            here = reproduction.names.get(version.kernel, version.kernel)
            printed = "a version that the paper does not state" if version.printed == "not stated" else version.printed
            sentences.append(f"{here} is used instead of {printed}: {version.stands_in}.")
    return sentences


def _paper_summary_text(reproduction: PaperReproduction) -> str:
    """Returns the summary of the comparison with a paper: how many statements hold, and how near the figures are."""
    sentences = [
        *_claim_verdict_summary_sentences(reproduction.verdicts),
        *_deviation_from_published_values_sentence(reproduction),
    ]
    points = sum(point.result.status == "measured" for point in reproduction.points)
    if points:
        sentences.append(
            f"{count_with_noun(points, 'point', 'was', 'were')} measured for this report, each with its proofs."
        )
    else:
        sentences.append("This run measured no point of this paper.")
    lent = sum(isinstance(stored_point.result, MeasuredPoint) for stored_point in reproduction.reference_points)
    if lent:
        sentences.append(f"{count_with_noun(lent, 'reference result')} are shown for comparison.")
    return " ".join(sentences)


def _claim_verdict_summary_sentences(verdicts: Sequence[ClaimVerdict]) -> list[str]:
    """Returns sentences on how many of the paper's statements hold, and which are contradicted."""
    if not verdicts:
        return []
    counts = Counter(verdict.outcome_of_all_statement_cases for verdict in verdicts)
    words = [
        f"{counts[outcome]} {many if counts[outcome] > 1 else one}"
        for outcome, (one, many) in _OUTCOME_WORDS.items()
        if counts[outcome]
    ]
    sentences = [f"Of the paper's {count_with_noun(len(verdicts), 'statement')} {join_items_for_sentence(words)}."]
    against = [verdict.claim.says for verdict in verdicts if verdict.outcome_of_all_statement_cases == "different"]
    if against:
        more = len(against) - _NAMED
        rest = f"; and {more} more" if more > 0 else ""
        sentences.append(f"Contradicted: {'; '.join(against[:_NAMED])}{rest}.")
    return sentences


def _deviation_from_published_values_sentence(reproduction: PaperReproduction) -> list[str]:
    """Returns a sentence on how near our figures are to the published ones."""
    compared = reproduction.compared
    if not compared:
        return ["The paper prints no measured figures, only conclusions."]
    ratios = [
        compared_row.ratio_to_paper for compared_row in compared.values() if compared_row.ratio_to_paper is not None
    ]
    waiting = sum(compared_row.state == "bring your own" for compared_row in compared.values())
    text = f"{len(ratios)} of {count_with_noun(len(compared), 'published figure')} can be compared with one of ours"
    if ratios:
        over = any(compared_row.band is not None for compared_row in compared.values())
        ours = "ours, as medians over the placements," if over else "ours"
        text += f": {ours} are {min(ratios):.2f} to {max(ratios):.2f} times the paper's, median {median(ratios):.2f}"
    senseless = sum(
        bool(compared_row.no_ratio) and compared_row.our_value is not None for compared_row in compared.values()
    )
    text += f"; {count_with_noun(senseless, 'further ratio', 'is', 'are')} not meaningful" if senseless else ""
    return [text + (f"; {waiting} need a kernel whose sources you add." if waiting else ".")]
