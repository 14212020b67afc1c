"""Checks that the cores work on the test: they sleep, or run the kernel's idle task, for at most a given share of the
window.

If the benchmark's own code is all that runs, a count may also be limited to a range of its instructions: an idle loop
beside the work is neither asleep nor a call.

Some kernels sleep while they wait for a lock of another core. With such a kernel, a core counts as idle only if it
switches to a task that the image did not create. If a benchmark's tasks may wait for each other, all sleep is
counted."""

from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.results import BenchmarkProofFinding

HARDLY = 2
"""The percentage of the window that a benchmark without waits may idle."""
SWITCHES_TO_IDLE = 2
"""The most switches at the window's edges, where a core's sleep proves nothing."""


class BusyCoresProofParameters(BenchmarkProofParameters):
    """The parameters of the proof `busy` in benchmark.toml. The proof checks that no core sleeps or idles for more
    than the allowed share of the window, and limits the instructions per count."""

    idle_percent: float = HARDLY
    """The most idle time, of each core's cycles."""
    instructions: int | None = None
    """The most instructions of the benchmark's own code for a count of the core's tasks, whether part of the figure or
    not."""
    least: int = 0
    """The fewest of these instructions. At -O3, which unrolls loops, two thirds of them."""
    per: str | None = None
    """The name of a parameter. Its value multiplies the instructions."""
    cores: tuple[int, ...] | None = None
    """Only these cores. None: all."""


def judge_evidence(params: BusyCoresProofParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that no core sleeps or idles for more than the allowed share of the window, and limits the instructions
    per count, by each core's profile."""
    times = int(evidence.decoded.params[params.per]) if params.per is not None else 1
    unrolled = evidence.settings.get("opt") == "-O3"
    least = params.least * times * (2 if unrolled else 3) // 3
    most = int((params.instructions or 0) * times * evidence.board_slowdown_over_pico())
    never_waits = params.idle_percent <= HARDLY
    by_switches = never_waits and len(evidence.cores) > 1 and evidence.kernel.behaviour.lock_wait == "asleep"
    demands = f"no core idles more than {params.idle_percent:g} % of the window"
    if by_switches:
        demands = "no core switches to an idle task"
    if most:
        demands += f", and a count takes {least} to {most} instructions of the benchmark's own"
    if evidence.observed is None or not evidence.observed.loads:
        return make_unjudged_proof_finding(params.rule, demands)
    problems: list[str] = []
    seen: list[str] = []
    for core in params.cores if params.cores is not None else evidence.cores:
        load = evidence.observed.loads[core]
        counted = [core] if evidence.are_tasks_pinned else list(evidence.cores)
        counts = sum(count.count_in_window for count in evidence.decoded.counts if count.core in counted)
        idle = 100 * load.idle_cycles / max(load.cycles, 1)
        own = sum(evidence.observed.loads[counter].instructions for counter in counted) / max(counts, 1)
        to_idle = _count_switches_to_idle(evidence, core)
        seen_idle = f"{to_idle} switches to idle" if by_switches else f"{idle:.1f} % idle"
        text = f"core {core}: {seen_idle}, {own:.0f} instructions a count"
        is_busy = to_idle <= SWITCHES_TO_IDLE if by_switches else idle <= params.idle_percent
        good = counts > 0 and is_busy and least <= own <= (most or own)
        (seen if good else problems).append(text)
    return make_judged_proof_finding(params.rule, demands, problems, seen)


def _count_switches_to_idle(evidence: BenchmarkProofEvidence, core: int) -> int:
    """Returns how often a core switched to a task that the image did not create, such as the kernel's idle task."""
    handles = {task.handle for task in evidence.decoded.tasks}
    switches = evidence.observed.switches if evidence.observed else {}
    return sum(count for item, count in switches.items() if item.core == core and item.after not in handles)
