"""The measured call is the kernel's call: it is executed inside every interval of the series, so often.

An interrupt may hit the function's first instruction, which is then seen twice; a sample may have one more for each.
"""

from rtoslab.proofs.evidence import Evidence, Finding, RuleParams, finding, unseen
from rtoslab.proofs.inside import sampled


class Params(RuleParams):
    """Keys of `rule = "calls_inside"`."""

    series: str
    service: str
    """A service of the port contract; kernel.toml says which function it ends in."""
    calls: int = 1


def watched(params: Params) -> tuple[str, ...]:
    """The service itself."""
    return (params.service,)


def judge(params: Params, evidence: Evidence) -> Finding:
    """From the executions of the service's function between the marks."""
    times = "once" if params.calls == 1 else f"{params.calls} times"
    demands = f"{params.service} is called {times} in every sample of {params.series}"
    if evidence.observed is None:
        return unseen(params.rule, demands)
    intervals = sampled(evidence, params.series)
    found = [each.calls[params.service] for each in intervals]
    wrong = [
        index
        for index, (calls, each) in enumerate(zip(found, intervals, strict=True))
        if not 0 <= calls - params.calls <= each.ticks + each.interrupts
    ]
    problems = (
        [f"{len(wrong)} of {len(found)} samples have another number, the first {found[wrong[0]]}"] if wrong else []
    )
    if not found:
        problems = ["there are no samples"]
    return finding(params.rule, demands, problems, [f"in all {len(found)}"])
