"""The cores are at the test: asleep or in the kernel's idle task at most so much of the window.

Where the benchmark's own code is all that runs, a count may also be asked to take no more of its instructions than it
should, and no fewer: an idle loop beside the work is neither asleep nor a call.
"""

from rtoslab.proofs.evidence import Evidence, RuleParams, finding, unseen
from rtoslab.results import Finding


class Params(RuleParams):
    """Keys of `rule = "busy"`."""

    idle_percent: float = 2
    """At most, of each core's cycles."""
    instructions: int | None = None
    """At most, of the benchmark's own code for a count of the core's tasks, whether part of the figure or not."""
    least: int = 0
    """At least so many."""
    per: str | None = None
    """A parameter: so many for each of its value."""
    cores: tuple[int, ...] | None = None
    """Only these; None: all."""


def judge(params: Params, evidence: Evidence) -> Finding:
    """From the profile of each core."""
    times = int(evidence.decoded.params[params.per]) if params.per is not None else 1
    least, most = params.least * times, int((params.instructions or 0) * times * evidence.slowness())
    demands = f"no core idles more than {params.idle_percent:g} % of the window"
    if most:
        demands += f", and a count takes {least} to {most} instructions of the benchmark's own"
    if evidence.observed is None or not evidence.observed.loads:
        return unseen(params.rule, demands)
    problems: list[str] = []
    seen: list[str] = []
    for core in params.cores if params.cores is not None else evidence.cores:
        load = evidence.observed.loads[core]
        counts = sum(each.count for each in evidence.decoded.counts if each.core == core)
        idle = 100 * load.idle_cycles / max(load.cycles, 1)
        own = load.instructions / max(counts, 1)
        text = f"core {core}: {idle:.1f} % idle, {own:.0f} instructions a count"
        good = counts > 0 and idle <= params.idle_percent and least <= own <= (most or own)
        (seen if good else problems).append(text)
    return finding(params.rule, demands, problems, seen)
