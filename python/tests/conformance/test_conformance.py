"""Conformance: each kind of check holds on what it is for and fails on what it is against; a verdict stops numbers."""

from collections.abc import Mapping
from typing import Any

import pytest

from rtoslab.base.errors import ConformanceError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.catalogue.conformance_table import ConformanceCheck
from rtoslab.catalogue.kernel_facts import PermittedKernelDifferences
from rtoslab.conformance.examination import ConformanceVerdict
from rtoslab.conformance.judge import (
    CheckOutcome,
    ConformanceCheckResult,
    ConformanceOutput,
    UnfinishedConformanceTest,
    judge_conformance_checks,
)
from rtoslab.conformance.play import conformance_test_name_hash
from rtoslab.records.decoder import decode_records
from tests.fakes import EXPECTED, WIRE, Fields, board, kernel, stream


def check(kind: str, **facts: object) -> ConformanceCheck:
    common = {"id": "c", "title": "C", "demands": "all is well", "kind": kind}
    return ConformanceCheck.model_validate({**common, **facts})


NOTHING: Mapping[str, object] = {}
CHECKS = Catalogue(find_checkout_root()).conformance_suite.check


def judge(
    request: ConformanceCheck,
    *notes: tuple[int, ...],
    slices: int = 0,
    cycles: int = 1_250_000,
    taken: int = 10,
    core: int = 0,
    broken: tuple[UnfinishedConformanceTest, ...] = (),
    whole: bool = True,
    declared: Mapping[str, object] = NOTHING,
) -> ConformanceCheckResult:
    """The first finding on notes that came in these lines; 1000 ticks and 1 000 000 timer units a second."""
    body: list[tuple[str, Fields]] = [
        ("param", {"name": "tick_hz", "value": 1000}),
        ("param", {"name": "time_slice_ticks", "value": slices}),
    ]
    body += [("sample", {"metric": f"c/{core}", "n": len(note), "values": ",".join(map(str, note))}) for note in notes]
    stats = {"cores": [{"cycles": cycles, "exceptions": {15: taken}}], "locks": []}
    decoded = decode_records(stream(body), WIRE, EXPECTED)
    played = ConformanceOutput(decoded, stats, broken, is_complete=whole)  # type: ignore[arg-type]
    return judge_conformance_checks([request], played, kernel(**{"services": {"tasks": True}, **declared}), board())[0]


SEQUENCE = check("sequence", notes=(1, 2, 3))
TIMER = check("timer", ticks=(10, 10), tolerance_percent=3, total_tolerance_percent=0.5)
SLICES = check("slices", span_ticks=7)
GROWTH = check("growth", least=16)
TICKS = check("ticks", tolerance_percent=0.5)
HOLDS, FAILS, ABSENT = CheckOutcome.HOLDS, CheckOutcome.FAILS, CheckOutcome.NOT_APPLICABLE


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
def test_check_judges_its_notes(
    asked: ConformanceCheck, notes: list[tuple[int, ...]], facts: dict[str, Any], outcome: CheckOutcome
) -> None:
    result = judge(asked, *notes, **facts)
    assert result.outcome is outcome, result.saw


def test_check_that_does_not_apply_has_a_reason() -> None:
    assert judge(check("sequence", services=("heap",))).saw == "K has no heap service: its kernel.toml says so"
    assert judge(check("sequence", needs_fpu=True)).saw == "Board has no floating-point unit"


FIRST = check(
    "sequence", notes=(3, 2), instead={"when": "wake_order = first", "notes": (2, 3), "demands": "the first is woken"}
)
LIMIT = check("sequence", notes=(1, 0), instead={"when": "limit = false", "notes": (1, 1), "demands": "no limit"})


@pytest.mark.parametrize(
    ("asked", "declared", "notes", "outcome"),
    [
        (FIRST, {}, (3, 2), HOLDS),
        (FIRST, {}, (2, 3), FAILS),
        (FIRST, {"behaviour": {"wake_order": "first"}}, (2, 3), HOLDS),
        (FIRST, {"behaviour": {"wake_order": "first"}}, (3, 2), FAILS),  # declared, and not so
        (LIMIT, {"services": {"limit": True}}, (1, 0), HOLDS),
        (LIMIT, {"services": {"limit": False}}, (1, 0), FAILS),
        (LIMIT, {"services": {"limit": False}}, (1, 1), HOLDS),
    ],
)
def test_expected_notes_follow_the_declared_facts(
    asked: ConformanceCheck, declared: dict[str, object], notes: tuple[int, ...], outcome: CheckOutcome
) -> None:
    result = judge(asked, notes, declared=declared)
    assert result.outcome is outcome, result.saw
    if asked is FIRST:
        assert (result.demands == "the first is woken") == bool(declared)


@pytest.mark.parametrize("declared", [{}, {"behaviour": {"ready_order": "woken_first"}}])
def test_yield_that_starves_an_equal_task_is_always_refused(declared: dict[str, object]) -> None:
    """A kernel that puts whoever becomes ready before its equals: of three, two hand the core to and fro."""
    ready, turns = (
        next(item.model_copy(update={"id": "c"}) for item in CHECKS if item.id == name)
        for name in ("ready_order", "yield_order")
    )
    can = {"services": dict.fromkeys(("tasks", "semaphore", "equal_priorities", "yield"), True)}
    assert (judge(ready, (1, 3, 2), declared={**can, **declared}).outcome is FAILS) != bool(declared)
    starved = judge(turns, (1, 3, 1, 3, 1, 3, 2, 2, 2), declared={**can, **declared})
    assert starved.outcome is FAILS, starved.saw
    assert "noted 1 3 1 3 1 3 2 2 2" in starved.saw


