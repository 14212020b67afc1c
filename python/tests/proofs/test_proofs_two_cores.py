"""Rules about what the cores share, each seen to hold and to fail."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from rtoslab.base.errors import CatalogueError
from rtoslab.catalogue.benchmark import Benchmark
from rtoslab.proofs import BenchmarkProofEvidence, judge_benchmark_proofs
from rtoslab.records.decoder import decode_records
from rtoslab.results.finding import ProofVerdict
from rtoslab.targets.observe import BlockingCalls, MeasurementWindowObservations, TaskSwitch
from tests.fakes import (
    BODY,
    EXPECTED,
    WINDOW,
    WIRE,
    begin,
    benchmark,
    board,
    count,
    handle,
    judge_one,
    judge_own,
    kernel,
    stream,
    task,
)
from tests.proofs.test_course import FACTS, PAIR, give, take

OWN = {"rule": "object_per_core", "service": "take"}
ONE = {"rule": "object_shared", "service": "take"}
SOME = {"rule": "collisions", "service": "take", "found": "found"}
NO = {"rule": "no_collisions", "service": "take", "found": "found"}
SHARE = {"rule": "stress_share", "percent": "stress", "accesses": "accesses", "service": "take"}
IDLE = 0x2000_9000
WAITS = {"collided": ["a"], "failed": ["b"]}


def two_cores(
    rule: dict[str, Any],
    *,
    stress: int = 10,
    accesses: int | None = 100,
    result: int = 0,
    objects: tuple[tuple[int, int], ...] = (),
    failed: tuple[int, int] | None = (0, 0),
    calls: int = 100,
    waited: int = 0,
    probes: bool = True,
) -> BenchmarkProofEvidence:
    """Core 0's task is the target, core 1's 1000 iterations the stress. `objects`: (core, address)."""
    checks = [("found", 0, result), ("found", 1, 0)] + ([("accesses", 1, accesses)] if accesses is not None else [])
    body: list[Any] = [
        ("param", {"name": "stress", "value": str(stress)}), task(0), task(0, 1), WINDOW,
        count(0, 50), count(0, 1000, 1),
        *(("check", {"name": name, "core": core, "value": value}) for name, core, value in checks),
    ]  # fmt: skip
    observed = MeasurementWindowObservations(
        switches=Counter({TaskSwitch(1, handle(0, 1), IDLE, "take"): waited}),
        calls=Counter({(0, "take"): 50, (1, "take"): calls}),
        objects=Counter({(core, "take", address): 9 for core, address in objects}),
        waits={core: BlockingCalls(min(1, failure), failure, 0) for core, failure in enumerate(failed)}
        if failed
        else {},
    )
    facts = {
        "id": "t2", "title": "T2 test", "question": "?", "tasks_per_core": 1, "stack_bytes": 1024, "inside": "-",
        "outside": "-", "services": [], "metric": {"id": "m", "unit": "counts", "tasks": [0], "cores": [0]},
        "params": {"stress": 0}, "proof": [rule],
    }  # fmt: skip
    decoded = decode_records(stream(body, begin(cores=2)), WIRE, EXPECTED)
    built = Benchmark.model_validate(facts)
    if rule["rule"].startswith("object_per"):
        built = built.model_copy(update={"metric": built.metric.model_copy(update={"cores": None})})
    return BenchmarkProofEvidence(
        decoded, observed if probes else None, built, board(), kernel(waits=WAITS if failed else None)
    )


CASES: list[tuple[dict[str, Any], dict[str, Any], ProofVerdict]] = [
    (OWN, {"objects": ((0, 16), (1, 32))}, ProofVerdict.HOLDS),
    (OWN, {"objects": ((0, 16), (1, 16))}, ProofVerdict.FAILS),  # the same on both
    (OWN, {"objects": ((0, 16), (0, 24), (1, 32))}, ProofVerdict.FAILS),  # two on one core
    (OWN, {"objects": ((0, 16),)}, ProofVerdict.FAILS),  # core 1 called nothing
    (ONE, {"objects": ((0, 16), (1, 16))}, ProofVerdict.HOLDS),
    (ONE, {"objects": ((0, 16), (1, 32))}, ProofVerdict.FAILS),
    (ONE, {"objects": ((0, 16),)}, ProofVerdict.FAILS),
    (ONE, {"objects": ()}, ProofVerdict.FAILS),
    (SOME, {"failed": (3, 0)}, ProofVerdict.HOLDS),
    (SOME, {"failed": (0, 0), "result": 5}, ProofVerdict.FAILS),  # the kernel's own functions know better
    (SOME, {"failed": None, "waited": 2}, ProofVerdict.HOLDS),  # a kernel that is seen by its switches only
    (SOME, {"failed": None, "waited": 0}, ProofVerdict.FAILS),
    (SOME, {"probes": False, "result": 5}, ProofVerdict.HOLDS),
    (SOME, {"probes": False, "result": 0}, ProofVerdict.FAILS),
    (NO, {"failed": (0, 0)}, ProofVerdict.HOLDS),
    (NO, {"failed": (0, 1)}, ProofVerdict.FAILS),
    (NO, {"failed": (0, 0), "result": 1}, ProofVerdict.FAILS),
    (SHARE, {}, ProofVerdict.HOLDS),
    (SHARE, {"accesses": 139, "calls": 139}, ProofVerdict.HOLDS),  # 100 expected, a deviation of draws is 9.5
    (SHARE, {"accesses": 141, "calls": 141}, ProofVerdict.FAILS),
    (SHARE, {"calls": 103}, ProofVerdict.FAILS),  # something else calls, too
    (SHARE, {"accesses": None}, ProofVerdict.FAILS),
    (SHARE, {"stress": 0, "accesses": 0, "calls": 0}, ProofVerdict.HOLDS),
    (SHARE, {"stress": 0, "accesses": 1, "calls": 1}, ProofVerdict.FAILS),
    (SHARE, {"stress": 0, "accesses": 0, "calls": 1}, ProofVerdict.FAILS),
]


@pytest.mark.parametrize(("rule", "facts", "verdict"), CASES)
def test_proof_rule_on_two_cores(rule: dict[str, Any], facts: dict[str, Any], verdict: ProofVerdict) -> None:
    result = judge_one(two_cores(rule, **facts))
    assert result.verdict is verdict, result.saw
    assert result.saw


@pytest.mark.parametrize("rule", [OWN, ONE, {"rule": "collisions", "service": "take"}])
def test_rules_about_objects_need_probes(rule: dict[str, Any]) -> None:
    result = judge_one(two_cores(rule, probes=False))
    assert result.verdict is ProofVerdict.UNSEEN


@pytest.mark.parametrize(
    ("when", "asked"),
    [("stress = 10", 1), ("stress = 11", 0), ("stress > 9", 1), ("stress > 10", 0), ("cores > 1", 1), ("cores = 1", 0)],
)
def test_rule_applies_only_under_its_conditions(when: str, asked: int) -> None:
    assert len(judge_own(two_cores({**SHARE, "when": [when]}))) == asked
    assert not judge_own(two_cores({**SHARE, "when": [when, "cores = 3"]}))


def test_condition_on_nothing_is_refused() -> None:
    with pytest.raises(CatalogueError, match="'stres', which is not a parameter"):
        judge_benchmark_proofs(two_cores({**SHARE, "when": ["stres = 1"]}))
    with pytest.raises(CatalogueError, match="when"):
        judge_benchmark_proofs(two_cores({**SHARE, "when": ["stress < 1"]}))


@pytest.mark.parametrize(
    ("cores", "fewest", "own", "verdict"),
    [
        (1, 1, 420, ProofVerdict.FAILS),
        (2, 1, 420, ProofVerdict.HOLDS),
        (2, 1, 520, ProofVerdict.FAILS),
        (2, 2, 420, ProofVerdict.FAILS),
    ],
)
def test_cores_with_a_shared_cache_may_take_longer_between_calls(
    cores: int, fewest: int, own: int, verdict: ProofVerdict
) -> None:
    steps = [take(own_cycles=own), give()] * 5
    observed = MeasurementWindowObservations(steps=tuple(replace(step, cycle=at) for at, step in enumerate(steps)))
    facts = benchmark([{**PAIR, "cores": [0]}]).model_copy(update={"min_cores": fewest})
    message = decode_records(stream(BODY, begin(cores=cores)), WIRE, EXPECTED)
    result = judge_one(BenchmarkProofEvidence(message, observed, facts, board(), kernel(**FACTS)))
    assert result.verdict is verdict, result.saw
