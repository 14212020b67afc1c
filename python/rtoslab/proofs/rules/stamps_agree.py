"""Checks that the stamps of a hardware timer agree with the virtual board.

A stamp counts from the timer's event, the board knows when the core recognised the interrupt. In between lies what kept
the core from it (masked interrupts, a longer instruction), and the reading's way to the timer is constant. So no stamp
is shorter than from recognition to reading, and where nothing kept the core it is hardly longer. The mark stands some
instructions after the reading: one sample in `rare` may seem too short, because a tick came between the two. In a
series in which the task only computes, nothing keeps the core but a tick, so hardly any stamp is longer.
"""

from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.proofs.expected_counts import code_intervals_that_became_samples
from rtoslab.results import BenchmarkProofFinding, interval_readings_of_instrument


class TimerTimestampProofParameters(BenchmarkProofParameters):
    """The parameters of the proof `stamps_agree` in benchmark.toml. The proof checks samples that start at a hardware
    timer's stamp against the time that the virtual board saw from the interrupt's recognition to the mark."""

    series: tuple[str, ...]
    undisturbed: tuple[str, ...] = ()
    """Series in which only ticks keep the core."""
    slack_cycles: int = 16
    """At -O2. More where code is slower, and half as much again at other levels, where the mark is a function."""
    rare: int = 10


def judge_evidence(params: TimerTimestampProofParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks samples that start at a hardware timer's stamp against the time that the virtual board saw from the
    interrupt's recognition to the mark."""
    demands = "no stamp is shorter than from the interrupt's recognition to the reading, and the closest hardly longer"
    observed = evidence.observed
    if observed is None or observed.intervals is None:
        return make_unjudged_proof_finding(params.rule, demands)
    slack = params.slack_cycles * evidence.board_slowdown_over_pico() * (1.5 if "opt" in evidence.settings else 1)
    problems: list[str] = []
    seen: list[str] = []
    for name in params.series:
        stamps = interval_readings_of_instrument(evidence.decoded, observed, 0, name, evidence.samples)
        differences = [
            stamp - item.cycles
            for stamp, item in zip(stamps, code_intervals_that_became_samples(evidence, name), strict=False)
        ]
        text = (
            f"{name}: {min(differences)} to {max(differences)} cycles longer" if differences else f"{name}: no samples"
        )
        long_enough = [item for item in differences if item >= -slack]
        few = (len(differences) - len(long_enough)) * params.rare <= len(differences)
        good = bool(long_enough) and few and min(long_enough) <= slack
        if good and name in (*params.undisturbed, *evidence.known_benchmark_code_limits.undisturbed):
            late = sum(item > min(long_enough) + slack for item in long_enough)
            good = late * params.rare <= len(long_enough)
        (seen if good else problems).append(text)
    return make_judged_proof_finding(params.rule, demands, problems, seen)
