"""Checks that the window lasted as long as the image says, and that its counts are those in memory.

A rate is a count divided by the time that the image states. The virtual board counts the cycles between the two changes
of the window's state, which show whether this time is right: a stamp taken before the tasks leave the gate makes it
wrong. The counts of core 0's tasks, which stand still at both edges, are read from the runner's table at the same time.
"""

from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.results import BenchmarkProofFinding

_WORD = 0xFFFF_FFFF
_EDGE_CYCLES = 1000
"""The most cycles between a stamp and the change of the window's state, by code that is as fast as
`board_slowdown_over_pico` expects. More where it is slower."""


class MeasurementWindowTimeProofParameters(BenchmarkProofParameters):
    """The proof `window_told`, which has no parameters in benchmark.toml. It checks that the image's time stamps of
    the window are as far apart as the cycles for which the board saw it open, and that it counted what its tasks did.
    It holds for every benchmark."""


def judge_evidence(
    params: MeasurementWindowTimeProofParameters, evidence: BenchmarkProofEvidence
) -> BenchmarkProofFinding:
    """Checks that the image's time stamps of the window are as far apart as the cycles for which the board saw it
    open, and that its counts are those in memory."""
    demands = "the stamps of the window are as far apart as the board saw the window open"
    if evidence.observed is None or not evidence.observed.loads:
        return make_unjudged_proof_finding(params.rule, demands)
    begin, (window, *_) = evidence.decoded.begin, evidence.decoded.windows
    a_tick = begin.clock_hz / begin.timer_hz
    ticks_cycles = (window.close_ticks - window.open_ticks) * a_tick
    seen = evidence.observed.loads[0].cycles
    text = f"{ticks_cycles:.0f} cycles by its stamps, {seen} seen"
    apart = abs(ticks_cycles - seen) > 2 * a_tick + _EDGE_CYCLES * evidence.board_slowdown_over_pico()
    problems = [text] if apart else []
    problems += _find_mismatched_task_counters(evidence)
    return make_judged_proof_finding(params.rule, demands, problems, [text])


def _find_mismatched_task_counters(evidence: BenchmarkProofEvidence) -> list[str]:
    """Returns a sentence for each task of core 0 whose count is not the difference of the runner's table at both edges
    of the window. Other cores run on at the edges, and a task without a core may count there."""
    counts = evidence.decoded.counts
    opened, closed = evidence.observed.task_words if evidence.observed else ((), ())
    if not opened or not counts or len(opened) % len(counts) or not evidence.are_tasks_pinned:
        return []
    words = len(opened) // len(counts)
    problems: list[str] = []
    for count in counts:
        if count.core == 0:
            place = count.index * words
            seen = (closed[place] - opened[place]) & _WORD
            if seen != count.count_in_window:
                problems.append(f"task {count.index} counted {count.count_in_window} by its record, {seen} in memory")
    return problems
