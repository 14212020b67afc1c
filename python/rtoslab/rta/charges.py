"""Charges for the kernel's work, by model: none, the tick at its worst every period, the pseudo-task partition.

miranda2021, section 7.1, splits the tick into a base, due every tick, and one pseudo-task for each task, due whenever
that task is released. The models differ in nothing else."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from fractions import Fraction
from typing import Final

from rtoslab.rta.overheads import KernelOverheads, MulticoreInterferenceCosts, SendCosts, TimerCosts
from rtoslab.rta.prices import CycleLedgerEntryCosts
from rtoslab.rta.system import IntegerTimeTaskSet


class KernelOverheadAccountingModel(StrEnum):
    """The ways in which the analysis can account for the kernel's overheads."""

    NO_OVERHEAD = "a"
    WORST_TICK = "b"
    SPLIT_TICK = "c"


MODEL_NAMES: Final = {
    KernelOverheadAccountingModel.NO_OVERHEAD: "no overhead",
    KernelOverheadAccountingModel.WORST_TICK: "worst tick",
    KernelOverheadAccountingModel.SPLIT_TICK: "split tick",
}
"""The names of the models in tables and charts."""
MODEL_TITLES: Final = {
    KernelOverheadAccountingModel.NO_OVERHEAD: "the kernel costs nothing",
    KernelOverheadAccountingModel.WORST_TICK: "each tick is charged as if it released every task",
    KernelOverheadAccountingModel.SPLIT_TICK: (
        "a tick is charged its base and a pseudo-task for each task that it releases"
    ),
}
"""What each model charges, for the notes of tables."""


SECTION_OPERATIONS: Final = ("mutex_lock_free", "mutex_unlock_no_waiter")
INVERSION_OPERATIONS: Final = ("mutex_lock_contended", "mutex_unlock_hand_over")


@dataclass(frozen=True, slots=True)
class KernelOverheadTimes:
    """The times that the analysis charges for the kernel's work, in units of the system.
    With a period of 0 there is no tick. docs/response-time-model.md argues for each.
    """

    tick_period: int = 0
    tick: int = 0
    """Every tick: entry, handlers, exit."""
    release: int = 0
    """Every release of a task, inside the tick."""
    worst_tick: bool = False
    """Every tick is charged with a release of every task."""
    deferred_tick: int = 0
    """A tick while the kernel is at work: at most every tick, and at most MEETINGS times a job."""
    start: int = 0
    """Every job: from the switch to its first instruction."""
    end: int = 0
    """Every job: from its last instruction to the switch, and the switch to a less urgent task."""
    preemption_cycles: int = 0
    """A switch to a more urgent task: at most once a tick and once a job."""
    slice: int = 0
    """A switch in a tick, which may also be one between tasks of equal priority: every tick, if they take turns by the
    tick."""
    interrupt: int = 0
    """Every interrupt: entry and exit, and the time of its handler besides its work."""
    give: int = 0
    """Every interrupt that releases a task: the give, and the switch to the task."""
    woken_start: int = 0
    """Every job that an interrupt releases, as `start`."""
    woken_end: int = 0
    """Every job that an interrupt releases, as `end`."""
    timer_start: int = 0
    """Every expiry of a timer, as `start`."""
    timer_end: int = 0
    """Every expiry of a timer, as `end`."""
    send: int = 0
    """Every job that releases another task: the call, from the job's last instruction to its return."""
    send_switch: int = 0
    """Every job that another task releases, unless that one is more urgent: the switch to it in the call."""
    section: int = 0
    """Every call in the midst of a job's work: a lock taken or given back, interrupts masked or not."""
    inversion: int = 0
    """Every critical section that others share, and every time a task waits for a less urgent one: the call at a held
    lock, the switch to the holder, the handover of the lock, and the switch back."""
    cross_wait: int = 0
    """Every wait for a resource that a task of another core holds, on both cores: the switch as the wait begins, or as
    the resource is given back, and the interrupt by which the other core requests a switch."""
    kernel_blocking: int = 0
    """Once: the longest time for which the kernel cannot be interrupted as the tick comes."""
    longest_mask: int = 0
    """Once, to an interrupt: the longest that the kernel masks interrupts, its tick's handlers included."""
    core_request: int = 0
    """Every interrupt by which another core makes this one choose its task again: at most one a tick and release."""
    compensated_tick: int = 0
    """A tick that another core handled while this core had the scheduler locked, handled here later: as
    `deferred_tick`."""
    release_delay: int = 0
    """Jitter of everything that a tick or an interrupt releases: another core may have the scheduler locked, or a
    task may mask interrupts, as it comes."""
    lock_wait: int = 0
    """The longest wait for one of the kernel's locks, as it was measured."""
    remote_give: int = 0
    """Every release by another core's interrupt: a call that had the scheduler locked completes it."""
    bus_share: Fraction = Fraction(0)
    """The share by which the other cores' accesses to the same memories prolong work."""


