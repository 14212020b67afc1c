"""Checks that tasks of equal priority take turns: every switch between them goes from one to the next in the list, last
to first."""

from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.results import BenchmarkProofFinding


class RotationParameters(BenchmarkProofParameters):
    """The parameters of the proof `rotation` in benchmark.toml. The proof checks that equal tasks take turns in the
    order of the list, or in any other order that stays if one tick may wake tasks of the kernel in any order."""

    tasks: tuple[int, ...]
    tolerance: int = 0
    """The accepted number of switches out of turn."""


def judge_evidence(params: RotationParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that equal tasks take turns in the order of the list, by the observed switches between their control
    blocks."""
    demands = f"every switch goes to the next of tasks {', '.join(map(str, params.tasks))} in turn"
    if evidence.observed is None:
        return make_unjudged_proof_finding(params.rule, demands)
    problems: list[str] = []
    seen: list[str] = []
    for core in evidence.cores:
        handles = evidence.tasks_in_round_robin_order(core, params.tasks)
        if None in handles or len(set(handles)) != len(handles):
            problems.append(f"core {core}: the tasks' control blocks are not all known and different")
            continue
        in_turn = dict(zip(handles, [*handles[1:], handles[0]], strict=True))
        switches = evidence.task_switch_counts_on_core(core)
        good = sum(count for switch, count in switches.items() if in_turn.get(switch.before) == switch.after)
        wrong = switches.total() - good
        used = {switch.before for switch in switches if in_turn.get(switch.before) == switch.after}
        text = f"core {core}: {good} switches in turn, {wrong} out of turn"
        (seen if wrong <= params.tolerance and len(used) == len(handles) else problems).append(text)
    return make_judged_proof_finding(params.rule, demands, problems, seen)
