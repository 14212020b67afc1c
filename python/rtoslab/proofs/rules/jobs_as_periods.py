"""Checks that each task did as many jobs as periods began, by its counter and by the check `period_N_ticks` of task N.

A task without a period has no such check and counts nothing. The window begins before the first period and may end
inside one.
"""

from rtoslab.proofs.evidence import BenchmarkProofEvidence, BenchmarkProofParameters, make_judged_proof_finding
from rtoslab.results import BenchmarkProofFinding


class JobsPerPeriodProofParameters(BenchmarkProofParameters):
    """The parameters of the proof `jobs_as_periods` in benchmark.toml. The proof checks that each periodic task did
    one job per period."""


def judge_evidence(params: JobsPerPeriodProofParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that each periodic task did one job per period, by the firmware's counters and checks alone."""
    window_ticks = evidence.decoded.begin.window_us * int(evidence.decoded.params["tick_hz"]) // 1_000_000
    lead_ticks = int(evidence.decoded.params["lead_ticks"])
    problems: list[str] = []
    seen: list[str] = []
    for core in evidence.metric_cores:
        counts = evidence.task_counters_of_benchmark_result(core)
        periods = {check.name: check.value for check in evidence.decoded.checks if check.core == core}
        for index in evidence.benchmark.metric.tasks:
            period, jobs = periods.get(f"period_{index}_ticks", 0), counts.get(index, 0)
            expected = (window_ticks - lead_ticks) // period if period else 0
            text = f"core {core}, task {index}: {jobs} jobs in {expected} periods"
            (seen if period and jobs and abs(jobs - expected) <= 1 else problems).append(text)
    return make_judged_proof_finding(
        params.rule, "each task does one job a period, give or take one at the window's edges", problems, seen
    )
