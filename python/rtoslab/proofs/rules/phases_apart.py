"""Proves that a repetition on the tick does not always begin at the same distance from it.

The trap it prevents: a jitter of none, because every sample is of one locked phase."""

from typing import Final

from rtoslab.proofs.evidence import Evidence, RuleParams, finding, unseen
from rtoslab.proofs.observed_steps import steps_of
from rtoslab.results import Finding
from rtoslab.targets import steps as seen

SHARE: Final = 0.75
"""So many of a series' samples begin at a distance of their own."""
ENOUGH: Final = 101
"""With more samples the wait begins anew (firmware/include/bench/drift.h): so many of so many are asked for."""


class Params(RuleParams):
    """Keys of `rule = "phases_apart"`."""

    series: tuple[str, ...]


def judge(params: Params, evidence: Evidence) -> Finding:
    """Judges from the cycles between each tick and the interval that begins next after it."""
    demands = f"{SHARE:.0%} of the samples, of {ENOUGH} at most, begin at a distance of their own from their tick"
    if evidence.observed is None:
        return unseen(params.rule, demands)
    ids = evidence.benchmark.series_ids
    names = {ids.index(series): series for series in params.series if series in ids}
    distances: dict[str, list[int]] = {series: [] for series in names.values()}
    ticked: dict[int, int] = {}
    for step in steps_of(evidence):
        if step.kind == seen.TICK:
            ticked[step.core] = step.cycle
        elif step.kind == seen.START and step.first in names and step.core in ticked:
            distances[names[step.first]].append(step.cycle - ticked[step.core])
    problems: list[str] = []
    words: list[str] = []
    for name, distance in distances.items():
        text = f"{name}: {len(set(distance))} distances of {len(distance)} samples"
        (words if distance and len(set(distance)) >= SHARE * min(len(distance), ENOUGH) else problems).append(text)
    return finding(params.rule, demands, problems, words)
