"""The costs of several cores to each other, from the ledger of runs in which all of them work."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

from rtoslab.rta.entries import CycleLedger
from rtoslab.rta.overheads import InterruptCosts, KernelOverheads, MulticoreInterferenceCosts
from rtoslab.rta.prices import CycleLedgerEntryCosts

_LONG: Final = 2_000
"""Work of so many cycles or more shows the share by which it was delayed."""

SRAM_CONTENTION_PERMILLE: Final = 334
"""The least contention of code in SRAM. The loop of the work takes three cycles, in one of which it may meet the other
core at a bank. It depends on the phase of both cores, and few training sets meet the worst one."""

UpperValue = Callable[[Sequence[int]], int]
"""Returns the largest of the samples with a reserve."""


def fit_contention_permille(ledger: CycleLedger) -> int:
    """Returns by how many thousandths undisturbed work lasted longer on several cores than on one, rounded up."""
    quiet = [
        (item.cycles, work)
        for item, work in ledger.works
        if not item.interruptions and not item.kernel_calls and work >= _LONG
    ]
    return max((math.ceil(1000 * (cycles - work) / work) for cycles, work in quiet), default=0)


def multicore_interrupt_costs(one_core: InterruptCosts, entries: Sequence[int], permille: int) -> InterruptCosts:
    """Returns the costs of an interrupt's entry and exit on several cores.
    An interrupted job does not show how much of its delay is the exit and how much the other core's accesses.
    """
    exit_ = one_core.exit_cycles + math.ceil(one_core.exit_cycles * permille / 1000)
    return InterruptCosts(entry_cycles=max([one_core.entry_cycles, *entries]), exit_cycles=exit_)


def overheads_with_multicore_costs(
    simple: KernelOverheads, ledger: CycleLedger, cores: int, permille: int, upper_value: UpperValue
) -> KernelOverheads:
    """Returns the overheads with the waits for locks, and the cost of an interrupt by another core."""
    waits = [
        max(0, interruption.cycles - interruption.switches * simple.extra_cycles_of_task_switching_tick)
        for interruption in ledger.interruptions
        if interruption.core_requests
        and not interruption.ticks
        and not interruption.interrupts.count
        and not interruption.meets_kernel
    ]
    spins = [spin.cycles for spin in ledger.lock_waits]
    smp = MulticoreInterferenceCosts(
        cores=cores,
        lock_wait_cycles=upper_value(spins),
        yield_cycles=upper_value(waits),
        contention_permille=permille,
    )
    return simple.model_copy(update={"smp": smp})


def kernel_overheads_with_job_end_interrupts(overheads: KernelOverheads, ledger: CycleLedger) -> KernelOverheads:
    """Returns the overheads with the cost of an interrupt by another core that comes as a job ends, if it is higher.
    With events it is at least that of the handler that switches, which then runs once more.
    """
    prices = CycleLedgerEntryCosts(overheads)
    excess = [
        -(-(end.cycles - prices.job_end_overhead_cycles(end)) // end.chain.reschedule_interrupt_count)
        for end in ledger.job_ends
        if end.chain.reschedule_interrupt_count
        and not (end.chain.kernel_tick_count or end.chain.interrupts.count)
        and not (end.span.interruptions or end.span.compensated_ticks or end.span.remote_gives)
    ]
    longest = overheads.smp.yield_cycles + max([0, *excess])
    if overheads.events is not None:
        longest = max(longest, overheads.switch.up_cycles)
    return overheads.model_copy(update={"smp": overheads.smp.model_copy(update={"yield_cycles": longest})})


def kernel_overheads_with_sram_bus_conflicts(overheads: KernelOverheads) -> KernelOverheads:
    """Returns the overheads with at least the contention of code in SRAM."""
    permille = max(overheads.smp.contention_permille, SRAM_CONTENTION_PERMILLE)
    smp = overheads.smp.model_copy(update={"contention_permille": permille})
    return overheads.model_copy(update={"smp": smp})


def overheads_with_remote_releases(
    overheads: KernelOverheads, ledger: CycleLedger, upper_value: UpperValue
) -> KernelOverheads:
    """Returns the overheads with the cost of completing a release by an interrupt of another core.
    It is at least that of a release in a tick, which does the same to the task.
    """
    prices = CycleLedgerEntryCosts(overheads)
    priced = [(start, start.cycles - prices.job_start_cost(start)) for start in ledger.starts]
    priced += [(end.span, end.cycles - prices.job_end_overhead_cycles(end)) for end in ledger.job_ends]
    priced += [(send, send.cycles - prices.overhead_of_task_release_call(send)) for send in ledger.sends]
    single = [
        max(0, excess)
        for span, excess in priced
        if span.remote_gives == 1 and not span.interruptions and not span.compensated_ticks
    ]
    smp = overheads.smp.model_copy(
        update={"remote_give_cycles": max(upper_value(single), overheads.tick.per_task_cycles)}
    )
    return overheads.model_copy(update={"smp": smp})


def kernel_overheads_with_cross_core_waits(
    overheads: KernelOverheads, ledger: CycleLedger, upper_value: UpperValue
) -> KernelOverheads:
    """Returns the overheads with the further cost of calls that wait for a task of another core, or end such a wait.
    It is at least that of calls on one core.
    """
    prices = CycleLedgerEntryCosts(overheads)
    excess = [
        -(-max(0, entry.cycles - prices.job_work_cycles_with_calls(entry, work)) // entry.handovers)
        for entry, work in ledger.works
        if entry.handovers and entry.waits_across_cores
    ]
    least = overheads.events.contended_cycles if overheads.events is not None else 0
    smp = overheads.smp.model_copy(update={"contended_cycles": max(least, upper_value(excess))})
    return overheads.model_copy(update={"smp": smp})


def add_release_delay_to_overheads(
    overheads: KernelOverheads, ledger: CycleLedger, upper_value: UpperValue
) -> KernelOverheads:
    """Returns the overheads with the longest time for which a release waits for another core."""
    prices = CycleLedgerEntryCosts(overheads)
    waits = [
        max(0, wait.cycles - prices.overhead_from_release_to_job_start(wait))
        for wait in ledger.waits
        if wait.by_other_core
    ]
    smp = overheads.smp.model_copy(update={"release_cycles": upper_value(waits)})
    return overheads.model_copy(update={"smp": smp})
