"""Checks that the context switches for which the test is named really happened: the stated number per count, no more
and no fewer."""

from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    compare_event_count_with_required,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.results import BenchmarkProofFinding


class SwitchesPerCountParameters(BenchmarkProofParameters):
    """The parameters of the proof `switches_per_count` in benchmark.toml. The proof checks that the required number of
    context switches happened per count, those of control tasks left out."""

    ratio: float
    tolerance: int = 0


def judge_evidence(params: SwitchesPerCountParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that the required number of context switches happened per count, those of control tasks left out."""
    demands = f"{params.ratio:g} context switches per count"
    if evidence.observed is None:
        return make_unjudged_proof_finding(params.rule, demands)
    problems: list[str] = []
    seen: list[str] = []
    for where, cores in evidence.core_groups_for_count_comparison:
        total = sum(evidence.task_switch_counts_on_core(core).total() for core in cores)
        required = sum(map(evidence.metric_count, cores)) * params.ratio
        tolerance = evidence.event_tolerance(params.tolerance, cores, params.ratio)
        text, agrees = compare_event_count_with_required(
            where, "context switches", total, required, tolerance, evidence.max_time_slices
        )
        (seen if agrees else problems).append(text)
    return make_judged_proof_finding(params.rule, demands, problems, seen)
