"""Checks that a periodic activity keeps its period: its intervals follow each other without a gap, each lasts as long
as its ticks, and their errors do not add up.

It reveals a jitter that looks small only because every period is late by the same amount. The error of an interval's
end is its distance from where it would be if every period had been exactly as long as its ticks. It may vary by what
delays a single call, but it must not grow."""

from itertools import pairwise
from typing import Final

from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.proofs.expected_counts import code_intervals_that_became_samples
from rtoslab.results import BenchmarkProofFinding

_FEWEST: Final = 8
"""With fewer intervals nothing can be said about a growing error."""
_JITTER_SHARE: Final = 0.25
"""The share of the jitter by which the earliest end of two quarters may differ by chance. A growing error makes the
spread as wide as itself."""


class PeriodAccuracyProofParameters(BenchmarkProofParameters):
    """The parameters of the proof `keeps_period` in benchmark.toml. The proof checks that marked periods follow each
    other without gaps, last as long as their ticks, and that their error does not grow."""

    series: tuple[str, ...]
    """The series that all periods are in, whichever comes next."""
    ticks: str
    """The name of the parameter with the ticks of a period."""
    gap_cycles: int = 1000
    """The most from the end of a period to the start of the next one. More where the code is slower."""
    late_percent: int = 25
    """The most that an end may be away from its place, in percent of a tick."""
    drift_cycles: int = 32
    """The most that the error of the earliest end may differ between the last quarter and the first, because it is
    delayed least. More where the code is slower and where there is jitter."""


def judge_evidence(params: PeriodAccuracyProofParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that marked periods follow each other without gaps, last as long as their ticks, and that their error does
    not grow."""
    ticks = int(evidence.decoded.params[params.ticks])
    tick = evidence.decoded.begin.clock_hz / int(evidence.decoded.params["tick_hz"])
    demands = f"each period follows the one before, lasts {ticks} ticks, and the error does not grow"
    observed = evidence.observed
    if observed is None or observed.intervals is None:
        return make_unjudged_proof_finding(params.rule, demands)
    periods = sorted(
        (interval for name in params.series for interval in code_intervals_that_became_samples(evidence, name)),
        key=lambda interval: interval.start_cycle,
    )
    if len(periods) < _FEWEST:
        return make_judged_proof_finding(
            params.rule, demands, [f"{len(periods)} periods, {_FEWEST} or more expected"], []
        )
    slowdown = evidence.board_slowdown_over_pico()
    gaps = [later.start_cycle - earlier.start_cycle - earlier.cycles for earlier, later in pairwise(periods)]
    ends = [period.start_cycle + period.cycles for period in periods]
    errors = [end - ends[0] - index * ticks * tick for index, end in enumerate(ends)]
    quarter = len(errors) // 4
    drift = min(errors[-quarter:]) - min(errors[:quarter])
    spread = max(errors) - min(errors)
    problems = []
    if max(gaps) > params.gap_cycles * slowdown:
        problems.append(f"{max(gaps)} cycles from one period to the next")
    if spread > tick * params.late_percent / 100:
        problems.append(f"ends are up to {spread:.0f} cycles from their places")
    if abs(drift) > params.drift_cycles * slowdown + spread * _JITTER_SHARE:
        problems.append(f"the error grows by {drift:.0f} cycles")
    text = f"{len(periods)} periods, ends within {spread:.0f} cycles of their places, drift {drift:.1f} cycles"
    return make_judged_proof_finding(params.rule, demands, problems, [text])
