"""Checks that tasks have the priorities that the benchmark publishes: equal or more urgent, as the kernel stores them.

The image's table is not used, because it may be wrong. The kernel numbers priorities in its own way, so their order is
compared, and that equal ones are equal."""

from itertools import combinations

from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.results import BenchmarkProofFinding


class PrioritiesParameters(BenchmarkProofParameters):
    """The parameters of the proof `priorities` in benchmark.toml. The proof checks that the tasks have the listed
    priorities."""

    of: tuple[int, ...]
    """The abstract priority of each task: a higher number is more urgent."""


def judge_evidence(params: PrioritiesParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that the tasks have the listed priorities, by their control blocks as the window opened, or else by the
    image's records."""
    demands = f"tasks 0 to {len(params.of) - 1} have the priorities {', '.join(map(str, params.of))}"
    if not any(task.handle for task in evidence.decoded.tasks):
        return make_unjudged_proof_finding(params.rule, demands, "there are no tasks")
    problems: list[str] = []
    seen: list[str] = []
    for core in evidence.cores:
        stated = {task.index: task for task in evidence.decoded.tasks if task.core == core}
        wrong = [index for index, item in enumerate(params.of) if index not in stated or stated[index].priority != item]
        problems += [f"core {core}: the image says another priority of task {index}" for index in wrong]
        if evidence.observed is None or wrong:
            continue
        numbers = [evidence.observed.priorities.get(stated[index].handle or 0) for index in range(len(params.of))]
        text = f"core {core}: {', '.join(map(str, numbers))} in the kernel's numbers"
        known = [(item, number) for item, number in zip(params.of, numbers, strict=True) if number is not None]
        sign = -1 if evidence.kernel.is_lowest_number_most_urgent else 1
        good = all(
            _sign_of_difference(one[0] - other[0]) == sign * _sign_of_difference(one[1] - other[1])
            for one, other in combinations(known, 2)
        )
        complete = not evidence.observed.priorities or len(known) == len(params.of)
        (seen if good and complete else problems).append(text)
    return make_judged_proof_finding(params.rule, demands, problems, seen or ["by the image's own word"])


def _sign_of_difference(difference: int) -> int:
    """Returns the sign of a difference: -1, 0 or 1."""
    return (difference > 0) - (difference < 0)
