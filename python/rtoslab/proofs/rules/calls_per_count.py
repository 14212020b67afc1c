"""Checks that the kernel function of the measured call is executed as many times per count as stated.

Services that end in the same function are counted together."""

from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    compare_event_count_with_required,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.results import BenchmarkProofFinding


class KernelCallCountProofParameters(BenchmarkProofParameters):
    """The parameters of the proof `calls_per_count` in benchmark.toml. The proof checks the number of calls of a
    kernel service per count of the benchmark."""

    service: str
    """A service of the port contract. Kernel.toml says which function it ends in."""
    ratio: float
    tolerance: int = 0


def judge_evidence(params: KernelCallCountProofParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks the number of calls of a kernel service per count of the benchmark, by the executions of its function in
    the profile."""
    demands = f"{params.ratio:g} calls of {params.service} per count"
    if evidence.observed is None:
        return make_unjudged_proof_finding(params.rule, demands)
    alike = _kernel_call_proofs_of_same_function(params, evidence)
    if alike:
        others = ", ".join(f"{proof.ratio:g} of {proof.service}" for proof in alike)
        demands = f"{demands}, counted with {others} of the same function"
    ratio = params.ratio + sum(proof.ratio for proof in alike)
    problems: list[str] = []
    seen: list[str] = []
    for where, cores in evidence.core_groups_for_count_comparison:
        calls = sum(evidence.observed.calls[core, params.service] for core in cores)
        required = sum(map(evidence.metric_count, cores)) * ratio
        tolerance = evidence.event_tolerance(params.tolerance, cores, ratio)
        text, agrees = compare_event_count_with_required(where, "calls", calls, required, tolerance)
        named = (
            ", ".join(evidence.kernel.kernel_facts_for_architecture(evidence.board.cpu).symbols.get(params.service, ()))
            or "no function"
        )
        origin = "" if calls else f" ([symbols] of kernel.toml names {named} for it)"
        (seen if agrees else problems).append(text if agrees else f"{text}{origin}")
    return make_judged_proof_finding(params.rule, demands, problems, seen)


def _kernel_call_proofs_of_same_function(
    params: KernelCallCountProofParameters, evidence: BenchmarkProofEvidence
) -> list[KernelCallCountProofParameters]:
    """Returns the `calls_per_count` proofs of other services that end in the same kernel function."""
    symbols = evidence.kernel.kernel_facts_for_architecture(evidence.board.cpu).symbols
    others = [
        KernelCallCountProofParameters.model_validate(proof)
        for proof in evidence.benchmark.proof
        if proof.get("rule") == params.rule
    ]
    return [
        other
        for other in others
        if other.service != params.service
        and symbols.get(other.service) == symbols.get(params.service) is not None
        and all(evidence.meets_condition(condition) for condition in other.when)
    ]
