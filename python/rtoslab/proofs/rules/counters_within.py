"""The tasks of a core count alike: their counters lie within `max_spread` of each other, and none is zero."""

from rtoslab.proofs.evidence import Evidence, RuleParams, finding
from rtoslab.results import Finding


class Params(RuleParams):
    """Keys of `rule = "counters_within"`."""

    max_spread: int


def judge(params: Params, evidence: Evidence) -> Finding:
    """From the firmware's counters alone."""
    problems: list[str] = []
    seen: list[str] = []
    for core in evidence.metric_cores:
        counts = evidence.counters(core)
        expected = len(evidence.benchmark.metric.tasks)
        if len(counts) != expected or min(counts.values()) == 0:
            problems.append(
                f"core {core}: {len(counts)} of {expected} tasks reported, counts {sorted(counts.values())}"
            )
            continue
        low, high = min(counts.values()), max(counts.values())
        text = f"core {core}: {len(counts)} counters from {low} to {high}"
        (seen if high - low <= params.max_spread + evidence.slices else problems).append(text)
    more = f", and {evidence.slices} for its time slices," if evidence.slices else ""
    demands = f"the counters of a core lie within {params.max_spread}{more} of each other"
    return finding(params.rule, demands, problems, seen)