MEETINGS: Final = 3
"""Ticks that a job's start and end can meet: one each, and one more only after a more urgent job has preempted
either, which that job does once."""

NO_CHARGES: Final = KernelOverheadTimes()


def kernel_overhead_times(
    overheads: KernelOverheads | None, model: KernelOverheadAccountingModel, system: IntegerTimeTaskSet, core: int = 0
) -> KernelOverheadTimes:
    """Returns the times that the analysis charges for the kernel's work on one core, in units of the system.
    Without overheads nothing is charged.
    """
    if overheads is None or model is KernelOverheadAccountingModel.NO_OVERHEAD:
        return NO_CHARGES
    charged = _kernel_overheads_in_cycles(overheads, model, system, core)
    scale = system.units_per_cycle
    return charged if scale == 1 else replace(charged, **{name: scale * getattr(charged, name) for name in _LENGTHS})


def _kernel_overheads_in_cycles(
    overheads: KernelOverheads, model: KernelOverheadAccountingModel, system: IntegerTimeTaskSet, core: int
) -> KernelOverheadTimes:
    """Returns the times that the analysis charges for the kernel's work on one core, in cycles."""
    prices = CycleLedgerEntryCosts(overheads)
    events, has_events, leave = prices.event_costs, overheads.events is not None, overheads.interrupt.exit_cycles
    cores = len(system.used_core_numbers)
    smp = overheads.smp
    priorities = [task.priority for task in system.tasks if task.core == core]
    # Who goes to sleep walks by the sleepers of all cores.
    sleepers = len(system.tasks)
    distance = max(priorities, default=0) - min(priorities, default=0)
    kinds = overheads.switch
    down = prices.overhead_of_switch_to_lower_priority(distance, to_idle=False)
    slice_ = max(overheads.additional_cycles_of_time_slice_tick, overheads.extra_cycles_of_task_switching_tick)
    met = sum(overheads.operations.get(name, 0) for name in INVERSION_OPERATIONS)
    inversion = max(2 * (prices.interruption_entry_and_exit_cost + max(down, kinds.up_cycles)), met)
    sends, timers = overheads.sends or SendCosts(), overheads.timers or TimerCosts()
    if has_events:
        contended = events.contended_cycles
        if system.users_of_resources_across_cores:
            contended = max(contended, smp.contended_cycles)
        inversion = 2 * (prices.interruption_entry_and_exit_cost + contended + events.handover_cycles)
    charged = KernelOverheadTimes(
        tick_period=overheads.tick.period_cycles,
        tick=prices.interruption_entry_and_exit_cost + overheads.tick.base_cycles,
        release=overheads.tick.per_task_cycles,
        worst_tick=model is KernelOverheadAccountingModel.WORST_TICK,
        deferred_tick=overheads.tick.deferred_cycles,
        start=overheads.job.start_cycles + overheads.job.work_cycles,
        end=prices.sleep_call_cost(sleepers) + down + leave,
        preemption_cycles=overheads.extra_cycles_of_task_switching_tick,
        slice=slice_ if _are_equal_tasks_time_sliced(overheads, system) else 0,
        interrupt=prices.interruption_entry_and_exit_cost + events.handler_cycles,
        give=events.give_cycles
        if has_events
        else overheads.interrupt.entry_cycles + overheads.extra_cycles_of_task_switching_tick,
        woken_start=(events.start_cycles if has_events else overheads.job.start_cycles) + overheads.job.work_cycles,
        woken_end=(events.end_cycles if has_events else prices.sleep_call_cost(sleepers)) + down + leave,
        timer_start=timers.start_cycles + overheads.job.work_cycles,
        timer_end=timers.end_cycles + down + leave,
        send=sends.call_cycles,
        send_switch=prices.switch_overhead_in_task_release_call,
        section=events.call_cycles if has_events else _cycles_per_critical_section_call(overheads),
        inversion=inversion,
        kernel_blocking=prices.longest_kernel_call_blocking(sleepers, distance),
        longest_mask=prices.longest_interrupt_delay(sleepers, distance),
    )
    if smp.kernels > 1:
        return replace(charged, bus_share=Fraction(smp.contention_permille, 1000))
    if cores == 1 and smp.cores == 1:
        return charged
    several = replace(
        charged,
        # A call of the core's task may notice the request first, and then switches itself.
        core_request=max(prices.reschedule_interrupt_cost, prices.cost_of_task_switch_in_call if has_events else 0),
        cross_wait=prices.cross_core_resource_wait_cost,
        release_delay=prices.longest_release_delay(sleepers, distance)
        + _longest_masked_section_cycles(system, charged, smp),
        lock_wait=smp.lock_wait_cycles,
        remote_give=smp.remote_give_cycles,
        bus_share=Fraction(smp.contention_permille, 1000),
        longest_mask=charged.longest_mask + smp.lock_wait_cycles,
    )
    if core == smp.tick_core:
        return several
    # The tick is another core's. Here it is made up for at most.
    base_cycles = overheads.tick.base_cycles + overheads.tick.deferred_cycles
    return replace(several, tick=0, deferred_tick=0, compensated_tick=base_cycles)


