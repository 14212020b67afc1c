"""Each rule about intervals holds on what it is for, and breaks on what it is against."""

from typing import Any

import pytest

from rtoslab.base.errors import UnknownNameError
from rtoslab.proofs import judge_benchmark_proofs, services_to_watch
from rtoslab.proofs.judge import IMPLIED_PROOFS
from rtoslab.proofs.rules import benchmark_proof_rule_modules, parameters_class_of_proof_rule
from rtoslab.results.finding import ProofVerdict
from rtoslab.targets import SYSTICK
from tests.fakes import BODY
from tests.latency_fakes import (
    Row,
    benchmark,
    call,
    counter_records,
    edge,
    enter,
    evidence,
    leave,
    orderly,
    records_of_instrument,
    start,
    stop,
    switch,
)

SWITCHES = {"rule": "switches_inside", "series": ["give"], "switches": 1}
CALLS = {"rule": "calls_inside", "series": "give", "service": "semaphore_give"}
TAKEN = {"rule": "interrupts_inside", "series": ["give"]}
COMPLETE = {"rule": "samples_complete"}
AGREES = {"rule": "instrument_agrees"}
PULSES: list[Row] = [edge(0, 1), edge(3, 0), edge(500, 1), edge(503, 0)]
PULSES += [edge(9_998, 1), edge(10_101, 0), edge(19_998, 1), edge(20_121, 0)]


def late_pin_rows(cycles: int) -> list[Row]:
    """The pin goes up so much later, as behind other stores, and down with the mark."""
    late = [*PULSES[:4], edge(9_998 + cycles, 1), edge(10_101, 0), edge(19_998 + cycles, 1), edge(20_121, 0)]
    return sorted([*orderly(), *late], key=lambda row: row[0])


ONE_SWITCH: list[Row] = [*orderly()[:5], switch(10_050, 2), *orderly()[5:]]
TWO_SWITCHES: list[Row] = [*ONE_SWITCH[:-1], switch(20_050, 1), ONE_SWITCH[-1]]
TIMED: list[Row] = sorted([*orderly(), *PULSES], key=lambda row: row[0])
TICKS_BEHIND: list[Row] = [*orderly()[:6], enter(10_120), *orderly()[6:], enter(20_140)]
TICKS_BEFORE: list[Row] = [*orderly()[:4], leave(9_990), *orderly()[4:6], leave(19_990), *orderly()[6:]]
PASSES = {**CALLS, "per": "samples", "calls": 2}
"""Four calls a sample: the image says samples = 2."""

PIN_RECORDS = records_of_instrument("pin")
CASES: list[tuple[dict[str, Any], dict[str, Any], ProofVerdict]] = [
    (SWITCHES, {"rows": TWO_SWITCHES}, ProofVerdict.HOLDS),
    (SWITCHES, {"rows": ONE_SWITCH}, ProofVerdict.FAILS),  # the second sample has none
    (SWITCHES, {"rows": orderly(inside=[switch(50, 2), switch(60, 1)])}, ProofVerdict.FAILS),  # there and back
    (SWITCHES, {}, ProofVerdict.FAILS),  # no switch
    ({**SWITCHES, "switches": 0}, {}, ProofVerdict.HOLDS),
    ({**SWITCHES, "switches": 0}, {"rows": ONE_SWITCH}, ProofVerdict.FAILS),
    ({**SWITCHES, "switches": 0}, {"rows": orderly(())}, ProofVerdict.FAILS),  # nothing was measured
    ({**SWITCHES, "switches": 0, "tolerance": 1}, {"rows": ONE_SWITCH}, ProofVerdict.HOLDS),
    (CALLS, {"rows": orderly(inside=[call(1)])}, ProofVerdict.HOLDS),
    (CALLS, {"rows": orderly(inside=[call(1), call(2)])}, ProofVerdict.FAILS),
    (CALLS, {"rows": orderly(inside=[call(1), enter(2), call(3)])}, ProofVerdict.HOLDS),  # the entry was interrupted
    (CALLS, {"rows": [call(1), *orderly()]}, ProofVerdict.FAILS),  # outside
    ({**CALLS, "calls": 2}, {"rows": orderly(inside=[call(1), call(2)])}, ProofVerdict.HOLDS),
    (CALLS, {"rows": []}, ProofVerdict.FAILS),
    (CALLS, {"rows": orderly(inside=[enter(2)]), "slices": True}, ProofVerdict.HOLDS),  # the tick switched
    (CALLS, {"rows": orderly(inside=[enter(2)])}, ProofVerdict.FAILS),
    (CALLS, {"rows": orderly(), "slices": True}, ProofVerdict.FAILS),  # no tick
    (PASSES, {"rows": orderly(inside=[call(cycle) for cycle in range(4)])}, ProofVerdict.HOLDS),
    (PASSES, {"rows": orderly(inside=[call(cycle) for cycle in range(5)])}, ProofVerdict.FAILS),
    ({**PASSES, "slack": 1}, {"rows": orderly(inside=[call(cycle) for cycle in range(5)])}, ProofVerdict.HOLDS),
    ({**PASSES, "slack": 1}, {"rows": orderly(inside=[call(cycle) for cycle in range(2)])}, ProofVerdict.FAILS),
    (TAKEN, {"rows": orderly(inside=[enter(5, 22)])}, ProofVerdict.HOLDS),
    (TAKEN, {"rows": orderly(inside=[enter(5, 22), enter(6, 22)])}, ProofVerdict.FAILS),
    (TAKEN, {"rows": orderly(inside=[enter(5)])}, ProofVerdict.FAILS),  # a tick is no interrupt of the chip's
    (TAKEN, {"rows": []}, ProofVerdict.FAILS),
    (COMPLETE, {}, ProofVerdict.HOLDS),
    (COMPLETE, {"rows": orderly()[:-2]}, ProofVerdict.FAILS),  # a sample without its interval
    (COMPLETE, {"rows": [*orderly(), start(30_000, 1), start(30_100, 1)]}, ProofVerdict.FAILS),  # overlap
    (COMPLETE, {"rows": [stop(0, 1), *orderly()]}, ProofVerdict.FAILS),  # an end without its start
    (COMPLETE, {"probes": False}, ProofVerdict.HOLDS),  # a counter is read on a real board too
    (COMPLETE, {"body": PIN_RECORDS, "rows": TIMED}, ProofVerdict.HOLDS),
    (COMPLETE, {"body": PIN_RECORDS, "rows": sorted([*orderly(), *PULSES[:-4]], key=lambda row: row[0])},
     ProofVerdict.FAILS),
    (COMPLETE, {"body": records_of_instrument("probe")}, ProofVerdict.HOLDS),
    (AGREES, {}, ProofVerdict.HOLDS),
    (AGREES, {"body": counter_records(give="307,327")}, ProofVerdict.FAILS),
    (AGREES, {"body": counter_records("30x2", "130,150")}, ProofVerdict.HOLDS),
    (AGREES, {"body": counter_records("100x2", "107,127")}, ProofVerdict.FAILS),  # less than the instrument's cost
    (AGREES, {"body": counter_records("140x2", "240,260")}, ProofVerdict.FAILS),  # an instrument that takes too long
    (AGREES, {"body": counter_records(give="7,27")}, ProofVerdict.FAILS),  # shorter than between the marks
    (AGREES, {"body": counter_records(give="307,327"), "rows": TICKS_BEHIND}, ProofVerdict.HOLDS),
    (AGREES, {"body": counter_records(give="307,327"), "rows": TICKS_BEFORE}, ProofVerdict.HOLDS),
    (AGREES, {"body": PIN_RECORDS, "rows": TIMED}, ProofVerdict.HOLDS),
    (AGREES, {"body": PIN_RECORDS, "rows": late_pin_rows(6)}, ProofVerdict.HOLDS),  # 3 cycles shorter than by marks
    (AGREES, {"body": PIN_RECORDS, "rows": late_pin_rows(12)}, ProofVerdict.FAILS),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "facts", "verdict"), CASES)
