"""Judges a paper's statements about its figures by a run: the same, different, a tie, partly, or not computed, and
why.

A claim is judged in each case of its scope and in each placement of the code. A case that placements disagree about is
a tie. The verdict on the claim counts its cases: `partly` says how many hold, and which."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from rtoslab.analyses.axis_values import MeasuredValue
from rtoslab.analyses.claim_rules import (
    RULES,
    Names,
    ResultText,
    StatementResult,
    experiment_axis_value_text,
    judge_claim_stable_in_code_placements,
)
from rtoslab.analyses.claim_values import (
    ExplainAbsence,
    FindFailure,
    MeasuredValueIndexByMetric,
    NoSingleValueError,
    gather_measured_values_for_paper_claim,
    largest_placement_count,
    paper_statement_values_in_code_placement,
)
from rtoslab.base import all_items_phrase
from rtoslab.catalogue import TIMED, AxisPlaces, PaperClaim, PaperInstrumentTimeResolution

Outcome = Literal["same", "different", "partly", "tie", "not computed"]
OUTCOMES: Final[tuple[Outcome, ...]] = ("different", "partly", "tie", "same", "not computed")
"""The outcomes in the order of reports, contradictions first."""
_SHOWN: Final = 2
"""The number of cases with their numbers in a claim's line. The report has a table of all."""


@dataclass(frozen=True, slots=True)
class PaperStatementCaseVerdict:
    """The verdict on one case of a paper's statement (such as one kernel), with an explanation."""

    name: str
    """The place of the case as text. Empty for the only case of a claim."""
    outcome: StatementResult | None
    """None if the case could not be computed."""
    explanation: str
    """The numbers, or why there are none."""
    in_placements: tuple[StatementResult, ...] = ()
    """The verdict in each placement of the code. Empty where nothing was computed."""


@dataclass(frozen=True, slots=True)
class ClaimVerdict:
    """The verdict on one statement of a paper, with the verdicts on its cases."""

    claim: PaperClaim
    cases: tuple[PaperStatementCaseVerdict, ...]
    threshold: str = ""
    """The bounds and resolution it was judged by, with their source. Empty: only the order of the numbers."""

    @property
    def outcome_of_all_statement_cases(self) -> Outcome:
        """Returns the outcome of all cases together: same, tie, partly, different or not computed."""
        outcomes = {verdict.outcome for verdict in self.cases if verdict.outcome is not None}
        if not outcomes:
            return "not computed"
        if "same" in outcomes:
            return (
                "same"
                if len(outcomes) == 1 and self.number_of_computed_statement_cases == len(self.cases)
                else "partly"
            )
        return "different" if "different" in outcomes else "tie"

    @property
    def number_of_confirmed_paper_claim_cases(self) -> int:
        """Returns the number of cases in which the paper's statement holds."""
        return sum(verdict.outcome == "same" for verdict in self.cases)

    @property
    def number_of_computed_statement_cases(self) -> int:
        """Returns the number of cases that could be computed."""
        return sum(verdict.outcome is not None for verdict in self.cases)

    @property
    def claim_outcome_with_count_text(self) -> str:
        """Returns the outcome with its count: `partly (3 of 8)`."""
        outcome = self.outcome_of_all_statement_cases
        return (
            f"{outcome} ({self.number_of_confirmed_paper_claim_cases} of {len(self.cases)})"
            if outcome == "partly"
            else outcome
        )

    @property
    def text_of_compared_claim_numbers(self) -> str:
        """Returns the compared numbers of the only case as text. If there are several cases, returns their names by
        outcome, contradictions first."""
        if len(self.cases) == 1:
            return self.cases[0].explanation
        parts = []
        for outcome, word in (
            ("different", "not in"),
            ("tie", "tie in"),
            ("same", "holds in"),
            (None, "not computed in"),
        ):
            cases = [verdict for verdict in self.cases if verdict.outcome == outcome]
            if cases:
                parts.append(
                    f"{word} {_paper_claim_case_names_text(cases, len(self.cases), numbers=outcome != 'same')}"
                )
        return "; ".join(parts)


def _paper_claim_case_names_text(cases: Sequence[PaperStatementCaseVerdict], whole: int, *, numbers: bool) -> str:
    """Returns the names of some cases of a statement, the first ones with their numbers if `numbers` is set. `whole` is
    the number of all cases."""
    if len(cases) == whole and not numbers:
        return all_items_phrase(whole, "case")
    if not numbers:
        return " / ".join(verdict.name for verdict in cases)
    shown = [f"{verdict.name}: {verdict.explanation}" for verdict in cases[:_SHOWN]]
    more = [verdict.name for verdict in cases[_SHOWN:]]
    return " / ".join([*shown, *more])


