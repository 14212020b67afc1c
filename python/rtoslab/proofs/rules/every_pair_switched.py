"""Checks that the kernel switched often enough between every ordered pair of the tasks under test and the idle task."""

from itertools import permutations

from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.results import IDLE_TASK, BenchmarkProofFinding, context_switches_by_task_pair, task_names


class TaskPairSwitchProofParameters(BenchmarkProofParameters):
    """The parameters of the proof `every_pair_switched` in benchmark.toml. The proof checks that each task under test,
    and the idle task, was followed by every other one often enough."""

    at_least: int = 1
    """Switches of each pair."""


def judge_evidence(params: TaskPairSwitchProofParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that each task under test, and the idle task, was followed by every other one often enough."""
    demands = f"each task and idle is followed by every other one at least {params.at_least} times"
    if evidence.observed is None or evidence.observed.handled is None or evidence.kernel.probes is None:
        return make_unjudged_proof_finding(params.rule, demands)
    seen_switches = context_switches_by_task_pair(evidence.observed.handled, evidence.decoded, evidence.benchmark)
    names = sorted(task_names(evidence.decoded, evidence.benchmark).values())
    counts = {pair: len(seen_switches.get(pair, ())) for pair in permutations([*names, IDLE_TASK], 2)}
    missing = [f"{one} to {two} {count} times" for (one, two), count in counts.items() if count < params.at_least]
    rarest = min(counts, key=counts.__getitem__)
    rare = f"the rarest {rarest[0]} to {rarest[1]} {counts[rarest]} times"
    text = f"{sum(counts.values())} switches of {len(counts)} pairs, {rare}"
    return make_judged_proof_finding(params.rule, demands, missing, [text])
