"""The costs of several cores to each other, from the ledger of runs in which all of them work."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

from rtoslab.rta.entries import Ledger
from rtoslab.rta.overheads import Interrupt, Overheads, Smp
from rtoslab.rta.prices import Prices

_LONG: Final = 2_000
"""Cycles of work from which on a share of it can be told."""

Most = Callable[[Sequence[int]], int]
"""The largest of the samples, and a reserve."""


def contention_permille(ledger: Ledger) -> int:
    """Returns what undisturbed work lasted longer than alone on its bus, in thousandths of it, rounded up."""
    quiet = [(item.cycles, work) for item, work in ledger.works if not item.interruptions and work >= _LONG]
    return max((math.ceil(1000 * (cycles - work) / work) for cycles, work in quiet), default=0)


def around(single: Interrupt, entries: Sequence[int], permille: int) -> Interrupt:
    """Entry as it was seen, exit as one core has it and its fetches delayed as work is: what an interrupted job lasts
    longer cannot be told from what the other core's accesses make of it."""
    exit_ = single.exit_cycles + math.ceil(single.exit_cycles * permille / 1000)
    return Interrupt(entry_cycles=max([single.entry_cycles, *entries]), exit_cycles=exit_)


def shared(simple: Overheads, ledger: Ledger, cores: int, permille: int, most: Most) -> Overheads:
    """Adds the waits for locks, and the cost of a request by another core."""
    waits = [
        max(0, interruption.cycles - interruption.switches * simple.tick_switch)
        for interruption in ledger.interruptions
        if interruption.yields and not interruption.ticks and not interruption.meets_kernel
    ]
    spins = [spin.cycles for spin in ledger.spins]
    smp = Smp(
        cores=cores,
        lock_wait_cycles=most(spins),
        yield_cycles=most(waits),
        contention_permille=permille,
    )
    return simple.model_copy(update={"smp": smp})


def late_releases(overheads: Overheads, ledger: Ledger, most: Most) -> Overheads:
    """Adds the longest wait of a release for another core."""
    prices = Prices(overheads)
    waits = [max(0, wait.cycles - prices.wait(wait)) for wait in ledger.waits if wait.remote]
    smp = overheads.smp.model_copy(update={"release_cycles": most(waits)})
    return overheads.model_copy(update={"smp": smp})
