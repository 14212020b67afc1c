"""Checks that each periodic task calls the service once a period: as often, in the observed ticks, as its period says,
give or take one.

The periods are the benchmark's parameters `period_N_ms`. The tick is a millisecond.
"""

from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.results import BenchmarkProofFinding
from rtoslab.targets import steps as seen_steps


class CallsAsPeriodsParameters(BenchmarkProofParameters):
    """The parameters of the proof `calls_as_periods` in benchmark.toml. The proof checks that each periodic task
    called the service once per period."""

    service: str
    slack: int = 1


def judge_evidence(params: CallsAsPeriodsParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that each periodic task called the service once per period, by the calls and ticks on core 0."""
    stated = evidence.decoded.params
    periods = [int(stated[f"period_{index}_ms"]) for index in range(26) if f"period_{index}_ms" in stated]
    demands = f"tasks 0 to {len(periods) - 1} call {params.service} once in {', '.join(map(str, periods))} ticks"
    if evidence.observed is None:
        return make_unjudged_proof_finding(params.rule, demands)
    functions = evidence.kernel.kernel_facts_for_architecture(evidence.board.cpu).symbols.get(params.service, ())
    steps = [step for step in evidence.observed.steps if step.core == 0]
    ticks = sum(step.kind == seen_steps.TICK for step in steps)
    problems: list[str] = []
    seen: list[str] = []
    for index, period in enumerate(periods):
        block = evidence.task_handle(0, index)
        calls = sum(step.kind == seen_steps.CALL and step.name in functions and step.who == block for step in steps)
        text = f"task {index} {calls} times in {ticks} ticks"
        (seen if abs(calls - ticks / period) <= params.slack + 1 else problems).append(text)
    if not ticks:
        problems.append("no tick was seen")
    return make_judged_proof_finding(params.rule, demands, problems, seen)
