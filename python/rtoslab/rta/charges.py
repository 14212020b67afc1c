"""Charges for the kernel's work, by model: none, the tick at its worst every period, the pseudo-task partition.

miranda2021, section 7.1, splits the tick into a base, due every tick, and one pseudo-task for each task, due whenever
that task is released. The models differ in nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from fractions import Fraction
from typing import Final

from rtoslab.rta.overheads import Overheads
from rtoslab.rta.prices import Prices
from rtoslab.rta.system import System


class Model(StrEnum):
    """How the kernel's overheads enter the analysis."""

    NOTHING = "a"
    WORST_TICK = "b"
    PARTITION = "c"


MODEL_NAMES: Final = {
    Model.NOTHING: "no overhead",
    Model.WORST_TICK: "worst tick",
    Model.PARTITION: "split tick",
}
"""What tables and charts call them."""
MODEL_TITLES: Final = {
    Model.NOTHING: "the kernel costs nothing",
    Model.WORST_TICK: "each tick is charged as if it released every task",
    Model.PARTITION: "a tick is charged its base and a pseudo-task for each task that it releases",
}


SECTION_OPERATIONS: Final = ("mutex_lock_free", "mutex_unlock_no_waiter")
INVERSION_OPERATIONS: Final = ("mutex_lock_contended", "mutex_unlock_hand_over")


@dataclass(frozen=True, slots=True)
class Charges:
    """The charges of the kernel, in units of the system. With a period of 0 there is no tick.
    docs/response-time-model.md argues for each."""

    tick_period: int = 0
    tick: int = 0
    """Every tick: entry, handlers, exit."""
    release: int = 0
    """Every release of a task, inside the tick."""
    worst_tick: bool = False
    """Every tick is charged with a release of every task."""
    deferred: int = 0
    """A tick that meets the kernel at work: at most every tick, and at most MEETINGS times a job."""
    start: int = 0
    """Every job: from the switch to its first instruction."""
    end: int = 0
    """Every job: from its last instruction to the switch, and the switch to a less urgent task."""
    preempt: int = 0
    """A switch to a more urgent task: at most once a tick and once a job."""
    slice: int = 0
    """A switch in a tick that may also be one among equals: every tick, where equals take turns by the tick."""
    interrupt: int = 0
    """Every interrupt: entry and exit, and what its handler takes beside its work."""
    give: int = 0
    """Every interrupt that releases a task: the give, and the switch to the task."""
    woken_start: int = 0
    """As `start` and `end`, of a job that an interrupt releases."""
    woken_end: int = 0
    section: int = 0
    """Every call in the midst of a job's work: a lock taken or given back, interrupts masked or not."""
    inversion: int = 0
    """Every critical section that others share, and every time a task waits for a less urgent one: a lock that is held,
    a switch there, the hand over, one back."""
    block: int = 0
    """Once: what the kernel cannot be interrupted in as the tick comes."""
    held: int = 0
    """Once, to an interrupt: the longest that the kernel masks interrupts, its tick's handlers included."""
    requested: int = 0
    """Every interrupt by which another core has this one look for who is to run: at most one a tick and release."""
    compensated: int = 0
    """A tick that another core handled while this one had the scheduler locked, and makes up for: as `deferred`."""
    late: int = 0
    """As jitter of all that a tick releases: another core may have the scheduler locked as it comes."""
    bus: Fraction = Fraction(0)
    """The delay of the work by the other cores' accesses to the same memories."""


MEETINGS: Final = 3
"""Ticks that a job's start and end can meet: one each, and one more only after a more urgent job has preempted
either, which that job does once."""

NO_CHARGES: Final = Charges()


def charges(overheads: Overheads | None, model: Model, system: System, core: int = 0) -> Charges:
    """Returns the charges on one core of a system. Without overheads nothing is charged."""
    if overheads is None or model is Model.NOTHING:
        return NO_CHARGES
    charged = _cycles(overheads, model, system, core)
    scale = system.units_per_cycle
    return charged if scale == 1 else replace(charged, **{name: scale * getattr(charged, name) for name in _LENGTHS})


