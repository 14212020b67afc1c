"""The contention the test is named for happened: so many attempts did not find their object free."""

from rtoslab.proofs.evidence import Evidence, RuleParams, finding, unseen
from rtoslab.results import Finding


class Params(RuleParams):
    """Keys of `rule = "collisions"`."""

    service: str
    """The call that waits where the object is not free."""
    found: str | None = None
    """A check record: how often the firmware itself saw the object taken just before its call."""


def watched(params: Params) -> tuple[str, ...]:
    """The waiting service, so that a switch by waiting is told from any other."""
    return (params.service,)


def judge(params: Params, evidence: Evidence) -> Finding:
    """Judges from the kernel's own functions or switches. On a real board from the firmware's own look alone."""
    demands = f"calls of {params.service} collide"
    text, probed, collisions = count_collisions(params, evidence)
    if probed is None and collisions is None:
        return unseen(params.rule, demands)
    happened = (
        collisions if probed is None else probed
    ) != 0  # a look before the call may well miss what the call meets
    return finding(params.rule, demands, [] if happened else [text], [text])


def count_collisions(params: Params, evidence: Evidence) -> tuple[str, int | None, int | None]:
    """(in words, collisions by the probes, busy objects seen by the firmware). None where it cannot be told."""
    probed = collisions = None
    parts = []
    by_core = {core: evidence.collisions(core, params.service) for core in evidence.cores}
    collided = [number for number in by_core.values() if number is not None]
    if collided:
        probed = sum(collided)
        parts.append(", ".join(f"core {core} collided {number:,} times" for core, number in by_core.items()))
    if params.found is not None:
        values = {core: evidence.checks(core).get(params.found, 0) for core in evidence.cores}
        collisions = sum(values.values())
        parts.append(", ".join(f"core {core} saw it taken {number} times" for core, number in values.items()))
    return "; ".join(parts), probed, collisions
