"""Checks that the tick releases tasks as the periods say: after each tick of the window, exactly the tasks whose period
begins ran next.

The benchmark's parameters `period_N_ms` and `phase_ms` state the periods: task N is released whenever the pattern's
time is a multiple of its period, and the window opens phase_ms into the pattern. A kernel whose sleeps last a tick
longer is late by that tick, in each release and in the end of the window.
"""

from collections.abc import Callable
from math import lcm

from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.results import BenchmarkProofFinding, ticks_in_window


class ReleasesAsPeriodsParameters(BenchmarkProofParameters):
    """The parameters of the proof `releases_as_periods` in benchmark.toml. The proof checks that exactly the tasks
    whose period begins at a tick ran after it."""


def tasks_released_at_ticks(params: dict[str, str]) -> Callable[[int], frozenset[str]]:
    """Returns a function that maps the number of a tick in the window to the letters of the tasks whose period begins
    there."""
    phase = int(params.get("phase_ms", 0))
    letters = [(chr(ord("A") + index), period) for index, period in enumerate(task_periods_ms(params))]
    return lambda tick: frozenset([letter for letter, period in letters if (phase + tick) % period == 0])


def task_periods_ms(params: dict[str, str]) -> list[int]:
    """Returns the period of each task in milliseconds, from the benchmark's parameters."""
    return [int(params[f"period_{index}_ms"]) for index in range(26) if f"period_{index}_ms" in params]


def judge_evidence(params: ReleasesAsPeriodsParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that exactly the tasks whose period begins at a tick ran after it, by the switches that follow each
    tick."""
    demands = "each tick is followed by those tasks, and only those, whose period begins"
    if evidence.observed is None or evidence.observed.handled is None or evidence.kernel.probes is None:
        return make_unjudged_proof_finding(params.rule, demands)
    stated = evidence.decoded.params
    late = evidence.kernel.behaviour.sleep_adds_ticks
    seen = ticks_in_window(evidence.observed.handled, evidence.decoded, evidence.benchmark)
    at = tasks_released_at_ticks(stated)
    expected = [at(number - late) if number > late else frozenset() for number in range(1, len(seen) + 1)]
    wrong = [
        f"tick {number} of the window was followed by {_join_task_letters(pair.ran)} instead of "
        f"{_join_task_letters(tasks)}"
        for number, (pair, tasks) in enumerate(zip(seen, expected, strict=True), start=1)
        if pair.ran != tasks
    ]
    window_ms = evidence.decoded.begin.window_us // 1000
    if len(seen) != window_ms - 1 + late:
        wrong.insert(0, f"{len(seen)} ticks with their successor were seen in a window of {window_ms} ms")
    together = sum(len(tick.ran) == len(task_periods_ms(stated)) for tick in seen)
    releases = sum(len(tick.ran) for tick in seen)
    text = f"{len(seen)} ticks, {releases} releases; {together} times all {len(task_periods_ms(stated))} tasks together"
    pattern = f"; the pattern of all periods lasts {lcm(*task_periods_ms(stated))} ms"
    return make_judged_proof_finding(params.rule, demands, wrong[:3], [text + pattern])


def _join_task_letters(tasks: frozenset[str]) -> str:
    """Returns the letters of tasks as text, `none` if there are none."""
    return ", ".join(sorted(tasks)) or "none"
