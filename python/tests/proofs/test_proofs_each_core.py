"""What kernels of several cores declare of each core: its ticks, its loops that wait for a lock, and its counters."""

import dataclasses
from collections import Counter
from typing import Any

import pytest

from rtoslab.catalogue.kernel_facts import MulticoreKernelFacts
from rtoslab.proofs import judge_benchmark_proofs
from rtoslab.records.decoder import decode_records
from rtoslab.results.finding import ProofVerdict
from rtoslab.targets.observe import EquallyExecutedCodeRange
from tests.fakes import BODY, EXPECTED, WIRE, begin, count, stream
from tests.proofs.test_window_proofs import FLASH, INTERRUPTS, OWN, TOTAL, YIELDS, evidence, own_function

LOOPS = {"own": (dataclasses.replace(own_function(1, TOTAL), stretches=(
    EquallyExecutedCodeRange(FLASH, 5, TOTAL, TOTAL), EquallyExecutedCodeRange(FLASH + 10, 3, 77_777, 77_777),
)),)}  # fmt: skip
"""A function with a loop of three instructions that is executed as often as the core has to wait."""


@pytest.mark.parametrize(
    ("facts", "rule", "cores", "seen", "verdict"),
    [
        ({"ticks": "each"}, INTERRUPTS, 2, {"exceptions": {0: {15: 250}, 1: {15: 249}}}, ProofVerdict.HOLDS),
        ({"ticks": "each"}, INTERRUPTS, 2, {"exceptions": {0: {15: 250}}}, ProofVerdict.FAILS),
        ({"ticks": "each"}, INTERRUPTS, 2, {"exceptions": {0: {15: 300}, 1: {15: 200}}}, ProofVerdict.FAILS),
        ({"ticks": "each"}, INTERRUPTS, 1, {"exceptions": {0: {15: 250}}}, ProofVerdict.HOLDS),
        ({}, INTERRUPTS, 2, {"exceptions": {0: {15: 250}, 1: {15: 249}}}, ProofVerdict.FAILS),
        ({"inline_wait": 3}, {**OWN, "instructions": 5}, 2, LOOPS, ProofVerdict.HOLDS),
        ({"inline_wait": 3}, {**OWN, "instructions": 4}, 2, LOOPS, ProofVerdict.FAILS),
        ({"inline_wait": 3}, OWN, 1, LOOPS, ProofVerdict.FAILS),  # nobody to wait for
        ({"inline_wait": 4}, OWN, 2, LOOPS, ProofVerdict.FAILS),
        ({}, OWN, 2, LOOPS, ProofVerdict.FAILS),
    ],
)
def test_ticks_and_lock_loops_of_each_core_are_declared_by_the_kernel(
    facts: dict[str, Any], rule: dict[str, Any], cores: int, seen: dict[str, Any], verdict: ProofVerdict
) -> None:
    given = evidence(rule, **seen)
    known = given.kernel.model_copy(update={"several_cores": MulticoreKernelFacts.model_validate(facts)})
    decoded = decode_records(stream(BODY, begin(cores=cores)), WIRE, EXPECTED)
    findings = judge_benchmark_proofs(dataclasses.replace(given, kernel=known, decoded=decoded))
    result = next(finding for finding in findings if finding.rule == rule["rule"])
    assert result.verdict is verdict, result.saw


@pytest.mark.parametrize(
    ("core", "calls", "verdict"),
    [
        (0, 500_000, ProofVerdict.HOLDS),
        (0, 499_999, ProofVerdict.FAILS),  # the counters are read while this core's tasks stand still
        (1, 499_996, ProofVerdict.HOLDS),  # 0.5 counts in each microsecond
        (1, 500_004, ProofVerdict.HOLDS),
        (1, 499_995, ProofVerdict.FAILS),
    ],
)
def test_other_cores_count_while_their_counters_are_read(core: int, calls: int, verdict: ProofVerdict) -> None:
    rule = {**YIELDS, "tolerance": 0}
    counts = [record for record in BODY if record[0] != "count"] + [count(0, 500_000), count(0, 500_000, core=1)]
    seen = Counter({(0, "yield"): 500_000, (1, "yield"): 500_000} | {(core, "yield"): calls})
    decoded = decode_records(stream(counts, begin(cores=2, window_us=1_000_000)), WIRE, EXPECTED)
    findings = judge_benchmark_proofs(dataclasses.replace(evidence(rule, calls=seen), decoded=decoded))
    result = next(finding for finding in findings if finding.rule == rule["rule"])
    assert result.verdict is verdict, result.saw
