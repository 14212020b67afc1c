"""The price of each ledger entry by the overheads, and the entries above it, which no fit covers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rtoslab.rta.entries import Handover, Interruption, Irqs, Leave, Ledger, Stretch, Wait
from rtoslab.rta.overheads import Events, Overheads


@dataclass(frozen=True, slots=True)
class Excess:
    """Something that took longer than it is charged with. Cycles."""

    what: str
    took: int
    charged: int
    at: int
    """When it ended, in cycles since reset."""

    @property
    def cycles(self) -> int:
        """Returns the excess in cycles."""
        return self.took - self.charged


@dataclass(frozen=True, slots=True)
class Prices:
    """The overheads, as the ledger's entries ask for them."""

    overheads: Overheads

    @property
    def around(self) -> int:
        """Entry and exit of an interruption, and what is fetched again."""
        return self.overheads.interrupt.entry_cycles + self.overheads.interrupt.exit_cycles

    def chain(self, ticks: int, released: int, switches: int, *, sliced: bool) -> int:
        """Handlers of so many ticks, from first to last."""
        tick, switch = self.overheads.tick, self.overheads.tick_switch
        if sliced:
            switch = max(switch, self.overheads.tick_slice)
        return ticks * tick.base_cycles + released * tick.per_task_cycles + switches * switch

    @property
    def events(self) -> Events:
        """All 0 where they were not measured."""
        return self.overheads.events or Events()

    def irqs(self, irqs: Irqs) -> int:
        """Interrupts in a chain, their entries after the chain's own included."""
        events = self.events
        return (
            irqs.work
            + irqs.count * events.handler_cycles
            + irqs.gives * events.give_cycles
            + irqs.entries * self.around
        )

    def interruption(self, interruption: Interruption) -> int:
        """The same of an entry. The switch to a task that a handler wakes is in the price of its give."""
        switches = max(0, interruption.switches - interruption.irqs.gives)
        handlers = self.chain(interruption.ticks, interruption.released, switches, sliced=interruption.among_equals)
        # Where an interrupt or another core was first, the tick has an entry of its own, as it is charged with.
        later = self.around * (
            interruption.ticks if interruption.irqs.first else min(interruption.ticks, interruption.yields)
        )
        return handlers + self.irqs(interruption.irqs) + interruption.yields * self.overheads.smp.yield_cycles + later

    @property
    def request_cycles(self) -> int:
        """An interrupt by which another core has this one look for who is to run."""
        return self.around + self.overheads.smp.yield_cycles

    def compensation(self, released: int) -> int:
        """Returns what a tick of another core costs that is made up for here, as it found the scheduler locked."""
        return self.chain(1, released, 0, sliced=False) + self.overheads.tick.deferred_cycles

    def saved_cycles(self, interruptions: Iterable[Interruption]) -> int:
        """Returns by how much they cost less than their charge, beside entry and exit.

        A tick that meets a locked scheduler does little in its handler. Postponed work is done in the section."""
        return sum(self.interruption(interruption) - interruption.cycles for interruption in interruptions)

    def beside(self, ticks: int, released: int, switches: int, irqs: Irqs) -> int:
        """Returns what comes in one chain with a switch that a task called for, which is one of the switches."""
        return self.chain(ticks, released, max(0, switches - 1 - irqs.gives), sliced=False) + self.irqs(irqs)

    def interruption_cycles(self, stretch: Stretch) -> int:
        """Returns what a stretch may last longer for its interruptions."""
        ticks = sum(interruption.ticks for interruption in stretch.interruptions)
        return (
            len(stretch.interruptions) * self.around
            + ticks * self.overheads.tick.deferred_cycles
            + sum(map(self.compensation, stretch.compensated))
            + self.saved_cycles(stretch.interruptions)
        )

    def start(self, stretch: Stretch) -> int:
        """Returns the price from the switch to a job's first instruction."""
        simple = self.events.start_cycles if stretch.woken else self.overheads.job.start_cycles
        return simple + self.interruption_cycles(stretch)

    def end(self, tasks: int, *, woken: bool = False) -> int:
        """Returns the price from a job's last instruction to the handler that switches."""
        if woken:
            return self.events.end_cycles
        return self.overheads.job.end_cycles + tasks * self.overheads.job.end_per_task_cycles

    def leave(self, leave: Leave) -> int:
        """Returns the price from a job's last instruction to whichever task runs next."""
        chain = leave.chain
        more = self.beside(chain.ticks, chain.released, chain.switches, chain.irqs)
        more += chain.yields * self.overheads.smp.yield_cycles
        deferred = chain.ticks * self.overheads.tick.deferred_cycles
        simple = self.end(leave.tasks, woken=leave.stretch.woken) + self.down(leave.distance, to_idle=leave.to_idle)
        return simple + more + deferred + self.interruption_cycles(leave.stretch)

    def block(self, tasks: int, distance: int) -> int:
        """The longest that a less urgent task keeps the kernel from a release: seen, or all of the end of its job."""
        switches = max(self.down(distance, to_idle=False), self.down(0, to_idle=True))
        masks = self.overheads.masks
        return max(masks.masked_cycles, masks.wait_cycles, self.end(tasks) + switches)

    def masked_cycles(self, tasks: int, distance: int) -> int:
        """The longest that the kernel holds an interrupt off, whatever its priority: a call, as if it masked from its
        begin to its end, or all of its handlers one after the other, a switch and a tick that releases every task."""
        handlers = max(self.down(distance, to_idle=False), self.down(0, to_idle=True)) + self.chain(
            1, tasks, 1, sliced=True
        )
        events, job = self.events, self.overheads.job
        calls = (job.start_cycles, self.end(tasks), events.start_cycles, events.end_cycles, events.give_cycles,
                 events.call_cycles, events.contended_cycles + events.handover_cycles)  # fmt: skip
        return max(self.overheads.masks.masked_cycles, handlers + self.around, *calls)

    def release(self, tasks: int, distance: int) -> int:
        """Returns, on several cores, the longest time from a tick to its releases beside their own cost. Some core
        has the scheduler locked, in a call that a tick and an interrupt from another core meet, and makes up for it
        later."""
        smp = self.overheads.smp
        tick = self.around + self.chain(1, tasks, 0, sliced=False) + self.overheads.tick.deferred_cycles
        return max(
            smp.release_cycles, self.block(tasks, distance) + 2 * tick + self.request_cycles + smp.lock_wait_cycles
        )

    def down(self, distance: int, *, to_idle: bool) -> int:
        """The handler that switches away."""
        switch = self.overheads.switch
        if to_idle:
            return switch.to_idle_cycles
        down = switch.down_cycles + switch.down_per_priority_cycles * max(0, distance - 1)
        # Written by hand, `down` says nothing of a switch to someone just released. Measured, it does.
        return max(down, switch.up_cycles) if self.overheads.tick.switch_cycles is None else down

    def wait(self, wait: Wait) -> int:
        """Returns the price from a tick or an interrupt to the job it releases, where nothing is in the way."""
        if wait.irqs.count:
            return self.around + self.irqs(wait.irqs)
        if wait.remote:
            return self.request_cycles + self.chain(0, 0, 1, sliced=False)
        return self.around + self.chain(1, wait.released, 1, sliced=False)

    def work(self, stretch: Stretch, cycles: int) -> int:
        """A job's work, with what is between its parts."""
        between = stretch.calls * self.events.call_cycles
        contended = stretch.handovers * self.events.contended_cycles
        # A call that coincides with an interruption: a part of its cost is booked there.
        moved = self.saved_cycles(interruption for interruption in stretch.interruptions if interruption.meets_kernel)
        around = (len(stretch.interruptions) + stretch.handovers) * self.around
        bus = -(-cycles * self.overheads.smp.contention_permille // 1000)
        return cycles + bus + self.overheads.job.work_cycles + between + contended + around + moved

    def handover(self, handover: Handover) -> int:
        """The switch that a call led to, and what came with it."""
        return self.events.handover_cycles + self.beside(
            handover.ticks, handover.released, handover.switches, handover.irqs
        )


def uncovered_entries(ledger: Ledger, overheads: Overheads, tasks: int) -> list[Excess]:
    """Entries that exceed their price, the worst first."""
    return sorted(
        (excess for excess in _compare(ledger, Prices(overheads), tasks) if excess.cycles > 0),
        key=lambda excess: -excess.cycles,
    )


def _compare(ledger: Ledger, prices: Prices, tasks: int) -> Iterator[Excess]:
    for interruption in ledger.interruptions:
        if not interruption.meets_kernel:
            yield Excess(
                "a tick or an interrupt", interruption.cycles, prices.interruption(interruption), interruption.at
            )
    for start in ledger.starts:
        yield Excess("the start of a job", start.cycles, prices.start(start), start.at)
    for leave in ledger.leaves:
        yield Excess("the end of a job", leave.cycles, prices.leave(leave), leave.at)
    for again in ledger.agains:
        both = prices.end(tasks, woken=again.woken) + prices.start(again) + prices.down(0, to_idle=False)
        yield Excess("the end of a job and the next one's start", again.cycles, both, again.at)
    for stretch, work in ledger.works:
        yield Excess("work", stretch.cycles, prices.work(stretch, work), stretch.at)
    for handover in ledger.handovers:
        yield Excess("a switch for a lock", handover.cycles, prices.handover(handover), handover.at)
    held = prices.release(tasks, 0) if prices.overheads.smp.cores > 1 else prices.block(tasks, 0)
    for wait in ledger.waits:
        yield Excess("a wait for the kernel", wait.cycles, prices.wait(wait) + held, wait.at)
    for spin in ledger.spins:
        yield Excess("a wait for a lock", spin.cycles, prices.overheads.smp.lock_wait_cycles, spin.at)
        yield Excess("a wait for a lock while no other core was in the kernel", spin.outside, 0, spin.at)
