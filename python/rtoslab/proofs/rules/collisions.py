"""Checks that the contention for which the test is named happened: some attempts did not find their object free."""

from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.results import BenchmarkProofFinding


class CollisionsParameters(BenchmarkProofParameters):
    """The parameters of the proof `collisions` in benchmark.toml. The proof checks that calls of a service collided:
    some found their object in use by another task or core."""

    service: str
    """The call that waits if the object is not free."""
    found: str | None = None
    """A check record: how often the firmware saw the object taken just before its call."""


def find_watched_services(params: CollisionsParameters) -> tuple[str, ...]:
    """Returns the kernel services whose calls the virtual board must record for this proof rule."""
    return (params.service,)


def judge_evidence(params: CollisionsParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that calls of a service collided: some found their object in use by another task or core."""
    demands = f"calls of {params.service} collide"
    text, probed, collisions = count_collisions(params, evidence)
    if probed is None and collisions is None:
        return make_unjudged_proof_finding(params.rule, demands)
    happened = (
        collisions if probed is None else probed
    ) != 0  # a look before the call may well miss what the call meets
    return make_judged_proof_finding(params.rule, demands, [] if happened else [text], [text])


def count_collisions(
    params: CollisionsParameters, evidence: BenchmarkProofEvidence
) -> tuple[str, int | None, int | None]:
    """Returns a sentence, the collisions that probes saw, and the objects that the firmware found in use before its
    calls. Either number is None if it is unknown."""
    probed = collisions = None
    parts = []
    by_core = {core: evidence.count_collisions(core, params.service) for core in evidence.cores}
    collided = [number for number in by_core.values() if number is not None]
    if collided:
        probed = sum(collided)
        parts.append(", ".join(f"core {core} collided {number:,} times" for core, number in by_core.items()))
    if params.found is not None:
        values = {core: evidence.firmware_self_check_values(core).get(params.found, 0) for core in evidence.cores}
        collisions = sum(values.values())
        parts.append(", ".join(f"core {core} saw it taken {number} times" for core, number in values.items()))
    return "; ".join(parts), probed, collisions