def _cycles(overheads: Overheads, model: Model, system: System, core: int) -> Charges:
    prices = Prices(overheads)
    events, seen, leave = prices.events, overheads.events is not None, overheads.interrupt.exit_cycles
    cores = len(system.cores)
    smp = overheads.smp
    mine = [task.priority for task in system.tasks if task.core == core]
    # Who goes to sleep walks by the sleepers of all cores.
    sleepers = len(system.tasks)
    distance = max(mine, default=0) - min(mine, default=0)
    kinds = overheads.switch
    down = prices.down(distance, to_idle=False)
    slice_ = max(overheads.tick_slice, overheads.tick_switch)
    met = sum(overheads.operations.get(name, 0) for name in INVERSION_OPERATIONS)
    inversion = max(2 * (prices.around + max(down, kinds.up_cycles)), met)
    if seen:
        inversion = 2 * (prices.around + events.contended_cycles + events.handover_cycles)
    charged = Charges(
        tick_period=overheads.tick.period_cycles,
        tick=prices.around + overheads.tick.base_cycles,
        release=overheads.tick.per_task_cycles,
        worst_tick=model is Model.WORST_TICK,
        deferred=overheads.tick.deferred_cycles,
        start=overheads.job.start_cycles + overheads.job.work_cycles,
        end=prices.end(sleepers) + down + leave,
        preempt=overheads.tick_switch,
        slice=slice_ if _takes_turns(overheads, system) else 0,
        interrupt=prices.around + events.handler_cycles,
        give=events.give_cycles if seen else overheads.interrupt.entry_cycles + overheads.tick_switch,
        woken_start=(events.start_cycles if seen else overheads.job.start_cycles) + overheads.job.work_cycles,
        woken_end=(events.end_cycles if seen else prices.end(sleepers)) + down + leave,
        section=events.call_cycles if seen else _half(overheads),
        inversion=inversion,
        block=prices.block(sleepers, distance),
        held=prices.masked_cycles(sleepers, distance),
    )
    if cores == 1 and smp.cores == 1:
        return charged
    several = replace(
        charged,
        requested=prices.request_cycles,
        late=prices.release(sleepers, distance),
        bus=Fraction(smp.contention_permille, 1000),
        held=charged.held + smp.lock_wait_cycles,
    )
    if core == smp.tick_core:
        return several
    # The tick is another core's. Here it is made up for at most.
    base_cycles = overheads.tick.base_cycles + overheads.tick.deferred_cycles
    return replace(several, tick=0, deferred=0, compensated=base_cycles)


def _half(overheads: Overheads) -> int:
    """A lock and its unlock, which are two places."""
    return -(-sum(overheads.operations.get(name, 0) for name in SECTION_OPERATIONS) // 2)


def _takes_turns(overheads: Overheads, system: System) -> bool:
    """Equals take turns by the tick, seen of the kernel or said of it."""
    return overheads.equals == "slices" or system.equals == "slices"


_LENGTHS: Final = tuple(field.name for field in fields(Charges) if field.type == "int")


COMPONENTS: Final[Mapping[str, Callable[[Charges], Charges]]] = {
    "tick": lambda all_: replace(all_, tick=0),
    "releases in the tick": lambda all_: replace(all_, release=0),
    "deferred ticks": lambda all_: replace(all_, deferred=0, compensated=0),
    "start of jobs": lambda all_: replace(all_, start=0, woken_start=0),
    "end of jobs, with the switch": lambda all_: replace(all_, end=0, woken_end=0),
    "switches to more urgent tasks": lambda all_: replace(all_, preempt=0, slice=0),
    "entry and exit of interrupts": lambda all_: replace(all_, interrupt=0),
    "gives in interrupts": lambda all_: replace(all_, give=0),
    "critical sections": lambda all_: replace(all_, section=0, inversion=0),
    "kernel not interruptible": lambda all_: replace(all_, block=0, held=0),
    "releases and calls from other cores": lambda all_: replace(all_, requested=0, late=0),
    "other cores on the bus": lambda all_: replace(all_, bus=Fraction(0)),
}
"""What the bound would be without one of them tells what it costs."""