def judge_claims(
    claims: Iterable[PaperClaim],
    values: Sequence[MeasuredValue],
    resolution: PaperInstrumentTimeResolution | None = None,
    *,
    absence: ExplainAbsence = lambda _: "not measured in this run",
    failure: FindFailure = lambda _: None,
    names: Names | None = None,
) -> list[ClaimVerdict]:
    """Returns the verdict on each statement of a paper by the measured values of a run.

    `resolution` is that of the paper's instrument, None if it is exact. `absence` explains a missing value. `failure`
    finds a failed measurement at a place. `names` has titles for readers, by coordinate.
    """
    exact = resolution or PaperInstrumentTimeResolution(seconds=0, source="")
    index = MeasuredValueIndexByMetric(values)
    return [_judge_claim(claim, index, exact, absence, failure, names or {}) for claim in claims]


def _judge_claim(
    claim: PaperClaim,
    index: MeasuredValueIndexByMetric,
    resolution: PaperInstrumentTimeResolution,
    absence: ExplainAbsence,
    failure: FindFailure,
    names: Names,
) -> ClaimVerdict:
    """Returns the verdict on one statement of a paper by the values of a run."""
    if claim.kind == "not computed":
        return ClaimVerdict(claim, (PaperStatementCaseVerdict("", None, claim.why),))
    cases = []
    for case in claim.cases:
        try:
            gathered = gather_measured_values_for_paper_claim(claim, case, index, absence, failure)
            if claim.kind == "same_in_all_placements":
                judged = [judge_claim_stable_in_code_placements(claim, gathered, names)]
            else:
                builds = [
                    paper_statement_values_in_code_placement(claim, gathered, build)
                    for build in range(largest_placement_count(gathered))
                ]
                judged = [RULES[claim.kind](claim, picked, resolution.seconds, names) for picked in builds]
        except (NoSingleValueError, ZeroDivisionError) as cause:
            why = "a value is 0, so there is no ratio" if isinstance(cause, ZeroDivisionError) else str(cause)
            cases.append(PaperStatementCaseVerdict(_claim_case_coordinates_text(case, names), None, why))
        else:
            cases.append(
                PaperStatementCaseVerdict(
                    _claim_case_coordinates_text(case, names),
                    *_combine_results_of_code_placements(judged),
                    tuple(outcome for outcome, _ in judged),
                )
            )
    return ClaimVerdict(claim, tuple(cases), _paper_statement_bounds_text(claim, resolution))


def _claim_case_coordinates_text(case: AxisPlaces, names: Names) -> str:
    """Returns the coordinates of a statement's case as text, without the benchmark of a series and without pinning."""
    silent = {"pinning"} | ({"benchmark"} if "metric" in case else set())
    words = (experiment_axis_value_text(axis, place, names) for axis, place in case.items() if axis not in silent)
    return ", ".join(dict.fromkeys(words))


def _combine_results_of_code_placements(judged: Sequence[ResultText]) -> ResultText:
    """Returns one result from those in each placement of the code. It is a tie if they disagree."""
    text, seen = judged[0]
    if len(set(judged)) == 1:
        return text, seen
    outcomes = Counter(outcomes_of_build for outcomes_of_build, _ in judged)
    if len(outcomes) == 1:
        return text, f"{seen} (so in {all_items_phrase(len(judged), 'placement')})"
    split = ", ".join(f"{outcome} in {count}" for outcome, count in outcomes.most_common())
    examples = [
        next(
            (number, outcomes_of_build[1])
            for number, outcomes_of_build in enumerate(judged)
            if outcomes_of_build[0] == text
        )
        for text in outcomes
    ]
    shown = "; ".join(f"placement {number}: {numbers}" for number, numbers in examples)
    return "tie", f"the result depends on the placement of the code, {split} of {len(judged)}: {shown}"


def _paper_statement_bounds_text(claim: PaperClaim, resolution: PaperInstrumentTimeResolution) -> str:
    """Returns the bounds and the resolution by which a paper's statement is judged, with their sources, as text."""
    words = []
    if claim.bound_from:
        bounds = [f"{word} {bound:g}" for word, bound in (("at least", claim.at_least), ("at most", claim.at_most))
                  if bound is not None]  # fmt: skip
        words.append(f"{' and '.join(bounds)} {claim.bound_from}")
    if claim.kind in TIMED and resolution.seconds:
        words.append(f"no difference up to {resolution.seconds * 1e9:g} ns: {resolution.source}")
    if claim.rests_on:
        words.append(f"depends on: {claim.rests_on}")
    if not words and claim.kind != "not computed":
        words.append("any difference counts")
    return "; ".join(words)
