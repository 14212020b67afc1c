"""Stamped series: intervals that begin with a timer's event, and the rules and figures made for them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from rtoslab.analyses.latency import latencies_of_point
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.benchmark import EMPTY_SERIES, Benchmark
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.plan.plan import PlanOptions, make_measurement_plan
from rtoslab.proofs import BenchmarkProofEvidence
from rtoslab.proofs.rules import benchmark_proof_rule_modules, parameters_class_of_proof_rule
from rtoslab.results.finding import ProofVerdict
from rtoslab.targets.event_kinds import IDENT_MARK, KIND_EXCEPTION_ENTER, KIND_EXCEPTION_EXIT, KIND_EXEC
from rtoslab.targets.events import EVENT
from rtoslab.targets.intervals import LatencyBenchmarkIntervals, decode_measured_intervals_from_events
from rtoslab.targets.observe import MeasurementWindowObservations
from tests.fakes import Fields, board, decoded_run, kernel
from tests.latency_fakes import latency_point

TIMER = 16 + 4
PENDSV = 14
ENTRY_CYCLES = 15
Row = tuple[int, int, int, int, int]
"""(cycle, kind, ident, value, pc)"""


def interrupt_row(cycle: int) -> Row:
    """Recognised at `cycle`; the handler's first instruction comes later."""
    return cycle + ENTRY_CYCLES, KIND_EXCEPTION_ENTER, TIMER, ENTRY_CYCLES, 0


def stamp_row(cycle: int, series: int = 1) -> Row:
    return cycle, KIND_EXEC, IDENT_MARK + 2 * series + 1, 0, 0


def return_row(cycle: int, address: int, exception: int = TIMER) -> Row:
    return cycle, KIND_EXCEPTION_EXIT, exception, 0, address


def intervals(rows: Sequence[Row], stamping: int = TIMER) -> LatencyBenchmarkIntervals:
    built = np.zeros(len(rows), dtype=EVENT)
    for index, (cycle, kind, ident, value, pc) in enumerate(rows):
        built[index] = (cycle, value, pc, ident, kind, 0, 0)
    return decode_measured_intervals_from_events(built.tobytes(), (), {0: 1}, None, stamping)


ORDERLY = [
    interrupt_row(100), stamp_row(120), return_row(150, 0x100),
    interrupt_row(1100), stamp_row(1120), return_row(1150, 0x104), return_row(1200, 0x200, PENDSV),
]  # fmt: skip


def facts(proof: Sequence[dict[str, Any]] = (), **series: Any) -> dict[str, Any]:
    entry = {"id": "event", "title": "-", "starts": "-", "ends": "-", "instruments": ["counter"]}
    return {
        "id": "b", "title": "B", "question": "?", "kind": "latency", "tasks_per_core": 1, "stack_bytes": 1024,
        "inside": "-", "outside": "-", "services": [], "samples": 2, "proof": list(proof),
        "series": [{**entry, "stamped": "asynchronous", **series}],
    }  # fmt: skip


def evidence(rule: dict[str, Any], rows: Sequence[Row], stamps: str) -> BenchmarkProofEvidence:
    body: list[tuple[str, Fields]] = [
        ("param", {"name": "instrument", "value": "counter"}),
        ("param", {"name": "samples", "value": "2"}),
        ("sample", {"metric": EMPTY_SERIES, "values": "7x2", "n": 2}),
        ("sample", {"metric": "event", "values": stamps, "n": 2}),
    ]
    observed = MeasurementWindowObservations(intervals=intervals(rows))
    return BenchmarkProofEvidence(
        decoded_run(body), observed, Benchmark.model_validate(facts([rule])), board(), kernel(), 2
    )


def test_stamped_interval_begins_at_the_interrupts_recognition() -> None:
    result = intervals(ORDERLY)
    assert [(interval.series, interval.start_cycle, interval.cycles) for interval in result.intervals] == [
        (1, 100, 20),
        (1, 1100, 20),
    ]
    assert result.disorder == ()
    assert result.resumed == {TIMER: {0x100, 0x104}, PENDSV: {0x200}}


def test_event_without_a_stamp_is_an_error() -> None:
    assert intervals([interrupt_row(100), interrupt_row(200), stamp_row(230)]).disorder != ()


def test_interval_stamped_by_the_tick_begins_at_the_last_tick() -> None:
    ticks = [(cycle + ENTRY_CYCLES, KIND_EXCEPTION_ENTER, 15, ENTRY_CYCLES, 0) for cycle in (100, 1100, 2100, 3100)]
    result = intervals([*ticks[:3], stamp_row(2150), ticks[3]], 15)
    assert [(interval.series, interval.start_cycle, interval.cycles) for interval in result.intervals] == [
        (1, 2100, 50)
    ]
    assert result.disorder == ()
    assert intervals([ticks[0], stamp_row(150), stamp_row(160)], 15).disorder != ()


AGREE = {"rule": "stamps_agree", "series": ["event"]}
ANYWHERE = {"rule": "interrupted_anywhere", "line": "asynchronous", "places": 2}

SENT = {"rule": "senders_stamp", "series": ["event"], "slack_cycles": 16, "rare": 2}
IN_ORDER = {"rule": "intervals_in_order", "series": ["event"], "at_least": 2}


def sent_row(cycle: int) -> Row:
    return cycle, KIND_EXEC, IDENT_MARK + 2, 0, 0


MESSAGES = [sent_row(100), stamp_row(300), sent_row(1000), stamp_row(1250)]

