"""The report on the stability of a paper's statements: the answer, each statement, each change, the values."""

from collections.abc import Sequence
from typing import Any, Final

from rtoslab.analyses import Selector, select_values_by_coordinates
from rtoslab.base import count_with_noun
from rtoslab.reports import ChartData, ReportDocument, ReportSection, TableData, add_footnotes_for_deviating_kernels
from rtoslab.stability.build_points import value_selectors_of_paper_claim
from rtoslab.stability.builds import kernel_build_of_paper_suites
from rtoslab.stability.judged import JudgedPaper, JudgedStatement, claim_reversal_counts_by_build_change
from rtoslab.stability.shares import PLACEMENT, StatementStability, VerdictCounts, VerdictReversal

_HOW = (
    "A build has one image of each kernel, in one placement of the code. Builds differ in the combination of "
    "version, optimisation and assertions, or in one switch of one kernel. A statement holds in a build if all of "
    "its cases hold there. Kernels are compared only in builds with the same flags. The placements of one build are "
    "independent random samples, so the share of placements has a 95 % interval (Wilson). The flags are chosen and "
    "not random, so the share of all builds is only a count."
)
_COMPARED = (
    "Each row compares pairs of builds that differ only in this change: one build has the setting of the paper's "
    "suites. A change of flags also moves the code, so its row includes the effect of the placement. The row "
    "`placement` shows this effect alone."
)
_CHARTED_STATEMENTS: Final = 6
"""So many of the least stable statements have a chart."""
_DASH: Final = "\N{EN DASH}"


def statement_stability_report(judged: JudgedPaper) -> ReportDocument:
    """Returns the report on how stable a paper's statements are when kernels are built otherwise. Statements that no
    build can judge are at the end."""
    sections = [
        _paper_statements_report_section(judged),
        _verdict_reversing_changes_section(judged),
        _unstable_values_section(judged),
        _claim_case_shares_report_section(judged),
        _builds_list_section(judged),
        _report_section_on_unjudged_claims(judged),
    ]
    document = ReportDocument(
        title=f"How stable are the statements of {judged.paper.facts.authors} {judged.paper.facts.year}?",
        subtitle=f"{judged.paper.facts.title} \N{MIDDLE DOT} {judged.paper.key}",
        summary=paper_claim_stability_summary(judged),
        sections=tuple(section for section in sections if section.tables or section.charts or section.prose),
    )
    deviations = judged.stored.port_contract_deviations_by_kernel
    names = {judged.names.get(row.stands_for.kernel, row.kernel): row.kernel for row in judged.stored.rows}
    return add_footnotes_for_deviating_kernels(
        document, deviations, names, all_deviate=set(deviations) == {*names.values()}
    )


def paper_claim_stability_summary(judged: JudgedPaper) -> str:
    """Returns sentences on how many statements of a paper hold in every build, in some, or in none."""
    wholes = [statement.whole.verdict_counts_over_all_builds for statement in judged.statements]
    always = sum(whole.held == whole.statement_observation_count for whole in wholes)
    never = sum(whole.held == 0 for whole in wholes)
    turning = len(wholes) - always - never
    by_placement = sum(_is_verdict_reversed_by_code_placement(statement.whole) for statement in judged.statements)
    text = (
        f"{count_with_noun(len(judged.builds), 'build')} of each kernel in up to {judged.stored.placements} "
        "placements. "
        f"{count_with_noun(len(wholes), 'statement')}: {always} true in every build, {never} in none, {turning} in "
        f"some. The placement of the code alone changes the result of {count_with_noun(by_placement, 'statement')}."
    )
    changes = {
        change: count
        for change, count in claim_reversal_counts_by_build_change(judged.statements).items()
        if change != PLACEMENT and count
    }
    if changes:
        change, count = next(iter(changes.items()))
        text += f" Of the other changes, {change} affects the most statements: {count}."
    return text


def _is_verdict_reversed_by_code_placement(stability: StatementStability) -> bool:
    """Whether another placement of the code alone reverses the verdict on a statement."""
    return any(turn.change == PLACEMENT and turn.turned for turn in stability.verdict_reversals())


