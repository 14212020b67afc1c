"""The measured call is the kernel's call: its function executed so many times per count."""

from rtoslab.proofs.evidence import Evidence, RuleParams, compare, finding, unseen
from rtoslab.results import Finding


class Params(RuleParams):
    """Keys of `rule = "calls_per_count"`."""

    service: str
    """A service of the port contract; kernel.toml says which function it ends in."""
    ratio: float
    tolerance: int = 0


def judge(params: Params, evidence: Evidence) -> Finding:
    """From the executions of the service's function in the virtual board's profile."""
    demands = f"{params.ratio:g} calls of {params.service} per count"
    if evidence.observed is None:
        return unseen(params.rule, demands)
    problems: list[str] = []
    seen: list[str] = []
    for core in evidence.metric_cores:
        calls = evidence.observed.calls[core, params.service]
        text, agrees = compare(core, "calls", calls, evidence.counted(core) * params.ratio, params.tolerance)
        (seen if agrees else problems).append(text)
    return finding(params.rule, demands, problems, seen)
