"""The report of a paper: its conditions, tables, figures, claims and slips beside ours, then the run's evidence."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import median
from types import MappingProxyType
from typing import Any, Final

from rtoslab.analyses import OUTCOMES, ClaimVerdict, Outcome, point_values, select_values
from rtoslab.base import count_text
from rtoslab.catalogue import Catalogue, Condition, PaperFolder, PaperSection, RedrawnFigure, SampleTrace
from rtoslab.papers.over_placements import one_placement
from rtoslab.papers.over_time import over_time
from rtoslab.papers.paper_charts import replot
from rtoslab.papers.reproduction import Reproduction
from rtoslab.papers.setup_report import setups_section
from rtoslab.papers.slips import slips_table, touching
from rtoslab.papers.tables import pairs_chart, redraw
from rtoslab.reference import WORD, mark_as_reference
from rtoslab.reports import ChartData, Document, Section, TableData, join_listed, make_document, mark_deviations
from rtoslab.results import MeasuredPoint
from rtoslab.store import StoredPoint

_REPLACED = frozenset({"answer", "throughput", "gain", "memory", "paper"})
"""Sections of the plain report that a paper's own parts take the place of."""

_OUTCOME_WORDS: Final[dict[Outcome, tuple[str, str]]] = {
    "same": ("holds here", "hold here"),
    "partly": ("holds in part", "hold in part"),
    "tie": ("is too close to tell", "are too close to tell"),
    "different": ("does not hold", "do not hold"),
    "not computed": ("cannot be computed", "cannot be computed"),
}
"""The outcome words of one statement, and of several. In the order of the summary."""
_NAMED: Final = 3
"""So many contradicted statements are named in the summary. The table has all."""
_REDRAWN = frozenset({"scaling", "stress"})
"""Sections of the plain report whose charts a paper's own parts draw. Their tables stand."""

_CLAIMS_PROSE = (
    "Each statement is computed from our figures in every case that it speaks of, by the threshold beside it. "
    "Different: our numbers contradict it. Partly: it holds in so many of its cases. Tie: they differ by less than the "
    "paper's instrument could tell, or the placement of the code decides. Not computed: the reason stands beside it. A "
    "number is of the linker's own order of the code (placement 0), where no other is named; figures show medians."
)
_BUILDS_PROSE = (
    "In builds: in how many builds of the kernels the statement holds, by other versions, optimisation, assertions, "
    "switches and placements of the code (`rtoslab stability` has each)."
)


def paper_document(catalogue: Catalogue, done: Reproduction, in_builds: Mapping[str, str] | None = None) -> Document:
    """The report before its format. `in_builds` says by statement in how many builds of the kernels it holds."""
    paper, facts = done.paper, done.paper.facts
    titles = {entry.id: entry.facts.title for entry in catalogue.kernels.values()}
    titles |= {board.id: board.facts.title for board in catalogue.boards.values()}
    titles |= {item: f"{titles.get(item, item)} {WORD}" for item in {one.result.point.kernel for one in done.beside}}
    plain = make_document(catalogue, done.points, None, mark_as_reference(done.beside)).sections if done.points else ()
    sections = [
        claims_section(done.verdicts, [*filter(None, [one_placement(done.values)])], in_builds or {}),
        *(_part(done, part) for part in facts.part),
        _conditions(done),
        *setups_section(done),
        cases_section(done.verdicts),
        cite_section(paper),
        *(
            replace(section, charts=()) if section.id in _REDRAWN else section
            for section in plain
            if section.id not in _REPLACED
        ),
    ]
    document = Document(
        title=f"{facts.authors} {facts.year}, reproduced",
        subtitle=f"{facts.title} \N{MIDDLE DOT} {paper.key}",
        summary=_summary(done),
        sections=tuple(sections),
        points=done.points,
    )
    return mark_deviations(document, done.measured_results, {title: kernel for kernel, title in titles.items()})


def claims_section(
    verdicts: Sequence[ClaimVerdict], notes: Sequence[str] = (), in_builds: Mapping[str, str] = MappingProxyType({})
) -> Section:
    """Every statement of the paper with our verdict, the contradicted ones first."""
    ranked = sorted(verdicts, key=lambda verdict: OUTCOMES.index(verdict.outcome))
    rows = [
        [verdict.claim.section, _quote(verdict), verdict.outcome_text, verdict.numbers_text, verdict.threshold]
        for verdict in ranked
    ]
    columns = ["section", "the paper says", "here", "seen", "judged by"]
    prose = [_CLAIMS_PROSE, *notes]
    if in_builds:
        columns.append(">in builds")
        rows = [[*row, in_builds.get(pair.claim.id, "-")] for row, pair in zip(rows, ranked, strict=True)]
        prose.append(_BUILDS_PROSE)
    table = TableData("Statements", tuple(columns), rows)
    return Section("claims", "What the paper says, computed again", tuple(prose), (), (table,))


