"""Conformance: each kind of check holds on what it is for and fails on what it is against; a verdict stops numbers."""

import pytest

from rtoslab.base.errors import ConformanceError
from rtoslab.base.paths import find_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.catalogue.conformance_table import Check
from rtoslab.conformance.examination import Conformance
from rtoslab.conformance.judge import CheckFinding, Outcome, judge_all
from rtoslab.records.decoder import decode
from tests.fakes import EXPECTED, WIRE, Fields, board, kernel, stream


def check(kind: str, **facts: object) -> Check:
    common = {"id": "c", "title": "C", "demands": "all is well", "kind": kind}
    return Check.model_validate({**common, **facts})


def judge(
    asked: Check, *notes: tuple[int, ...], slices: int = 0, cycles: int = 1_250_000, taken: int = 10, core: int = 0
) -> CheckFinding:
    """The first finding on notes that came in these lines; 1000 ticks and 1 000 000 timer units a second."""
    body: list[tuple[str, Fields]] = [
        ("param", {"name": "tick_hz", "value": 1000}),
        ("param", {"name": "time_slice_ticks", "value": slices}),
    ]
    body += [("sample", {"metric": f"c/{core}", "n": len(each), "values": ",".join(map(str, each))}) for each in notes]
    stats = {"cores": [{"cycles": cycles, "exceptions": {15: taken}}], "locks": []}
    decoded = decode(stream(body), WIRE, EXPECTED)
    return judge_all([asked], decoded, stats, kernel(services={"tasks": True}), board())[0]  # type: ignore[arg-type]


SEQUENCE = check("sequence", notes=(1, 2, 3))
TIMER = check("timer", ticks=(10, 10), tolerance_percent=3, total_tolerance_percent=0.5)
SLICES = check("slices", span_ticks=7)
GROWTH = check("growth", least=16)
TICKS = check("ticks", tolerance_percent=0.5)
HOLDS, FAILS, ABSENT = Outcome.HOLDS, Outcome.FAILS, Outcome.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("asked", "notes", "facts", "outcome"),
    [
        (SEQUENCE, [(1, 2, 3)], {}, HOLDS),
        (SEQUENCE, [(1, 2), (3,)], {}, HOLDS),  # in two lines
        (SEQUENCE, [(1, 3, 2)], {}, FAILS),
        (SEQUENCE, [(1, 2)], {}, FAILS),
        (SEQUENCE, [(1, 2, 3, 3)], {}, FAILS),
        (SEQUENCE, [], {}, FAILS),  # the scene was not played
        (SEQUENCE, [(1, 2, 3)], {"core": 1}, FAILS),  # not on this core
        (TIMER, [(10_000, 10_000)], {}, HOLDS),
        (TIMER, [(9_800, 10_200)], {}, HOLDS),
        (TIMER, [(10_000, 11_000)], {}, FAILS),  # a tick was lost
        (TIMER, [(10_200, 10_200)], {}, FAILS),  # a little slow throughout
        (TIMER, [(10_000,)], {}, FAILS),
        (SLICES, [(1, 2)], {}, HOLDS),
        (SLICES, [(1, 2, 1)], {}, FAILS),  # sliced although it says no
        (SLICES, [(1,)], {}, FAILS),
        (SLICES, [(1, 2, 1, 2, 1, 2, 1)], {"slices": 1}, HOLDS),
        (SLICES, [(1, 2, 1, 2, 1, 2, 1, 2, 1)], {"slices": 1}, HOLDS),  # one late turn each
        (SLICES, [(1, 2, 1, 2, 1, 2, 1, 2, 1, 2)], {"slices": 1}, FAILS),
        (SLICES, [(1, 2, 1, 2, 1)], {"slices": 1}, FAILS),  # every other tick only
        (SLICES, [(1, 2)], {"slices": 1}, FAILS),  # not sliced although it says so
        (SLICES, [(1, 2, 1)], {"slices": 2}, HOLDS),
        (SLICES, [(1, 2, 2, 1, 2, 1, 2)], {"slices": 1}, FAILS),
        (GROWTH, [(100, 116, 400)], {}, HOLDS),
        (GROWTH, [(100, 115, 400)], {}, FAILS),
        (GROWTH, [(100, 100, 400)], {}, FAILS),
        (GROWTH, [(0, 116, 400)], {}, FAILS),
        (GROWTH, [(100, 400, 400)], {}, FAILS),
        (GROWTH, [(100, 116)], {}, FAILS),
        (TICKS, [], {}, HOLDS),
        (TICKS, [], {"taken": 12}, FAILS),
        (TICKS, [], {"taken": 0}, FAILS),
        (TICKS, [], {"cycles": 1000, "taken": 0}, FAILS),  # nothing was counted
        (check("sequence", services=("heap",)), [], {}, ABSENT),
        (check("sequence", needs_fpu=True), [], {}, ABSENT),
    ],
)
def test_a_check(asked: Check, notes: list[tuple[int, ...]], facts: dict[str, int], outcome: Outcome) -> None:
    found = judge(asked, *notes, **facts)
    assert found.outcome is outcome, found.saw


def test_what_does_not_apply_says_why() -> None:
    assert judge(check("sequence", services=("heap",))).saw == "K has no heap service: its kernel.toml says so"
    assert judge(check("sequence", needs_fpu=True)).saw == "Board has no floating-point unit"


def verdict(*outcomes: Outcome, failure: str | None = None) -> Conformance:
    findings = tuple(
        CheckFinding(check="c", title="Order", core=0, demands="all is well", saw="noted 2 1", outcome=each)
        for each in outcomes
    )
    return Conformance(digest="0", kernel="k", board="b", cores=1, findings=findings, failure=failure)


def test_a_verdict_needs_something_that_holds_and_nothing_that_fails() -> None:
    assert verdict(HOLDS, ABSENT, Outcome.UNSEEN).holds
    assert not verdict(HOLDS, FAILS).holds
    assert not verdict(ABSENT).holds
    assert not verdict(HOLDS, failure="It hung.").holds
    assert not verdict().holds
    verdict(HOLDS).demand()
    with pytest.raises(
        ConformanceError, match=r"does not conform: Order demands that all is well, but core 0: noted 2 1\."
    ):
        verdict(FAILS, HOLDS).demand()
    with pytest.raises(ConformanceError, match=r"does not conform: It hung\."):
        verdict(failure="It hung.").demand()


def test_the_manifest_has_every_check() -> None:
    assert verdict(HOLDS, FAILS, HOLDS).summary() == {"digest": "0", "checks": {"c": "fails"}}
    assert verdict(ABSENT).summary()["checks"] == {"c": "n/a: noted 2 1"}


def test_the_table_asks_only_for_services_that_exist() -> None:
    catalogue = Catalogue(find_root())
    suite = catalogue.conformance.check
    assert len({each.id for each in suite}) == len(suite)
    for entry in catalogue.kernels.values():
        for each in suite:
            assert set(each.services) <= set(entry.facts.services), each.id
