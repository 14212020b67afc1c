"""Checks that an activity that repeats with the tick does not always begin at the same distance from it.

Otherwise a jitter of 0 would only show that every sample had the same phase."""

from typing import Final

from pydantic import model_validator

from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.proofs.observed_steps import observed_benchmark_steps_to_judge
from rtoslab.proofs.step_match import KernelService
from rtoslab.results import BenchmarkProofFinding
from rtoslab.targets import steps as seen

SHARE: Final = 0.75
"""The share of a series' samples that must begin at a distance of their own."""
ENOUGH: Final = 101
"""With more samples the waits repeat (firmware/include/bench/drift.h), so the share is of at most so many."""


class TickPhaseProofParameters(BenchmarkProofParameters):
    """The parameters of the proof `phases_apart` in benchmark.toml. The proof checks that the samples begin at
    different distances from the tick."""

    series: tuple[str, ...] = ()
    service: str | None = None
    """A service whose calls are meant, in place of the starts of `series`."""

    @model_validator(mode="after")
    def _require_one_of_both(self) -> "TickPhaseProofParameters":
        """Raises ValueError for a table that has both `series` and `service`, or neither."""
        if bool(self.series) == bool(self.service):
            raise ValueError("say either series or service")
        return self


def judge_evidence(params: TickPhaseProofParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that the samples begin at different distances from the tick, by the cycles between each tick and the next
    interval's start."""
    demands = f"{SHARE:.0%} of the samples, of {ENOUGH} at most, begin at a distance of their own from their tick"
    if evidence.observed is None:
        return make_unjudged_proof_finding(params.rule, demands)
    ids = evidence.benchmark.latency_series_ids
    names = {ids.index(series): series for series in params.series if series in ids}
    distances: dict[str, list[int]] = {series: [] for series in names.values()}
    service = None
    if params.service is not None:
        service = KernelService(evidence.kernel.kernel_facts_for_architecture(evidence.board.cpu), params.service)
        distances[params.service] = []
    ticked: dict[int, int] = {}
    for step in observed_benchmark_steps_to_judge(evidence):
        if step.kind == seen.TICK:
            ticked[step.core] = step.cycle
        elif step.core not in ticked:
            continue
        elif step.kind == seen.START and step.first in names:
            distances[names[step.first]].append(step.cycle - ticked[step.core])
        elif step.kind == seen.CALL and service is not None and service.is_call_of_kernel_service(step):
            distances[str(params.service)].append(step.cycle - ticked[step.core])
    problems: list[str] = []
    words: list[str] = []
    for name, distance in distances.items():
        text = f"{name}: {len(set(distance))} distances of {len(distance)} samples"
        (words if distance and len(set(distance)) >= SHARE * min(len(distance), ENOUGH) else problems).append(text)
    return make_judged_proof_finding(params.rule, demands, problems, words)