def cases_section(verdicts: Sequence[ClaimVerdict]) -> Section:
    """Every case of the statements that speak of several, with its numbers."""
    ranked = sorted(verdicts, key=lambda verdict: OUTCOMES.index(verdict.outcome))
    tables = [
        TableData(
            f"{verdict.claim.says}: {verdict.outcome_text}",
            ("case", "here", "seen"),
            [[case.name, case.outcome or "not computed", case.explanation] for case in verdict.cases],
        )
        for verdict in ranked
        if len(verdict.cases) > 1
    ]
    return Section("cases", "Every case of every statement", (), (), tables, folded=True)


def _quote(verdict: ClaimVerdict) -> str:
    claim = verdict.claim
    return f'{claim.says} ("{claim.words}")' if claim.words else claim.says


def cite_section(paper: PaperFolder) -> Section:
    """How the paper is cited."""
    facts = paper.facts
    doi = f" https://doi.org/{facts.doi}" if facts.doi else " It has no DOI that we know of."
    cited = f"{facts.authors}: {facts.title}. {facts.published_in}, {facts.year}.{doi}"
    return Section("citation", "The paper", (cited,))


def _conditions(done: Reproduction) -> Section:
    paper = done.paper
    main = {result.run_id for result in done.results if isinstance(result, MeasuredPoint)}
    judged = [
        point
        for point in (*done.points, *done.beside)
        if isinstance(point.result, MeasuredPoint) and point.result.run_id in main
    ]
    rows = [
        [condition.what, condition.paper, condition.here or _from_manifests(condition, judged or done.points)]
        for condition in paper.facts.condition
    ]
    general = [slip for slip in paper.slips if not slip.rows and not slip.part]
    tables = [TableData("Conditions of the measurement", ("condition", "the paper", "here"), rows)]
    if general:
        tables.append(slips_table(paper, general, "What holds for all of its figures"))
    notes = [*_whose(done), *(note for suite in paper.suites for note in suite.notes)]
    if done.missing:
        notes.append(f"Not yet measured, for this checkout has no such benchmark: {', '.join(done.missing)}.")
    return Section("conditions", "What differs in the conditions", tuple(notes), (), tables)


def _from_manifests(condition: Condition, points: Sequence[StoredPoint]) -> str:
    fields_ = []
    for point in points:
        readings = [_at(point.manifest, path.split("."), condition.only) for path in condition.manifest.split()]
        text = " ".join(reading for reading in readings if reading)
        fields_.append(f"{text} {condition.unit}".rstrip() if text else "")
    return "; ".join(dict.fromkeys(text for text in fields_ if text)) or "not yet measured"


def _at(value: Any, path: Sequence[str], only: str) -> str:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    if path[-1] == "clock_hz" and isinstance(value, int):
        return f"{value / 1e6:g} MHz"
    if isinstance(value, dict):
        return ", ".join(f"{name} {'off' if str(item) in {'0', 'False'} else 'on'}" for name, item in value.items())
    if isinstance(value, list):
        return " ".join(str(item) for item in value if str(item).startswith(only))
    return "" if value is None else str(value)


def _part(done: Reproduction, part: PaperSection) -> Section:
    paper = done.paper
    charts, tables, prose = [], [], list(part.prose)
    for table in part.table:
        tables.append(redraw(table, done))
        if table.chart:
            charts += pairs_chart(table, paper.published_rows, done.compared)
    for figure in part.figure:
        drawn, note = _draw(done, figure)
        if note:
            prose.append(note)
        if drawn is not None:
            charts.append(drawn[0])
            tables.append(drawn[1])
    for course in part.over_time:
        traced, note = _draw_trace(done, course)
        if note:
            prose.append(note)
        if traced is not None:
            charts.append(traced[0])
            tables.append(traced[1])
    slips = touching(paper, part.id, (ident for table in part.table for ident in table.rows))
    if slips:
        tables.append(slips_table(paper, slips, "Slips and preconditions of these figures"))
    return Section(part.id, part.title, tuple(prose), tuple(charts), tuple(tables))


