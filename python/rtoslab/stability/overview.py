"""The report on how much of a ranking of kernels is the placement of its code: spreads by board, and pairs of
kernels."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from rtoslab.base import count_with_noun
from rtoslab.catalogue import PaperFolder
from rtoslab.reference import ReferenceResultsFile
from rtoslab.reports import ReportDocument, ReportSection, TableData, add_kernel_deviation_footnotes
from rtoslab.results import MeasuredPoint
from rtoslab.stability.judged import JudgedPaper, claim_reversal_counts_by_build_change
from rtoslab.stability.place_effects import (
    ALL_GROUPS,
    BoardCodePlacementSpread,
    MeasuredValueInCodePlacements,
    ReversedKernelPairCounts,
    count_reversed_kernel_pairs,
    placement_spread_by_board,
    reference_values_over_code_placements,
)
from rtoslab.stability.shares import PLACEMENT

_SPREAD: Final = (
    "A figure is the time of one operation of one kernel: a median, or cycles per count. It was measured in several "
    "placements of the same code. Its spread is how much longer the slowest placement takes than the fastest. Figures "
    "that do not depend on the placement, for instance on a board without wait states, were measured in one placement "
    "and are not counted."
)
_PAIRS: Final = (
    "A pair is two kernels at the same operation of the same paper, board and configuration. Its order is "
    "reversed if one kernel is faster in some placements and the other one in others. A pair is close if the "
    "medians differ by less than 10 %. The last column shows how often one build of each kernel gives the rarer order: "
    "the probability, as the mean over all reversed pairs."
)
_IS_RELEASE: Final = re.compile(r"[0-9]\.[0-9]")
"""The project's own code that runs without a kernel has only a number."""
_BUILDS: Final = (
    "A build is one combination of version, optimisation and assertions of all kernels, or one kernel option that is "
    "changed alone. A statement is not judged if a kernel that it names is in no build, or if its values were not "
    "measured."
)


def placement_overview_document(
    papers: Mapping[str, PaperFolder], references: Sequence[ReferenceResultsFile], judged: Sequence[JudgedPaper]
) -> ReportDocument:
    """Returns the report on how the placement of code changes the figures and rankings of all papers. `judged` are the
    papers that were measured in several builds."""
    figures = reference_values_over_code_placements(papers, references)
    by_paper = count_reversed_kernel_pairs(figures, "paper")
    names = {kernel: title for paper in papers.values() for kernel, title in paper.facts.kernels.items()}
    measured = [
        point.result
        for reference in references
        for point in reference.points
        if isinstance(point.result, MeasuredPoint)
    ]
    document = ReportDocument(
        title="How much of a ranking is the linker?",
        subtitle="The same code of each kernel at other addresses",
        summary=code_placement_report_summary(figures, by_paper, judged),
        sections=(
            ReportSection(
                "pairs", "Pairs of kernels", (_PAIRS,), (), _kernel_order_reversal_tables(figures, by_paper, names)
            ),
            ReportSection(
                "spreads", "Figures", (_SPREAD,), (), (placement_spread_table(placement_spread_by_board(figures)),)
            ),
            *(() if not judged else (_paper_claims_by_build_report_section(judged, names),)),
        ),
    )
    return add_kernel_deviation_footnotes(document, measured, {title: kernel for kernel, title in names.items()})


def code_placement_report_summary(
    figures: Sequence[MeasuredValueInCodePlacements],
    pairs: Sequence[ReversedKernelPairCounts],
    judged: Sequence[JudgedPaper],
) -> str:
    """Returns the summary of the report on placements in sentences."""
    if not pairs:
        return "No two kernels have reference results in several placements, so nothing can be compared."
    whole, first = pairs[-1], placement_spread_by_board(figures)[0]
    share = _format_percent(whole.turned / whole.pairs)
    pairs_text = count_with_noun(whole.pairs, "pair")
    sentences = [f"The placement of the code changes the order of {whole.turned} of {pairs_text} of kernels ({share})."]
    if whole.close:
        share = _format_percent(whole.close_turned / whole.close)
        sentences.append(
            f"It changes the order of {whole.close_turned} of the {count_with_noun(whole.close, 'pair')} whose medians "
            f"differ by less than 10 % ({share})."
        )
    sentences.append(
        f"The effect is largest on the {first.board}: in the median over this board's figures, the slowest placement "
        f"of a build takes {_format_percent(first.median_spread)} longer than the fastest."
    )
    statements = [statement.whole.verdict_counts_over_all_builds for paper in judged for statement in paper.statements]
    if statements:
        some = sum(0 < statement.held < statement.statement_observation_count for statement in statements)
        whole_of = f"{count_with_noun(len(statements), 'statement')} of {count_with_noun(len(judged), 'paper')}"
        verb = "holds" if some == 1 else "hold"
        sentences.append(f"{some} of {whole_of} {verb} only in some builds.")
    return " ".join(sentences)