def _paper_statements_report_section(judged: JudgedPaper) -> ReportSection:
    """Returns the report section with each statement and the share of builds in which it holds."""
    rows = [
        [
            f"{statement.claim.says} ({statement.claim.section})",
            share_of_confirming_builds_text(statement.whole.verdict_counts_of_paper_suite_build, interval=True),
            share_of_confirming_builds_text(statement.whole.verdict_counts_over_all_builds),
            most_frequent_claim_reversal_text(statement.whole.verdict_reversals()),
            _fewest_verdict_reversing_changes_text(statement.whole),
        ]
        for statement in sorted(
            judged.statements,
            key=lambda one: abs(one.whole.verdict_counts_over_all_builds.confirming_observation_fraction - 0.5),
        )
    ]
    columns = (
        "the paper says (section)", ">holds, suites' build", ">holds, all builds", "changed most often by",
        "fewest changes that reverse it",
    )  # fmt: skip
    note = (
        "Suites' build: the build of the paper's suites, in all its placements. Changed most often by: the change "
        "that most often reverses the result, with the number of pairs of builds that differ only in it. A tie does "
        "not count as held."
    )
    return ReportSection("statements", "Statements", (_HOW,), (), (TableData("Share of builds", columns, rows, note),))


def share_of_confirming_builds_text(share: VerdictCounts | None, *, interval: bool = False) -> str:
    """Returns the share of builds in which a statement holds, as `29 of 32 (76 to 97 %)`. A dash without builds."""
    if share is None or not share.statement_observation_count:
        return _DASH
    text = f"{share.held} of {share.statement_observation_count}"
    if interval and share.statement_observation_count > 1:
        low, high = share.wilson_interval
        text += f" ({100 * low:.0f} to {100 * high:.0f} %)"
    return f"{text}, {count_with_noun(share.tied, 'tie')}" if share.tied else text


def most_frequent_claim_reversal_text(turns: Sequence[VerdictReversal]) -> str:
    """Returns the change of the build that reverses a statement most often, as `-Os: 12 of 24 pairs`. A dash without
    one."""
    turned = [turn for turn in turns if turn.turned]
    return f"{turned[0].change}: {turned[0].turned} of {count_with_noun(turned[0].pairs, 'pair')}" if turned else _DASH


def _fewest_verdict_reversing_changes_text(stability: StatementStability) -> str:
    """Returns the fewest changes of the build that reverse the statement, as text."""
    fewest_changes = stability.fewest_verdict_reversing_changes()
    if fewest_changes is None:
        return (
            "no measured change reverses it"
            if stability.statement_verdict_in_suite_build != "tie"
            else "a tie in the suites' build"
        )
    return ", ".join(fewest_changes)


def _verdict_reversing_changes_section(judged: JudgedPaper) -> ReportSection:
    """Returns the report section on how many statements each change of the build reverses."""
    turns: dict[str, list[VerdictReversal]] = {}
    for statement in judged.statements:
        for turn in statement.whole.verdict_reversals():
            turns.setdefault(turn.change, []).append(turn)
    rows = [
        [
            change,
            str(sum(bool(entry.turned) for entry in result)),
            str(len(result)),
            _mean_verdict_reversal_percent_text(result),
        ]
        for change, result in sorted(turns.items(), key=lambda item: -_mean_verdict_reversal_share(item[1]))
    ]
    columns = ("change", ">statements turned", ">statements compared", ">pairs changed, mean")
    table = TableData("Changes that reverse statements", columns, rows)
    return ReportSection("changes", "Changes that reverse them", (_COMPARED,), (), (table,))


def _mean_verdict_reversal_share(turns: Sequence[VerdictReversal]) -> float:
    """Returns the mean share of pairs of builds in which a change reverses the verdict, from 0 to 1."""
    return sum(turn.reversed_build_pair_fraction for turn in turns) / len(turns)


def _mean_verdict_reversal_percent_text(turns: Sequence[VerdictReversal]) -> str:
    """Returns the mean share of pairs of builds in which a change reverses the verdict, in percent, as text."""
    return f"{100 * _mean_verdict_reversal_share(turns):.1f} %"


def _unstable_values_section(judged: JudgedPaper) -> ReportSection:
    """Returns the report section with charts of the values behind the least stable statements."""
    unstable = [
        statement
        for statement in judged.statements
        if 0
        < statement.whole.verdict_counts_over_all_builds.held
        < statement.whole.verdict_counts_over_all_builds.statement_observation_count
    ]
    charts = [
        chart
        for judged_statement in _least_stable_statements(unstable)
        if (chart := _least_stable_statement_case_chart(judged, judged_statement)) is not None
    ]
    prose = (
        ("Each mark is one build in one placement. Kernels with overlapping marks have no fixed order.",)
        if charts
        else ()
    )
    return ReportSection("values", "The measured values", prose, tuple(charts))


