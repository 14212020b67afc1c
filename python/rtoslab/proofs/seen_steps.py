"""The steps of a run that rules judge."""

from rtoslab.proofs.evidence import Evidence
from rtoslab.targets import Step
from rtoslab.targets import steps as seen


def steps_of(evidence: Evidence) -> tuple[Step, ...]:
    """Of a latency benchmark: until the last series has its samples, behind which the tasks come to their end."""
    assert evidence.observed is not None
    steps = evidence.observed.steps
    if evidence.benchmark.kind != "latency":
        return steps
    missing = dict.fromkeys(range(1, len(evidence.benchmark.series_ids)), evidence.samples)
    for index, step in enumerate(steps):
        if step.kind == seen.STOP and step.first in missing:
            missing[step.first] -= 1
            if not missing[step.first]:
                del missing[step.first]
                if not missing:
                    return steps[: index + 1]
    return steps
