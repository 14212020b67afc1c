"""Checks that the kernel calls a function as often as the periods of its timers say.

It reveals further periodic timers that were not started, that expire only once, or that have other periods."""

from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.results import BenchmarkProofFinding


class TimerFunctionCallProofParameters(BenchmarkProofParameters):
    """The parameters of the proof `entered_as_ticks` in benchmark.toml. The proof checks how often the kernel called
    the function of periodic timers."""

    function: str
    periods: tuple[int, ...]
    """The periods of the timers in ticks."""
    of: str
    """The parameter with the number of timers that are started, from the first on."""


def judge_evidence(params: TimerFunctionCallProofParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks how often the kernel called the function of periodic timers, by the executions of its first
    instruction."""
    periods = params.periods[: int(evidence.decoded.params[params.of])]
    demands = f"{params.function} is called every {', '.join(map(str, periods)) or 'never'} ticks"
    observed = evidence.observed
    if observed is None or not observed.own:
        return make_unjudged_proof_finding(params.rule, demands, "this target has no profile")
    entries = sum(own.entries for own in observed.own if own.name == params.function and own.core in evidence.cores)
    expected = sum(evidence.window_ticks / period for period in periods)
    text = f"{entries} calls in {evidence.window_ticks} ticks, {expected:.0f} expected"
    good = abs(entries - expected) <= len(periods)
    return make_judged_proof_finding(params.rule, demands, [] if good else [text], [text])
