"""Checks that the cores share no object: each core called the service with one object, and no two cores with the same
one."""

from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.results import BenchmarkProofFinding


class ObjectPerCoreParameters(BenchmarkProofParameters):
    """The parameters of the proof `object_per_core` in benchmark.toml. The proof checks that each core called the
    service with one object of its own."""

    service: str
    """Its first argument is the object."""


def find_watched_services(params: ObjectPerCoreParameters) -> tuple[str, ...]:
    """Returns the kernel services whose calls the virtual board must record for this proof rule."""
    return (params.service,)


def judge_evidence(params: ObjectPerCoreParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that each core called the service with one object of its own, by the first argument of every call in the
    window."""
    demands = f"{params.service} is called with an object of its own on each core"
    if evidence.observed is None:
        return make_unjudged_proof_finding(params.rule, demands)
    problems: list[str] = []
    seen: list[str] = []
    owners: dict[int, int] = {}
    for core in evidence.metric_cores:
        objects = evidence.addresses_of_called_kernel_objects(core, params.service)
        text = f"core {core}: {', '.join(f'{object_:#010x}' for object_ in sorted(objects)) or 'no object'}"
        taken = [object_ for object_ in objects if owners.setdefault(object_, core) != core]
        (problems if len(objects) != 1 or taken else seen).append(text)
    return make_judged_proof_finding(params.rule, demands, problems, seen)
