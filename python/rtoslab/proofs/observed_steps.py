"""The observed steps of a run that rules judge."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Final

from rtoslab.catalogue import Kernel
from rtoslab.proofs.evidence import BenchmarkProofEvidence
from rtoslab.targets import ObservedBenchmarkStep
from rtoslab.targets import steps as seen

END_TICK: Final = "end_tick"
"""In kernel.toml, the argument of a sleep that is the tick at which it ends."""
START_TICK: Final = "start_tick"
"""In kernel.toml, the argument of a wait with a time-out that is the tick at which it begins."""
CLOCK_ARGUMENTS: Final = frozenset({END_TICK, START_TICK})
"""Arguments that the port computes from the clock, which it reads just before."""
_WORD: Final = 0xFFFF_FFFF


def observed_benchmark_steps_to_judge(evidence: BenchmarkProofEvidence) -> tuple[ObservedBenchmarkStep, ...]:
    """Returns the observed steps of a run (kernel calls, switches, marks) that proofs examine."""
    assert evidence.observed is not None
    steps = _add_sleep_lengths_to_observed_steps(
        evidence.kernel.kernel_facts_for_architecture(evidence.board.cpu), evidence.observed.steps
    )
    if evidence.benchmark.kind != "latency":
        return steps
    missing = dict.fromkeys(range(1, len(evidence.benchmark.latency_series_ids)), evidence.samples)
    for index, step in enumerate(steps):
        if step.kind == seen.STOP and step.first in missing:
            missing[step.first] -= 1
            if not missing[step.first]:
                del missing[step.first]
                if not missing:
                    return steps[: index + 1]
    return steps


def are_recorded_steps_incomplete(evidence: BenchmarkProofEvidence) -> bool:
    """Whether a latency benchmark had more steps than the virtual board recorded."""
    return evidence.benchmark.kind == "latency" and evidence.observed is not None and evidence.observed.steps_cut


def _add_sleep_lengths_to_observed_steps(
    kernel: Kernel, steps: Sequence[ObservedBenchmarkStep]
) -> tuple[ObservedBenchmarkStep, ...]:
    """Returns the observed steps with the length of each sleep as argument, for a kernel whose sleep call takes the
    tick at which the sleep ends. The length is that tick minus the clock that the same task read just before, and the
    read is dropped."""
    if END_TICK not in kernel.arguments_of_observed_call("sleep_ticks"):
        return tuple(steps)
    sleeps, clocks = kernel.symbols.get("sleep_ticks", ()), kernel.symbols.get("tick_now", ())
    passed = list(accumulate(step.kind == seen.TICK for step in steps))
    first = next((at for at, step in enumerate(steps) if step.name in clocks and step.result is not None), None)
    began = 0 if first is None else (steps[first].result or 0) - passed[first]
    """The clock as the steps begin: what a look gave that was not seen to return is reckoned from it."""
    stored: list[ObservedBenchmarkStep | None] = []
    last: dict[int, int] = {}
    """Core -> which of all its last step is."""
    for at, step in enumerate(steps):
        look = last.get(step.core, at)
        last[step.core] = at
        is_repeat = (steps[look].kind, step.kind, steps[look].who) == (seen.CALL, seen.CALL, step.who)
        if not is_repeat or steps[look].name not in clocks or step.name not in sleeps or first is None:
            stored.append(step)
            continue
        result = steps[look].result
        stored[look] = None
        stored.append(replace(step, first=(step.first - (began + passed[look] if result is None else result)) & _WORD))
    return tuple(sleep for sleep in stored if sleep is not None)
