"""Tasks have the priorities that the benchmark publishes: as urgent as each other, or more, by the kernel's own word.

The image's table is not asked: it is what may be wrong. The kernel numbers priorities in its own way, so the order is
what counts, and that equal ones are equal.
"""

from itertools import combinations

from rtoslab.proofs.evidence import Evidence, RuleParams, finding, unseen
from rtoslab.results import Finding


class Params(RuleParams):
    """Keys of `rule = "priorities"`."""

    of: tuple[int, ...]
    """Abstract priority of each task: a higher number is more urgent."""


def judge(params: Params, evidence: Evidence) -> Finding:
    """Judges from the control blocks as the window opened, or from the image's word where the kernel does not tell."""
    demands = f"tasks 0 to {len(params.of) - 1} have the priorities {', '.join(map(str, params.of))}"
    if not any(task.handle for task in evidence.decoded.tasks):
        return unseen(params.rule, demands, "there are no tasks")
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
        sign = -1 if evidence.kernel.urgent_first else 1
        good = all(
            _order(one[0] - other[0]) == sign * _order(one[1] - other[1]) for one, other in combinations(known, 2)
        )
        complete = not evidence.observed.priorities or len(known) == len(params.of)
        (seen if good and complete else problems).append(text)
    return finding(params.rule, demands, problems, seen or ["by the image's own word"])


def _order(difference: int) -> int:
    return (difference > 0) - (difference < 0)
