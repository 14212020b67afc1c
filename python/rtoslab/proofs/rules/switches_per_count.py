"""The context switches that the test is named for really happened: so many per count, no more and no fewer."""

from rtoslab.proofs.evidence import (
    BenchmarkProofParameters,
    ProofEvidence,
    compare_event_count,
    make_benchmark_proof_finding,
    unjudged_benchmark_proof_finding,
)
from rtoslab.results import BenchmarkProofFinding


class SwitchesPerCountParameters(BenchmarkProofParameters):
    """The parameters of the proof `switches_per_count` in benchmark.toml. The proof checks that the required number of
    context switches happened per count, those of control tasks left out."""

    ratio: float
    tolerance: int = 0


def judge_evidence(params: SwitchesPerCountParameters, evidence: ProofEvidence) -> BenchmarkProofFinding:
    """Checks that the required number of context switches happened per count, those of control tasks left out."""
    demands = f"{params.ratio:g} context switches per count"
    if evidence.observed is None:
        return unjudged_benchmark_proof_finding(params.rule, demands)
    problems: list[str] = []
    seen: list[str] = []
    for where, cores in evidence.compared_core_groups:
        total = sum(evidence.task_switches(core).total() for core in cores)
        required = sum(map(evidence.metric_count, cores)) * params.ratio
        text, agrees = compare_event_count(
            where, "context switches", total, required, params.tolerance * len(cores), evidence.max_time_slices
        )
        (seen if agrees else problems).append(text)
    return make_benchmark_proof_finding(params.rule, demands, problems, seen)