CASES: list[tuple[dict[str, Any], Sequence[Row], str, ProofVerdict]] = [
    (SENT, MESSAGES, "190,240", ProofVerdict.HOLDS),
    (SENT, MESSAGES, "190,150", ProofVerdict.HOLDS),  # one in two may have something between mark and reading
    (SENT, MESSAGES, "150,150", ProofVerdict.FAILS),
    (SENT, MESSAGES, "201,240", ProofVerdict.FAILS),  # longer than from mark to mark: an older stamp
    (SENT, [], "190,240", ProofVerdict.FAILS),
    (IN_ORDER, MESSAGES, "190,240", ProofVerdict.HOLDS),
    (IN_ORDER, MESSAGES[:3], "190,240", ProofVerdict.FAILS),
    (IN_ORDER, [sent_row(50), *MESSAGES], "190,240", ProofVerdict.FAILS),  # one was not received
    (AGREE, ORDERLY, "22,25", ProofVerdict.HOLDS),
    (AGREE, ORDERLY, "22,999", ProofVerdict.HOLDS),  # something kept the core from the second one
    (AGREE, ORDERLY, "122,125", ProofVerdict.FAILS),  # from both: no, the stamp counts from elsewhere
    (
        AGREE,
        [interrupt_row(100), stamp_row(220), interrupt_row(1100), stamp_row(1220)],
        "22,25",
        ProofVerdict.FAILS,
    ),  # shorter than seen
    (
        {**AGREE, "rare": 2},
        [interrupt_row(100), stamp_row(220), interrupt_row(1100), stamp_row(1120)],
        "22,25",
        ProofVerdict.HOLDS,
    ),  # a tick
    (AGREE, [], "22,25", ProofVerdict.FAILS),
    (AGREE, ORDERLY, "1,25", ProofVerdict.FAILS),  # less than the handler itself took
    ({**AGREE, "undisturbed": ["event"]}, ORDERLY, "22,25", ProofVerdict.HOLDS),
    ({**AGREE, "undisturbed": ["event"]}, ORDERLY, "22,99", ProofVerdict.FAILS),  # interrupts were masked
    ({**AGREE, "undisturbed": ["event"], "rare": 2}, ORDERLY, "22,99", ProofVerdict.HOLDS),  # a tick
    (ANYWHERE, ORDERLY, "22x2", ProofVerdict.HOLDS),
    (ANYWHERE, ORDERLY[:3], "22x2", ProofVerdict.FAILS),
    ({**ANYWHERE, "by_switch": True}, ORDERLY, "22x2", ProofVerdict.FAILS),
    ({**ANYWHERE, "by_switch": True, "places": 1}, ORDERLY, "22x2", ProofVerdict.HOLDS),
]


@pytest.mark.parametrize(("rule", "rows", "stamps", "verdict"), CASES)
def test_stamp_rule_holds_and_fails(
    rule: dict[str, Any], rows: Sequence[Row], stamps: str, verdict: ProofVerdict
) -> None:
    result = benchmark_proof_rule_modules()[rule["rule"]]
    finding = result.judge_evidence(
        parameters_class_of_proof_rule(result).model_validate(rule), evidence(rule, rows, stamps)
    )
    assert finding.verdict is verdict, finding.saw


@pytest.mark.parametrize("rule", [AGREE, ANYWHERE, SENT, IN_ORDER])
def test_stamp_rules_need_probes(rule: dict[str, Any]) -> None:
    result = benchmark_proof_rule_modules()[rule["rule"]]
    blind = evidence(rule, ORDERLY, "22x2")
    judged = result.judge_evidence(
        parameters_class_of_proof_rule(result).model_validate(rule),
        BenchmarkProofEvidence(blind.decoded, None, blind.benchmark, blind.board, blind.kernel, 2),
    )
    assert judged.verdict is ProofVerdict.UNSEEN


def test_instrument_is_not_compared_with_stamps_and_not_subtracted_from_them() -> None:
    result = benchmark_proof_rule_modules()["instrument_agrees"]
    far = evidence(AGREE, ORDERLY, "522,525")
    assert (
        result.judge_evidence(parameters_class_of_proof_rule(result)(rule="instrument_agrees"), far).verdict
        is ProofVerdict.HOLDS
    )
    assert list(
        latencies_of_point(latency_point("counter", (22, 25), empty=7, stamped=True))[
            0
        ].samples_without_instrument_overhead
    ) == [
        22,
        25,
    ]
    assert list(
        latencies_of_point(latency_point("counter", (22, 25), empty=7))[0].samples_without_instrument_overhead
    ) == [15, 18]


def test_stamped_benchmark_is_measured_by_the_counter_alone() -> None:
    catalogue = Catalogue(find_checkout_root())
    points = make_measurement_plan(catalogue, ["interrupt_latency"], PlanOptions(["bare"], ["pico"], [1])).points
    assert [(item.instrument, item.not_applicable) for item in points] == [("counter", None)]
    request = PlanOptions(["bare"], ["pico"], [1], config={"instrument": "pin"})
    (point,) = make_measurement_plan(catalogue, ["interrupt_latency"], request).points
    assert point.not_applicable == "Interrupt latency, asynchronous can be measured by counter only"


@pytest.mark.parametrize(
    ("series", "message"),
    [
        ({"instruments": ["counter", "pin"]}, "a stamped series must have instruments"),
        ({"stamped": "soft"}, "asynchronous"),
    ],
)
def test_stamped_series_options_are_validated(series: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Benchmark.model_validate(facts(**series))


def test_stamped_and_other_series_cannot_be_mixed() -> None:
    mixed = facts()
    mixed["series"].append({"id": "other", "title": "-", "starts": "-", "ends": "-"})
    with pytest.raises(ValidationError, match="either all"):
        Benchmark.model_validate(mixed)