def _kernel_order_reversal_tables(
    figures: Sequence[MeasuredValueInCodePlacements],
    by_paper: Sequence[ReversedKernelPairCounts],
    names: Mapping[str, str],
) -> tuple[TableData, ...]:
    """Returns the tables of pairs of kernels whose order the placement of the code reverses, by paper and by board."""
    compared = [
        [pairs.name, ", ".join(names.get(kernel, kernel) for kernel in pairs.kernels)]
        for pairs in by_paper
        if pairs.name != ALL_GROUPS
    ]
    return (
        reversed_kernel_pairs_table(by_paper, "paper"),
        reversed_kernel_pairs_table(count_reversed_kernel_pairs(figures, "board"), "board"),
        TableData("Kernels of the pairs", ("paper", "kernels"), compared),
    )


def reversed_kernel_pairs_table(rows: Sequence[ReversedKernelPairCounts], by: str) -> TableData:
    """Returns a table of the pairs of kernels whose order the placement of the code reverses. `by` is `paper` or
    `board`."""
    columns = (
        by,
        ">pairs",
        ">order reversed",
        ">share",
        ">close pairs",
        ">of these reversed",
        ">probability of the other order",
    )
    lines = [
        [
            row.name, str(row.pairs), str(row.turned), _format_percent(row.turned / row.pairs), str(row.close),
            str(row.close_turned), _format_percent(row.minority_chance) if row.turned else "-",
        ]
        for row in rows
    ]  # fmt: skip
    return TableData(f"Pairs of kernels, by {by}", columns, lines)


def placement_spread_table(rows: Sequence[BoardCodePlacementSpread]) -> TableData:
    """Returns a table of how far the placement of the code changes figures, by board."""
    columns = ("board", ">figures", ">median spread", ">90th percentile", ">largest")
    lines = [
        [
            row.board,
            str(row.figures),
            _format_percent(row.median_spread),
            _format_percent(row.ninth_decile),
            _format_percent(row.largest),
        ]
        for row in rows
    ]
    return TableData("Spread of figures over placements", columns, lines)


def _paper_claims_by_build_report_section(judged: Sequence[JudgedPaper], names: Mapping[str, str]) -> ReportSection:
    """Returns the section on the builds of each paper: the statements that hold in them, and the kernels."""
    return ReportSection(
        "builds", "Builds", (_BUILDS,), (), (statements_in_builds_table(judged), kernels_table(judged, names))
    )


def kernels_table(judged: Sequence[JudgedPaper], names: Mapping[str, str]) -> TableData:
    """Returns a table of the kernels and versions in the builds of each paper."""
    rows = []
    for paper in judged:
        versions: dict[str, set[str]] = {}
        for row in paper.stored.rows:
            if row.values:
                versions.setdefault(row.stands_for.kernel, set()).add(row.version)
        texts = (
            f"{names.get(kernel, kernel)} {', '.join(sorted(filter(_IS_RELEASE.search, versions[kernel])))}".strip()
            for kernel in sorted(versions)
        )
        rows.append([paper.paper.key, "; ".join(texts)])
    return TableData("Kernels of the builds", ("paper", "kernels and versions"), rows)


def statements_in_builds_table(judged: Sequence[JudgedPaper]) -> TableData:
    """Returns a table of how many statements hold in all, some or no builds, by paper."""
    columns = (
        "paper", ">builds", ">placements", ">statements", ">not judged", ">true in all", ">in some", ">in none",
        ">changed by placement", "other change with the largest effect",
    )  # fmt: skip
    lines = []
    for paper in judged:
        wholes = [one.whole.verdict_counts_over_all_builds for one in paper.statements]
        always, never = (
            sum(one.held == one.statement_observation_count for one in wholes),
            sum(one.held == 0 for one in wholes),
        )
        turns = claim_reversal_counts_by_build_change(paper.statements)
        unjudged = sum(claim.kind != "not computed" for claim in paper.not_judged)
        others = [(count, change) for change, count in turns.items() if change != PLACEMENT and count]
        count, change = max(others, default=(0, "-"))
        lines.append(
            [
                paper.paper.key, str(len(paper.builds)), str(paper.stored.placements), str(len(wholes)),
                str(unjudged), str(always), str(len(wholes) - always - never), str(never), str(turns.get(PLACEMENT, 0)),
                f"{change} ({count})" if count else change,
            ]
        )  # fmt: skip
    return TableData("Statements of papers over builds", columns, lines)


def _format_percent(part: float) -> str:
    """Returns a share (0 to 1) in percent, as text."""
    return f"{100 * part:.1f} %"