def test_broken_scene_fails_only_its_checks() -> None:
    result = judge(SEQUENCE, broken=(UnfinishedConformanceTest("c", 0, "got stuck"),))
    assert (result.outcome, result.saw) == (FAILS, "its scene got stuck")
    result = judge(SEQUENCE, broken=(UnfinishedConformanceTest("c", 1, "got stuck"),))
    assert (result.outcome, result.saw) == (FAILS, "not played, because on core 1 its scene got stuck")
    assert judge(SEQUENCE, (1, 2, 3), broken=(UnfinishedConformanceTest("c", 1, "got stuck"),)).outcome is HOLDS, (
        "noted before that"
    )
    assert judge(SEQUENCE, (1, 2, 3), broken=(UnfinishedConformanceTest("d", 0, "got stuck"),)).outcome is HOLDS
    assert judge(SEQUENCE, whole=False).outcome is CheckOutcome.UNSEEN, "nobody knows"
    assert judge(SEQUENCE, (1, 2), whole=False).outcome is FAILS


def test_declared_deviation_must_be_observed() -> None:
    declared: Mapping[str, object] = {"deviations": {"c": "its manual says so"}}
    result = judge(SEQUENCE, (2, 1), declared=declared)
    assert (result.outcome, result.saw) == (
        CheckOutcome.DEVIATES,
        "noted 2 1 where 1 2 3 was due; declared: its manual says so",
    )
    assert (
        judge(SEQUENCE, broken=(UnfinishedConformanceTest("c", 0, "got stuck"),), declared=declared).outcome
        is CheckOutcome.DEVIATES
    )
    result = judge(SEQUENCE, (1, 2, 3), declared=declared)
    assert result.outcome is FAILS
    assert result.saw.endswith("declared to deviate, but conforms: remove it from [deviations] of kernel.toml")
    assert judge(SEQUENCE, whole=False, declared=declared).outcome is CheckOutcome.UNSEEN
    assert judge(check("sequence", services=("heap",)), declared=declared).outcome is ABSENT


def verdict(*outcomes: CheckOutcome, failure: str | None = None) -> ConformanceVerdict:
    findings = tuple(
        ConformanceCheckResult(
            check="c", title="Order", core=0, demands="all is well", saw="noted 2 1", outcome=outcome
        )
        for outcome in outcomes
    )
    return ConformanceVerdict(digest="0", kernel="k", board="b", cores=1, findings=findings, failure=failure)


def test_verdict_needs_a_passed_check_and_no_failed_one() -> None:
    assert verdict(HOLDS, ABSENT, CheckOutcome.UNSEEN).is_kernel_port_conformant
    assert not verdict(HOLDS, FAILS).is_kernel_port_conformant
    assert not verdict(ABSENT).is_kernel_port_conformant
    assert not verdict(HOLDS, failure="It hung.").is_kernel_port_conformant
    assert not verdict().is_kernel_port_conformant
    assert verdict(HOLDS, CheckOutcome.DEVIATES).is_kernel_port_conformant
    assert verdict(HOLDS, CheckOutcome.DEVIATES).contract_deviation_reasons == {"Order": "noted 2 1"}
    verdict(HOLDS).require_port_conforms()
    with pytest.raises(ConformanceError, match=r"is valid: Order demands that all is well, but core 0: noted 2 1\."):
        verdict(FAILS, HOLDS).require_port_conforms()
    with pytest.raises(ConformanceError, match=r"is valid: It hung\."):
        verdict(failure="It hung.").require_port_conforms()


def test_manifest_has_every_check() -> None:
    assert verdict(HOLDS, FAILS, HOLDS).outcomes_by_conformance_check() == {"digest": "0", "checks": {"c": "fails"}}
    assert verdict(ABSENT).outcomes_by_conformance_check()["checks"] == {"c": "n/a: noted 2 1"}
    assert verdict(HOLDS, CheckOutcome.DEVIATES).outcomes_by_conformance_check()["checks"] == {
        "c": "deviates: noted 2 1"
    }


def test_table_asks_only_for_services_that_exist() -> None:
    catalogue = Catalogue(find_checkout_root())
    suite = catalogue.conformance_suite.check
    assert len({item.id for item in suite}) == len(suite)
    for entry in catalogue.kernels.values():
        for item in suite:
            assert set(item.services) <= set(entry.facts.services), item.id
            if item.instead is not None:
                assert entry.facts.find_declared_kernel_toml_value(item.instead.when.split(" = ")[0]) is not None, (
                    item.id
                )


def test_every_fact_of_the_scenes_is_checked() -> None:
    """The last ten of `[behaviour]` are the proofs' matter."""
    request = {
        item.instead.when.split(" = ")[0]
        for item in Catalogue(find_checkout_root()).conformance_suite.check
        if item.instead
    }
    assert set(PermittedKernelDifferences.model_fields) - request == {
        "heap_lock", "queue_lock", "lock_wait", "handler_entry", "switch_exceptions", "switch_mode",
        "float_context", "timer_restart", "same_tick_order", "interrupt_masking",
    }  # fmt: skip


def test_image_contains_the_hash_of_the_suite() -> None:
    """FNV-1a's published values."""
    assert (conformance_test_name_hash(""), conformance_test_name_hash("a"), conformance_test_name_hash("foobar")) == (
        0x811C9DC5,
        0xE40C292C,
        0xBF9CF968,
    )
