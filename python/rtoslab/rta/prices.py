"""The price of each ledger entry by the overheads, and the entries that cost more than their price."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rtoslab.rta.entries import (
    CycleLedger,
    HandlerChainInterruptSet,
    JobEnd,
    JobPhaseExecution,
    LockHandover,
    ReleaseToStartDelay,
    TaskInterruption,
)
from rtoslab.rta.overheads import EventCosts, KernelOverheads, SendCosts, TimerCosts


@dataclass(frozen=True, slots=True)
class KernelOverheadExcess:
    """A kernel activity that took longer than the overheads charge for it."""

    event: str
    took_cycles: int
    charged_cycles: int
    ended_at: int
    """The cycle since reset at which it ended."""

    @property
    def cycles_above_modelled_overhead(self) -> int:
        """Returns by how many cycles the activity took longer than charged."""
        return self.took_cycles - self.charged_cycles


@dataclass(frozen=True, slots=True)
class CycleLedgerEntryCosts:
    """The price (charge) in cycles of every kind of ledger entry, by a kernel's overheads."""

    overheads: KernelOverheads

    @property
    def interruption_entry_and_exit_cost(self) -> int:
        """Returns the price of an interruption's entry and exit, including fetches that it makes necessary again."""
        return self.overheads.interrupt.entry_cycles + self.overheads.interrupt.exit_cycles

    def overhead_cycles_of_tick_handlers(self, ticks: int, released: int, switches: int, *, is_slice: bool) -> int:
        """Returns the price of the handlers of so many ticks with releases and switches."""
        tick, switch = self.overheads.tick, self.overheads.extra_cycles_of_task_switching_tick
        if is_slice:
            switch = max(switch, self.overheads.additional_cycles_of_time_slice_tick)
        return ticks * tick.base_cycles + released * tick.per_task_cycles + switches * switch

    @property
    def event_costs(self) -> EventCosts:
        """Returns the costs of interrupts and critical sections. All are 0 if they were not measured."""
        return self.overheads.events or EventCosts()

    @property
    def task_release_call_costs(self) -> SendCosts:
        """Returns the costs of releases by other tasks. All are 0 if they were not measured."""
        return self.overheads.sends or SendCosts()

    @property
    def switch_overhead_in_task_release_call(self) -> int:
        """Returns the price of the switch to a task that another one releases, in the call that releases it.
        It is 0 if sends were not measured.
        """
        sends = self.overheads.sends
        return (
            0 if sends is None else self.interruption_entry_and_exit_cost + sends.contended_cycles + sends.switch_cycles
        )

    def overhead_of_task_release_call(self, span: JobPhaseExecution) -> int:
        """Returns the price of a call with which a job releases another task, without the switches in it."""
        contended = span.handovers * (
            self.interruption_entry_and_exit_cost + self.task_release_call_costs.contended_cycles
        )
        return self.task_release_call_costs.call_cycles + contended + self.interruption_cost_bound_in_phase(span)

    def overhead_of_lock_handover_switch(self, handover: LockHandover) -> int:
        """Returns the price of the switch to a task in the call that releases it, with what came with it."""
        return self.task_release_call_costs.switch_cycles + self._cost_of_events_beside_task_switch(handover)

    def chained_interrupts_cost(self, interrupts: HandlerChainInterruptSet) -> int:
        """Returns the price of the interrupts in a sequence of handlers, without the sequence's own entry."""
        events = self.event_costs
        return (
            interrupts.work_cycles
            + self.bus_interference_overhead_cycles(interrupts.work_cycles)
            + interrupts.count * events.handler_cycles
            + interrupts.gives * events.give_cycles
            + interrupts.chained_interrupt_entry_count * self.interruption_entry_and_exit_cost
        )

    def bus_interference_overhead_cycles(self, cycles: int) -> int:
        """Returns by how much the other cores' accesses may prolong work of so many cycles."""
        return -(-cycles * self.overheads.smp.contention_permille // 1000)

    def overhead_cycles_of_interruption(self, interruption: TaskInterruption) -> int:
        """Returns the price of an interruption.
        The switch to a task that a handler wakes is in the price of its give.
        """
        switches = max(0, interruption.switches - interruption.interrupts.gives)
        handlers = self.overhead_cycles_of_tick_handlers(
            interruption.ticks, interruption.released, switches, is_slice=interruption.among_equals
        )
        # Where an interrupt or another core was first, the tick has an entry of its own, as it is charged with.
        later = self.interruption_entry_and_exit_cost * (
            interruption.ticks
            if interruption.interrupts.begins_chain
            else min(interruption.ticks, interruption.core_requests)
        )
        return (
            handlers
            + self.chained_interrupts_cost(interruption.interrupts)
            + interruption.core_requests * self.overheads.smp.yield_cycles
            + later
        )

    @property
    def reschedule_interrupt_cost(self) -> int:
        """Returns the price of an interrupt by which another core makes this one choose its task again."""
        return self.interruption_entry_and_exit_cost + self.overheads.smp.yield_cycles

    @property
    def cross_core_resource_wait_cost(self) -> int:
        """Returns the price of one wait for a resource that a task of another core holds, on either core.

        The waiting core switches as the wait begins, and is interrupted as it ends. The holder's core is interrupted as
        the holder inherits the priority, and may switch as the resource is given back.
        """
        return (
            self.cost_of_task_switch_in_call
            + self.overheads.smp.contended_cycles
            + self.reschedule_interrupt_cost
            + self.overhead_cycles_of_tick_handlers(0, 0, 1, is_slice=False)
        )

    @property
    def cost_of_task_switch_in_call(self) -> int:
        """Returns the price of a switch, or of its handler alone, that a call of a task causes during its work."""
        return self.interruption_entry_and_exit_cost + self.event_costs.handover_cycles

    def late_remote_tick_overhead_cycles(self, released: int) -> int:
        """Returns the price of another core's tick that is handled late, because the scheduler was locked."""
        return (
            self.overhead_cycles_of_tick_handlers(1, released, 0, is_slice=False) + self.overheads.tick.deferred_cycles
        )

    def interruption_cycles_below_overhead(self, interruptions: Iterable[TaskInterruption]) -> int:
        """Returns by how many cycles the interruptions took less than their price.

        A tick that meets a locked scheduler does little in its handler. Postponed work is done in the section.
        """
        return sum(
            self.overhead_cycles_of_interruption(interruption) - interruption.cycles for interruption in interruptions
        )

    def overhead_of_events_in_switch_handlers(
        self, ticks: int, released: int, switches: int, interrupts: HandlerChainInterruptSet
    ) -> int:
        """Returns the price of everything that happens in the same handlers as a requested switch."""
        return self.overhead_cycles_of_tick_handlers(
            ticks, released, max(0, switches - 1 - interrupts.gives), is_slice=False
        ) + self.chained_interrupts_cost(interrupts)

    def interruption_cost_bound_in_phase(self, span: JobPhaseExecution) -> int:
        """Returns by how many cycles the interruptions of a span may prolong it."""
        ticks = sum(interruption.ticks for interruption in span.interruptions)
        return (
            len(span.interruptions) * self.interruption_entry_and_exit_cost
            + ticks * self.overheads.tick.deferred_cycles
            + sum(map(self.late_remote_tick_overhead_cycles, span.compensated_ticks))
            + span.remote_gives * self.overheads.smp.remote_give_cycles
            + self.interruption_cycles_below_overhead(span.interruptions)
        )

    def job_start_cost(self, span: JobPhaseExecution) -> int:
        """Returns the price of a job's start: from the switch to its first instruction."""
        simple = self.event_costs.start_cycles if span.is_woken else self.overheads.job.start_cycles
        if span.is_timer:
            simple = self.timer_costs.start_cycles
        return simple + self.interruption_cost_bound_in_phase(span)

    @property
    def timer_costs(self) -> TimerCosts:
        """Returns the costs of the kernel's timer task. All are 0 if they were not measured."""
        return self.overheads.timers or TimerCosts()

    def job_ending_call_cost(self, span: JobPhaseExecution, tasks: int) -> int:
        """Returns the price of the call with which a job ends, by what its task waits for afterwards."""
        if span.is_timer:
            return self.timer_costs.end_cycles
        return self.sleep_call_cost(tasks, is_woken=span.is_woken)

    def sleep_call_cost(self, tasks: int, *, is_woken: bool = False) -> int:
        """Returns the price of the call with which a job ends: from its last instruction to the handler that
        switches."""
        if is_woken:
            return self.event_costs.end_cycles
        return self.overheads.job.end_cycles + tasks * self.overheads.job.end_per_task_cycles

    def job_end_overhead_cycles(self, job_end: JobEnd) -> int:
        """Returns the price of a job's end: from its last instruction to the next task, whichever it is."""
        chain = job_end.chain
        more = self.overhead_of_events_in_switch_handlers(
            chain.kernel_tick_count, chain.released, chain.task_switch_count, chain.interrupts
        )
        more += chain.reschedule_interrupt_count * self.overheads.smp.yield_cycles
        deferred = chain.kernel_tick_count * self.overheads.tick.deferred_cycles
        simple = self.job_ending_call_cost(
            job_end.span, job_end.task_count
        ) + self.overhead_of_switch_to_lower_priority(job_end.priority_distance, to_idle=job_end.to_idle)
        return simple + more + deferred + self.interruption_cost_bound_in_phase(job_end.span)

    def longest_kernel_call_blocking(self, tasks: int, distance: int) -> int:
        """Returns the longest time for which a less urgent task's kernel call delays a release."""
        switches = max(
            self.overhead_of_switch_to_lower_priority(distance, to_idle=False),
            self.overhead_of_switch_to_lower_priority(0, to_idle=True),
        )
        masks = self.overheads.masks
        send, timers = (
            self.task_release_call_costs.call_cycles + self.switch_overhead_in_task_release_call,
            self.timer_costs,
        )
        end = max(self.sleep_call_cost(tasks), timers.end_cycles) + switches
        return max(masks.masked_cycles, masks.wait_cycles, end, send, timers.start_cycles)

    def longest_interrupt_delay(self, tasks: int, distance: int) -> int:
        """Returns the longest time for which the kernel delays an interrupt of any priority."""
        handlers = max(
            self.overhead_of_switch_to_lower_priority(distance, to_idle=False),
            self.overhead_of_switch_to_lower_priority(0, to_idle=True),
        ) + self.overhead_cycles_of_tick_handlers(1, tasks, 1, is_slice=True)
        events, job = self.event_costs, self.overheads.job
        calls = (job.start_cycles, self.sleep_call_cost(tasks),
                 events.start_cycles, events.end_cycles, events.give_cycles,
                 events.call_cycles, events.contended_cycles + events.handover_cycles,
                 self.task_release_call_costs.call_cycles + self.switch_overhead_in_task_release_call,
                 self.timer_costs.start_cycles, self.timer_costs.end_cycles)  # fmt: skip
        return max(self.overheads.masks.masked_cycles, handlers + self.interruption_entry_and_exit_cost, *calls)

    def longest_release_delay(self, tasks: int, distance: int) -> int:
        """Returns the longest time from a tick to its releases on several cores, besides their own cost.
        Some core has the scheduler locked, in a call that a tick and an interrupt from another core interrupt, and
        handles the tick later.
        """
        smp = self.overheads.smp
        tick = (
            self.interruption_entry_and_exit_cost
            + self.overhead_cycles_of_tick_handlers(1, tasks, 0, is_slice=False)
            + self.overheads.tick.deferred_cycles
        )
        return max(
            smp.release_cycles,
            self.longest_kernel_call_blocking(tasks, distance)
            + 2 * tick
            + self.reschedule_interrupt_cost
            + smp.lock_wait_cycles,
        )

    def overhead_of_switch_to_lower_priority(self, distance: int, *, to_idle: bool) -> int:
        """Returns the price of the handler that switches to a less urgent task."""
        switch = self.overheads.switch
        if to_idle:
            return switch.to_idle_cycles
        down = switch.down_cycles + switch.down_per_priority_cycles * max(0, distance - 1)
        # Written by hand, `down` says nothing of a switch to someone just released. Measured, it does.
        return max(down, switch.up_cycles) if self.overheads.tick.switch_cycles is None else down

    def overhead_from_release_to_job_start(self, wait: ReleaseToStartDelay) -> int:
        """Returns the price of the time from a tick or interrupt to the job it releases, if nothing delays the job."""
        if wait.interrupts.count:
            return self.interruption_entry_and_exit_cost + self.chained_interrupts_cost(wait.interrupts)
        if wait.by_other_core:
            return self.reschedule_interrupt_cost + self.overhead_cycles_of_tick_handlers(0, 0, 1, is_slice=False)
        return self.interruption_entry_and_exit_cost + self.overhead_cycles_of_tick_handlers(
            1, wait.released, 1, is_slice=False
        )

    def job_work_cycles_with_calls(self, span: JobPhaseExecution, cycles: int) -> int:
        """Returns the price of a job's work, with the calls between its parts."""
        between = span.kernel_calls * self.event_costs.call_cycles
        smp = self.overheads.smp
        contended = span.handovers * (
            smp.contended_cycles if span.waits_across_cores else self.event_costs.contended_cycles
        )
        # A call that coincides with an interruption: a part of its cost is booked there.
        moved = self.interruption_cycles_below_overhead(
            interruption for interruption in span.interruptions if interruption.meets_kernel
        )
        around = (len(span.interruptions) + span.handovers) * self.interruption_entry_and_exit_cost
        remote = span.remote_gives * smp.remote_give_cycles if span.kernel_calls else 0
        work = cycles + self.bus_interference_overhead_cycles(cycles) + self.overheads.job.work_cycles
        return work + between + contended + around + moved + remote

    def task_handover_cost(self, handover: LockHandover) -> int:
        """Returns the price of a switch that a task's own call caused, with the kernel events that came with it."""
        return self.event_costs.handover_cycles + self._cost_of_events_beside_task_switch(handover)

    def _cost_of_events_beside_task_switch(self, handover: LockHandover) -> int:
        """Returns the price of the kernel events that came with a switch."""
        requests = handover.core_requests * self.overheads.smp.yield_cycles
        return requests + self.overhead_of_events_in_switch_handlers(
            handover.ticks, handover.released, handover.switches, handover.interrupts
        )


def ledger_entries_above_modelled_overhead(
    ledger: CycleLedger, overheads: KernelOverheads, tasks: int
) -> list[KernelOverheadExcess]:
    """Returns the ledger's entries that took longer than their price, the worst first."""
    return sorted(
        (
            excess
            for excess in _ledger_entries_with_overhead_costs(ledger, CycleLedgerEntryCosts(overheads), tasks)
            if excess.cycles_above_modelled_overhead > 0
        ),
        key=lambda excess: -excess.cycles_above_modelled_overhead,
    )


def _job_boundary_entries_with_costs(
    ledger: CycleLedger, prices: CycleLedgerEntryCosts, tasks: int
) -> Iterator[KernelOverheadExcess]:
    """Yields each start and end of a job with its cycles and its price."""
    for start in ledger.starts:
        yield KernelOverheadExcess("the start of a job", start.cycles, prices.job_start_cost(start), start.ended_at)
    for job_end in ledger.job_ends:
        yield KernelOverheadExcess(
            "the end of a job", job_end.cycles, prices.job_end_overhead_cycles(job_end), job_end.ended_at
        )
    for again in ledger.restarts:
        both = (
            prices.job_ending_call_cost(again, tasks)
            + prices.job_start_cost(again)
            + prices.overhead_of_switch_to_lower_priority(0, to_idle=False)
        )
        yield KernelOverheadExcess("the end of a job and the next one's start", again.cycles, both, again.ended_at)


def _release_call_entries_with_costs(
    ledger: CycleLedger, prices: CycleLedgerEntryCosts
) -> Iterator[KernelOverheadExcess]:
    """Yields each call that releases another task, and each switch in one, with its cycles and its price."""
    for send in ledger.sends:
        yield KernelOverheadExcess(
            "a release of another task", send.cycles, prices.overhead_of_task_release_call(send), send.ended_at
        )
    for switch in ledger.send_switches:
        price = prices.overhead_of_lock_handover_switch(switch)
        yield KernelOverheadExcess(
            "a switch to a task that another one releases", switch.cycles, price, switch.ended_at
        )


def _ledger_entries_with_overhead_costs(
    ledger: CycleLedger, prices: CycleLedgerEntryCosts, tasks: int
) -> Iterator[KernelOverheadExcess]:
    """Yields each entry of a ledger with its cycles and its price."""
    yield from _job_boundary_entries_with_costs(ledger, prices, tasks)
    yield from _release_call_entries_with_costs(ledger, prices)
    for interruption in ledger.interruptions:
        if not interruption.meets_kernel:
            yield KernelOverheadExcess(
                "a tick or an interrupt",
                interruption.cycles,
                prices.overhead_cycles_of_interruption(interruption),
                interruption.ended_at,
            )
    for span, work in ledger.works:
        yield KernelOverheadExcess("work", span.cycles, prices.job_work_cycles_with_calls(span, work), span.ended_at)
    for handover in ledger.handovers:
        yield KernelOverheadExcess(
            "a switch for a lock", handover.cycles, prices.task_handover_cost(handover), handover.ended_at
        )
    held = (
        prices.longest_release_delay(tasks, 0)
        if prices.overheads.smp.cores > 1
        else prices.longest_kernel_call_blocking(tasks, 0)
    )
    for wait in ledger.waits:
        yield KernelOverheadExcess(
            "a wait for the kernel", wait.cycles, prices.overhead_from_release_to_job_start(wait) + held, wait.ended_at
        )
    for spin in ledger.lock_waits:
        yield KernelOverheadExcess(
            "a wait for a lock", spin.cycles, prices.overheads.smp.lock_wait_cycles, spin.ended_at
        )
        yield KernelOverheadExcess(
            "a wait for a lock while no other core was in the kernel", spin.without_holder, 0, spin.ended_at
        )
