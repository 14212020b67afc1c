"""Checks that the cores share one object: every core called the service, and all with the same object."""

from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.results import BenchmarkProofFinding


class SharedObjectProofParameters(BenchmarkProofParameters):
    """The parameters of the proof `object_shared` in benchmark.toml. The proof checks that all cores called the
    service with the same object."""

    service: str
    """Its first argument is the object."""


def find_watched_services(params: SharedObjectProofParameters) -> tuple[str, ...]:
    """Returns the kernel services whose calls the virtual board must record for this proof rule."""
    return (params.service,)


def judge_evidence(params: SharedObjectProofParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that all cores called the service with the same object, by the first argument of every call in the
    window."""
    demands = f"{params.service} is called with the same object on every core"
    if evidence.observed is None:
        return make_unjudged_proof_finding(params.rule, demands)
    by_core = {core: evidence.addresses_of_called_kernel_objects(core, params.service) for core in evidence.cores}
    everything = set().union(*by_core.values())
    text = "; ".join(
        f"core {core}: {', '.join(f'{object_:#010x}' for object_ in sorted(objects)) or 'no object'}"
        for core, objects in by_core.items()
    )
    shared = len(everything) == 1 and all(by_core.values())
    return make_judged_proof_finding(params.rule, demands, [] if shared else [text], [text])
