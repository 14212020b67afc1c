"""Judges a paper's statements in every build, by the stored values."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rtoslab.analyses import ClaimVerdict, StatementResult, judge_claims
from rtoslab.catalogue import Catalogue, PaperClaim, PaperFolder
from rtoslab.papers import add_values_for_missing_operations, reader_names
from rtoslab.stability.builds import BuildVariationFactor, KernelBuild
from rtoslab.stability.shares import StatementStability, statement_verdicts
from rtoslab.stability.values_file import PaperClaimStabilityFile, read_stability_file, stability_file_path


@dataclass(frozen=True)
class JudgedStatement:
    """The verdicts on one statement of a paper in all builds, as a whole and in each of its cases."""

    claim: PaperClaim
    whole: StatementStability
    cases: tuple[StatementStability, ...]
    """The cases of a statement with several cases, each named in words."""


@dataclass(frozen=True)
class JudgedPaper:
    """The verdicts on all statements of a paper in all builds."""

    paper: PaperFolder
    stored: PaperClaimStabilityFile
    builds: tuple[KernelBuild, ...]
    """The builds that differ from each other. A build with the same images as an earlier one is left out."""
    statements: tuple[JudgedStatement, ...]
    names: Mapping[str, str]
    not_judged: tuple[PaperClaim, ...]


def judge_paper_claims_in_builds(
    catalogue: Catalogue, paper: PaperFolder, stored: PaperClaimStabilityFile
) -> JudgedPaper:
    """Judges every statement of a paper in every build of the kernels, by the stored values. A build in which nothing
    could be computed does not count."""
    numbers = list(_builds_with_distinct_images(stored))
    names = reader_names(catalogue, paper, [], {})
    by_build = {
        stored.builds[number]: judge_claims(
            paper.claims,
            add_values_for_missing_operations(paper, stored.measured_values_of_build(number)),
            paper.facts.resolution,
            absence=lambda _: "not measured in this build",
            names=names,
        )
        for number in numbers
    }
    statements = [
        _judge_statement_in_builds(
            claim, {build: verdicts[place] for build, verdicts in by_build.items()}, stored.factors
        )
        for place, claim in enumerate(paper.claims)
    ]
    return JudgedPaper(
        paper=paper,
        stored=stored,
        builds=tuple(by_build),
        statements=tuple(statement for statement in statements if statement.whole.by_build),
        names=names,
        not_judged=tuple(statement.claim for statement in statements if not statement.whole.by_build),
    )


def _builds_with_distinct_images(stored: PaperClaimStabilityFile) -> Iterator[int]:
    """Yields the numbers of the builds whose images differ from those of all earlier builds."""
    seen: set[tuple[int, ...]] = set()
    for number, members in enumerate(stored.rows_by_build):
        if members and members not in seen:
            seen.add(members)
            yield number


def _judge_statement_in_builds(
    claim: PaperClaim, verdicts: Mapping[KernelBuild, ClaimVerdict], factors: tuple[BuildVariationFactor, ...]
) -> JudgedStatement:
    """Returns the verdicts on one statement in all builds, and in each of its cases."""
    whole = {build: outcome for build, item in verdicts.items() if (outcome := statement_verdicts(item))}
    named: dict[str, dict[KernelBuild, tuple[StatementResult, ...]]] = {}
    for build, verdict in verdicts.items():
        for case in verdict.cases:
            if case.in_placements:
                named.setdefault(case.name, {})[build] = case.in_placements
    cases = [StatementStability(name, outcome, factors) for name, outcome in named.items()]
    return JudgedStatement(
        claim, StatementStability(claim.says, whole, factors), tuple(cases if len(cases) > 1 else ())
    )


def claim_reversal_counts_by_build_change(statements: Sequence[JudgedStatement]) -> dict[str, int]:
    """Returns, for each change of the build, how many statements it reverses in at least one pair of builds."""
    turned: dict[str, int] = {}
    for statement in statements:
        for turn in statement.whole.verdict_reversals():
            turned[turn.change] = turned.get(turn.change, 0) + bool(turn.turned)
    return dict(sorted(turned.items(), key=lambda item: -item[1]))


def build_count_texts_by_paper_claim(catalogue: Catalogue, paper: PaperFolder) -> dict[str, str]:
    """Returns, by statement id, in how many builds each statement of a paper holds, as `29 of 32`.

    Empty if no values of the paper are stored. Raises AlteredFileError for an edited file.
    """
    path = stability_file_path(catalogue.root, paper.key)
    if not path.is_file():
        return {}
    judged = judge_paper_claims_in_builds(catalogue, paper, read_stability_file(path))
    wholes = {statement.claim.id: statement.whole.verdict_counts_over_all_builds for statement in judged.statements}
    return {ident: f"{whole.held} of {whole.statement_observation_count}" for ident, whole in wholes.items()}
