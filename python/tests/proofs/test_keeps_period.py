"""The rule `keeps_period`: periods follow each other, and their errors do not add up."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from rtoslab.proofs import BenchmarkProofEvidence
from rtoslab.proofs.rules.keeps_period import PeriodAccuracyProofParameters, judge_evidence
from rtoslab.results.finding import BenchmarkProofFinding, ProofVerdict
from rtoslab.targets.intervals import decode_measured_intervals_from_events
from rtoslab.targets.observe import MeasurementWindowObservations
from tests.latency_fakes import evidence, raw, start, stop

RULE = {"rule": "keeps_period", "series": ["give"], "ticks": "period_ticks"}
TICKS = 2
GAP = 40


def periods(lengths: Sequence[int], gaps: Sequence[int] | None = None) -> BenchmarkProofEvidence:
    """A chain of so many intervals, with these cycles from each to the next."""
    rows, cycle = [], 1000
    for index, length in enumerate(lengths):
        rows += [start(cycle, 1), stop(cycle + length, 1)]
        cycle += length + (GAP if gaps is None else gaps[index])
    built = evidence(RULE)
    params = {**built.decoded.params, "period_ticks": str(TICKS), "tick_hz": "1000"}
    observed = MeasurementWindowObservations(
        intervals=decode_measured_intervals_from_events(raw(rows), (), {0: 1}, None)
    )
    return replace(built, decoded=replace(built.decoded, params=params), observed=observed, samples=len(lengths))


def period_cycles() -> int:
    return TICKS * evidence(RULE).decoded.begin.clock_hz // 1000


def judged(lengths: Sequence[int], gaps: Sequence[int] | None = None) -> BenchmarkProofFinding:
    return judge_evidence(PeriodAccuracyProofParameters.model_validate(RULE), periods(lengths, gaps))


WHOLE = period_cycles() - GAP


CASES = [
    ([WHOLE] * 40, "drift 0.0 cycles", ProofVerdict.HOLDS),
    ([WHOLE + error for error in (60, -60)] * 20, "drift 0.0 cycles", ProofVerdict.HOLDS),  # late by turns
    ([WHOLE + 1] * 40, "drift 30.0 cycles", ProofVerdict.HOLDS),  # less than jitter allows
    ([WHOLE + 8] * 40, "the error grows by 240 cycles", ProofVerdict.FAILS),  # 4 cycles a tick
    ([WHOLE - 8] * 40, "the error grows by -240 cycles", ProofVerdict.FAILS),
    ([WHOLE + 8 + error for error in (60, -60)] * 20, "the error grows by 240 cycles", ProofVerdict.FAILS),
    ([*[WHOLE] * 20, 2 * WHOLE + GAP, *[WHOLE] * 20], "from their places", ProofVerdict.FAILS),  # one is missing
    ([WHOLE + period_cycles() // TICKS] * 40, "from their places", ProofVerdict.FAILS),  # each is a tick longer
    ([WHOLE] * 7, "7 periods, 8 or more expected", ProofVerdict.FAILS),
]


@pytest.mark.parametrize(("lengths", "words", "verdict"), CASES)
def test_periods_add_up(lengths: Sequence[int], words: str, verdict: ProofVerdict) -> None:
    result = judged(lengths)
    assert result.verdict is verdict, result.saw
    assert words in result.saw


def test_time_between_two_periods_fails() -> None:
    assert judged([WHOLE] * 10, [GAP] * 10).verdict is ProofVerdict.HOLDS
    long = [GAP] * 4 + [5000] + [GAP] * 5
    result = judged([*[WHOLE] * 5, WHOLE - 5000 + GAP, *[WHOLE] * 4], long)
    assert result.verdict is ProofVerdict.FAILS
    assert "5000 cycles from one period to the next" in result.saw


def test_periods_need_probes() -> None:
    blind = replace(periods([WHOLE] * 10), observed=None)
    assert judge_evidence(PeriodAccuracyProofParameters.model_validate(RULE), blind).verdict is ProofVerdict.UNSEEN