def bus_contention_prolongation(work: int, charge: KernelOverheadTimes) -> int:
    """Returns by how much other cores' accesses to the same memories prolong work at most."""
    return math.ceil(charge.bus_share * work) if charge.bus_share else 0


def _longest_masked_section_cycles(
    system: IntegerTimeTaskSet, charged: KernelOverheadTimes, smp: MulticoreInterferenceCosts
) -> int:
    """Returns the longest time in cycles for which a task of any core masks interrupts. The tick waits for it."""
    longest = max((task.masked for task in system.tasks), default=0)
    if not longest:
        return 0
    cycles = -(-longest // system.units_per_cycle)
    return cycles + -(-cycles * smp.contention_permille // 1000) + 2 * charged.section


def _cycles_per_critical_section_call(overheads: KernelOverheads) -> int:
    """Returns the cycles of one kernel call at a critical section: half of a lock and its unlock, rounded up."""
    return -(-sum(overheads.operations.get(name, 0) for name in SECTION_OPERATIONS) // 2)


def _are_equal_tasks_time_sliced(overheads: KernelOverheads, system: IntegerTimeTaskSet) -> bool:
    """Whether tasks of equal priority take turns by the tick."""
    return overheads.equals == "slices" or system.equals == "slices"


_LENGTHS: Final = tuple(field.name for field in fields(KernelOverheadTimes) if field.type == "int")
"""The charges that are lengths of time, which are scaled from cycles to units."""


COMPONENTS: Final[Mapping[str, Callable[[KernelOverheadTimes], KernelOverheadTimes]]] = {
    "tick": lambda all_: replace(all_, tick=0),
    "releases in the tick": lambda all_: replace(all_, release=0),
    "deferred ticks": lambda all_: replace(all_, deferred_tick=0, compensated_tick=0),
    "start of jobs": lambda all_: replace(all_, start=0, woken_start=0, timer_start=0),
    "end of jobs, with the switch": lambda all_: replace(all_, end=0, woken_end=0, timer_end=0),
    "switches to more urgent tasks": lambda all_: replace(all_, preemption_cycles=0, slice=0),
    "entry and exit of interrupts": lambda all_: replace(all_, interrupt=0),
    "gives in interrupts": lambda all_: replace(all_, give=0),
    "sends to other tasks": lambda all_: replace(all_, send=0, send_switch=0),
    "critical sections": lambda all_: replace(all_, section=0, inversion=0, cross_wait=0),
    "kernel cannot be interrupted": lambda all_: replace(all_, kernel_blocking=0, longest_mask=0),
    "releases and calls from other cores": lambda all_: replace(all_, core_request=0, release_delay=0, remote_give=0),
    "other cores on the bus": lambda all_: replace(all_, bus_share=Fraction(0)),
}
"""By name, a function that removes the component from the charges. The bound is lower without it by what it costs."""
