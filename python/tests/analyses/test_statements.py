"""Every statement of the papers by figures made up for it: what its sentence asks for is what its rule answers.

The plantings were written from the sentences, by somebody who had not seen the rules. A rule that answers `same` to
figures that contradict its sentence fails here.
"""

from collections.abc import Iterator

import pytest

from rtoslab.analyses.claims import judge_claims
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.catalogue.claim_schemas import PaperClaim
from rtoslab.catalogue.paper_folders import read_papers
from tests.planted_values import Planting, plantings

PAPERS = read_papers(Catalogue(find_checkout_root()))


def _all_plantings() -> Iterator[tuple[str, Planting]]:
    for key in PAPERS:
        for planting in plantings(key):
            yield key, planting


def _claim(key: str, name: str) -> PaperClaim:
    return next(claim for claim in PAPERS[key].claims if claim.id == name)


@pytest.mark.parametrize("key", list(PAPERS))
def test_every_planted_case_gets_its_expected_verdict(key: str) -> None:
    wrong = []
    for planting in plantings(key):
        (verdict,) = judge_claims([_claim(key, planting.statement)], planting.values, PAPERS[key].facts.resolution)
        if verdict.outcome_of_all_statement_cases != planting.expect:
            wrong.append(
                f"{planting.statement}: {verdict.outcome_of_all_statement_cases}, not {planting.expect} "
                f"({planting.why}): "
                f"{verdict.text_of_compared_claim_numbers[:200]}"
            )
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("key", list(PAPERS))
def test_every_statement_is_planted_with_each_possible_verdict(key: str) -> None:
    expected: dict[str, set[str]] = {}
    for planting in plantings(key):
        expected.setdefault(planting.statement, set()).add(planting.expect)
    for claim in PAPERS[key].claims:
        if claim.kind == "not computed":
            assert claim.id not in expected
        else:
            required = {"same", "different"} | ({"partly"} if len(claim.cases) > 1 else set())
            assert required <= expected.get(claim.id, set()), claim.id
