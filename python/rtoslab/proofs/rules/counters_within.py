"""Checks that the tasks of a core count alike: their counters are within `max_spread` of each other, and none is
zero."""

from rtoslab.proofs.evidence import BenchmarkProofEvidence, BenchmarkProofParameters, make_judged_proof_finding
from rtoslab.results import BenchmarkProofFinding


class TaskCounterSpreadProofParameters(BenchmarkProofParameters):
    """The parameters of the proof `counters_within` in benchmark.toml. The proof checks that the counters of a core's
    tasks differ by at most `max_spread` and that none is zero."""

    max_spread: int
    first: str = ""
    """The parameter that says how many of the metric's first tasks count. Empty: all of them."""
    max_percent: float = 0
    """The upper limit, from the largest if that is more: where tasks of all cores take turns and none is fast for
    good."""


def judge_evidence(params: TaskCounterSpreadProofParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that the counters of a core's tasks differ by at most `max_spread` and that none is zero."""
    problems: list[str] = []
    seen: list[str] = []
    tasks = evidence.benchmark.metric.tasks
    if params.first:
        tasks = tasks[: int(evidence.decoded.params[params.first])]
    for core in evidence.metric_cores:
        counts = {
            task: count for task, count in evidence.task_counters_of_benchmark_result(core).items() if task in tasks
        }
        if len(counts) != len(tasks) or min(counts.values()) == 0:
            problems.append(
                f"core {core}: {len(counts)} of {len(tasks)} tasks reported, counts {sorted(counts.values())}"
            )
            continue
        low, high = min(counts.values()), max(counts.values())
        text = f"core {core}: {len(counts)} counters from {low} to {high}"
        most = max(params.max_spread, high * params.max_percent / 100)
        (seen if high - low <= most + evidence.max_time_slices else problems).append(text)
    more = f", and {evidence.max_time_slices} for its time slices," if evidence.max_time_slices else ""
    percent = f" or {params.max_percent:g} %" if params.max_percent else ""
    demands = f"the counters of a core lie within {params.max_spread}{percent}{more} of each other"
    return make_judged_proof_finding(params.rule, demands, problems, seen)