def test_latency_rule_holds_and_fails(rule: dict[str, Any], facts: dict[str, Any], verdict: ProofVerdict) -> None:
    result = benchmark_proof_rule_modules()[rule["rule"]]
    finding = result.judge_evidence(
        parameters_class_of_proof_rule(result).model_validate(rule), evidence(rule, **facts)
    )
    assert finding.verdict is verdict, finding.saw
    assert finding.saw


@pytest.mark.parametrize(
    ("masked_cycles", "ticks", "verdict"),
    [
        (1_000, 250, ProofVerdict.HOLDS),
        (1_000, 247, ProofVerdict.FAILS),
        (400_000, 247, ProofVerdict.HOLDS),  # three ticks of 125 000 cycles, and one at an edge
        (400_000, 245, ProofVerdict.FAILS),
        (400_000, 252, ProofVerdict.FAILS),
    ],
)
def test_ticks_are_lost_while_the_instrument_is_measured(masked_cycles: int, ticks: int, verdict: ProofVerdict) -> None:
    rows = [start(0, 0), stop(10, 0), start(masked_cycles - 10, 0), stop(masked_cycles, 0)]
    rows += [start(500_000, 1), stop(500_100, 1)]
    records = [record for record in BODY if record[0] in {"window", "param", "task"}] + counter_records()
    given = evidence({"rule": "interrupts_told"}, rows, records)
    assert given.observed is not None
    given.observed.exceptions = {0: {SYSTICK: ticks}}
    result = benchmark_proof_rule_modules()["interrupts_told"]
    finding = result.judge_evidence(parameters_class_of_proof_rule(result)(rule="interrupts_told"), given)
    assert finding.verdict is verdict, finding.saw


@pytest.mark.parametrize("rule", [SWITCHES, CALLS, TAKEN, AGREES])
def test_rules_about_intervals_need_probes(rule: dict[str, Any]) -> None:
    result = benchmark_proof_rule_modules()[rule["rule"]]
    assert (
        result.judge_evidence(
            parameters_class_of_proof_rule(result).model_validate(rule), evidence(rule, probes=False)
        ).verdict
        is ProofVerdict.UNSEEN
    )


def test_every_latency_benchmark_proves_its_samples() -> None:
    rules = [item["rule"] for item in IMPLIED_PROOFS["latency"]]
    assert rules[:2] == ["samples_complete", "instrument_agrees"]
    assert rules[2:] == [item["rule"] for item in IMPLIED_PROOFS["counts"]]


def test_unknown_series_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="series of b"):
        judge_benchmark_proofs(evidence({**CALLS, "series": "take"}))


def test_kernel_calls_are_observed() -> None:
    assert services_to_watch(benchmark([CALLS])) == ("semaphore_give",)