def _draw(done: Reproduction, figure: RedrawnFigure) -> tuple[tuple[ChartData, TableData] | None, str]:
    """A figure, and what to say of it. Today's version is in for what the authors' does not offer."""
    drawn = replot(figure, done, done.values)
    if drawn is not None:
        return drawn, ""
    today = done.today
    drawn = None if today is None else replot(figure, replace(done, names=today.names), today.values)
    if drawn is None:
        return None, f"{figure.title}: not yet measured."
    return drawn, f"{figure.title}: with today's version, as it is not measured with the authors'."


def _draw_trace(done: Reproduction, course: SampleTrace) -> tuple[tuple[ChartData, TableData] | None, str]:
    """A trace over the run, and what to say of it. Reference results keep no times, so a run of today's is in."""
    several = any(value.band is not None for value in done.values)
    traced = over_time(
        course, [result for result in done.results if isinstance(result, MeasuredPoint)], several=several
    )
    if traced is not None:
        return traced, ""
    here = [point.result for point in done.points if isinstance(point.result, MeasuredPoint)]
    traced = over_time(course, here, several=several)
    if traced is None:
        return None, f"{course.title}: not yet measured."
    used = [item.run_id for item in here if select_values(point_values([item])[:1], course.where)]
    versions = dict.fromkeys(f"{source.kernel} {source.version}" for source in map(done.sources.get, used) if source)
    return traced, f"{course.title}: of {' and '.join(versions)}, as reference results keep no times of their samples."


def _whose(done: Reproduction) -> list[str]:
    """Whose versions the figures are of, and which are reference results."""
    used = {value.run_id for value in done.values}
    lent = sorted({source.kernel for run, source in done.sources.items() if run in used and source.is_reference})
    sentences = (
        [f"Reference results, measured before and kept with rtoslab, stand for {', '.join(lent)}."] if lent else []
    )
    for version in done.paper.facts.version:
        if version.stands_in:
            here = done.names.get(version.kernel, version.kernel)
            printed = "a version that the paper does not state" if version.printed == "not stated" else version.printed
            sentences.append(f"{here} stands in for {printed}: {version.stands_in}.")
    return sentences


def _summary(done: Reproduction) -> str:
    """The answer first: how many statements hold, how near the figures are; then what that rests on."""
    sentences = [*_statement_sentences(done.verdicts), *_nearness(done)]
    points = sum(point.result.status == "measured" for point in done.points)
    if points:
        sentences.append(
            f"{count_text(points, 'point', 'was', 'were')} measured for this report, each with its proofs."
        )
    else:
        sentences.append("Nothing of it was measured in this run.")
    lent = sum(isinstance(stored_point.result, MeasuredPoint) for stored_point in done.beside)
    if lent:
        sentences.append(f"{count_text(lent, 'reference result')} stand beside them.")
    return " ".join(sentences)


def _statement_sentences(verdicts: Sequence[ClaimVerdict]) -> list[str]:
    if not verdicts:
        return []
    counts = Counter(verdict.outcome for verdict in verdicts)
    words = [
        f"{counts[outcome]} {many if counts[outcome] > 1 else one}"
        for outcome, (one, many) in _OUTCOME_WORDS.items()
        if counts[outcome]
    ]
    sentences = [f"Of the paper's {count_text(len(verdicts), 'statement')} {join_listed(words)}."]
    against = [verdict.claim.says for verdict in verdicts if verdict.outcome == "different"]
    if against:
        more = len(against) - _NAMED
        rest = f"; and {more} more" if more > 0 else ""
        sentences.append(f"Contradicted: {'; '.join(against[:_NAMED])}{rest}.")
    return sentences


def _nearness(done: Reproduction) -> list[str]:
    """How near our figures are to those in print."""
    compared = done.compared
    if not compared:
        return ["The paper prints no figure of a measurement in its text, only what follows from them."]
    ratios = [compared_row.ratio for compared_row in compared.values() if compared_row.ratio is not None]
    waiting = sum(compared_row.state == "bring your own" for compared_row in compared.values())
    text = f"{len(ratios)} of {count_text(len(compared), 'published figure')} stand beside one of ours"
    if ratios:
        over = any(compared_row.band is not None for compared_row in compared.values())
        ours = "ours, as medians over the placements," if over else "ours"
        text += f": {ours} are {min(ratios):.2f} to {max(ratios):.2f} times the paper's, median {median(ratios):.2f}"
    senseless = sum(bool(compared_row.no_ratio) and compared_row.here is not None for compared_row in compared.values())
    text += f"; {count_text(senseless, 'further ratio', 'says', 'say')} nothing" if senseless else ""
    return [text + (f"; {waiting} wait for a kernel of your own." if waiting else ".")]