def _least_stable_statements(statements: Sequence[JudgedStatement]) -> list[JudgedStatement]:
    """Returns the statements whose share of builds is nearest to a half, at most six."""
    return sorted(
        statements,
        key=lambda statement: abs(statement.whole.verdict_counts_over_all_builds.confirming_observation_fraction - 0.5),
    )[:_CHARTED_STATEMENTS]


def _least_stable_statement_case_chart(judged: JudgedPaper, statement: JudgedStatement) -> ChartData | None:
    """Returns a chart of the values of a statement's least stable case, in all builds. None if the case does not
    compare two values of one unit."""
    cases = statement.cases or (statement.whole,)
    chosen = min(
        cases, key=lambda stability: abs(stability.verdict_counts_over_all_builds.confirming_observation_fraction - 0.5)
    )
    number = next((at for at, item in enumerate(statement.cases) if item is chosen), 0)
    members = max(len(statement.claim.of), 1)
    places = [place for place in value_selectors_of_paper_claim(statement.claim) if not statement.claim.over]
    of_case = places[number * members : (number + 1) * members]
    rows: list[dict[str, Any]] = []
    units = set()
    builds = [judged.stored.measured_values_of_build(number) for number in range(len(judged.stored.builds))]
    for place in of_case:
        name = ", ".join(judged.names.get(str(item), str(item)) for item in _selected_member_names(statement, place))
        for values in builds:
            for value in select_values_by_coordinates(values, place):
                units.add(value.unit)
                rows += [{"series": name, "value": item} for item in value.placement_band.values]
    if len(units) != 1 or len({row["series"] for row in rows}) < 2:
        return None
    (unit,) = units
    caption = f"{statement.claim.says}: {chosen.name}" if statement.cases else statement.claim.says
    return ChartData(
        "strip",
        rows,
        f"{caption}. Holds in {share_of_confirming_builds_text(chosen.verdict_counts_over_all_builds)}.",
        x_title=unit,
    )


def _selected_member_names(statement: JudgedStatement, place: Selector) -> list[str]:
    """Returns the readable names of the members of a statement that a selector selects."""
    axes = {axis for of in statement.claim.of for axis in of}
    return [str(place[axis]) for axis in place if axis in axes]


def _claim_case_shares_report_section(judged: JudgedPaper) -> ReportSection:
    """Returns the report section with the share of builds for each case of the statements."""
    rows = [
        [
            f"{statement.claim.says} ({statement.claim.section})",
            stability.name,
            share_of_confirming_builds_text(stability.verdict_counts_of_paper_suite_build, interval=True),
            share_of_confirming_builds_text(stability.verdict_counts_over_all_builds),
            most_frequent_claim_reversal_text(stability.verdict_reversals()),
        ]
        for statement in judged.statements
        for stability in statement.cases
    ]
    columns = (
        "the paper says (section)", "case", ">holds, suites' build", ">holds, all builds", "changed most often by",
    )  # fmt: skip
    return ReportSection(
        "cases", "Case by case", (), (), (TableData("Share of builds, by case", columns, rows),), folded=True
    )


def _builds_list_section(judged: JudgedPaper) -> ReportSection:
    """Returns the report section with the list of builds."""
    stored = judged.stored
    rows = []
    for number, build in enumerate(stored.builds):
        members = [stored.rows[member] for member in stored.rows_by_build[number]]
        kernels = dict.fromkeys(f"{member.kernel} {member.version}".strip() for member in members)
        changes = (
            ", ".join(build.differences_from_base_build(kernel_build_of_paper_suites(stored.factors), stored.factors))
            or "the suites' own"
        )
        missing = sum(bool(member.reason) for member in members)
        same = "" if build in judged.builds else " (not counted: its images are those of an earlier build)"
        rows.append([changes + same, ", ".join(kernels), str(len(members) - missing), str(missing)])
    columns = ("build", "kernels", ">points", ">points refused")
    table = TableData("Builds", columns, rows)
    versions_text = "; ".join(f"{key}: {value}" for key, value in stored.made_by.items())
    return ReportSection("builds", "Builds", (f"Measured with {versions_text}.",), (), (table,), folded=True)


def _report_section_on_unjudged_claims(judged: JudgedPaper) -> ReportSection:
    """Returns the report section with the statements that no build can judge, and why."""
    rows = [[claim.section, claim.says, claim.why or "not measured in any build"] for claim in judged.not_judged]
    return ReportSection(
        "open", "Not judged", (), (), (TableData("Not judged", ("section", "the paper says", "why"), rows),)
    )
