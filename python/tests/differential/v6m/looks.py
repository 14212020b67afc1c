"""How random loops are looked at while they run, and in slices in which nothing is remembered."""

from __future__ import annotations

from dataclasses import dataclass

from rtoslab._sim import Machine


@dataclass(frozen=True)
class Look:
    """How the board is looked at: in slices of so many cycles; with the profile on; by probes and words."""

    sliced: int = 0
    profile: bool = False
    probes: tuple[int, ...] = ()
    words: tuple[int, ...] = ()
    stops: int = 0
    """The one of the words of which a write stops the run."""


def watch(machine: Machine, look: Look) -> None:
    """The probes come in all kinds."""
    for ident, address in enumerate(look.probes):
        machine.watch_exec(address, ident)
        if ident % 3 == 0:
            machine.watch_call(address, 0x100 + ident)
    for ident, word in enumerate(look.words):
        machine.watch_write(word, 0x200 + ident, word == look.stops)
    machine.trace_exceptions(bool(look.words))
    if look.probes:
        machine.between(look.probes[0], look.probes[-1])
        if len(look.probes) % 4 == 0:
            machine.until(look.probes[-1])
    machine.profile(look.profile)


def advance(machine: Machine, cycles: int, look: Look) -> list[tuple[str, int]]:
    """Why it stopped on the way, and when."""
    end, stops = machine.cycle() + cycles, []
    while (left := end - machine.cycle()) > 0:
        stopped = machine.run(min(left, look.sliced or left))
        if stopped["reason"] != "cycles":
            stops.append((stopped["reason"], machine.cycle()))
    return stops


def hits(machine: Machine, before: tuple[int, int], *, anew: bool) -> int:
    """How many stretches of instructions took their time from memory since then; none may where all are executed."""
    known = machine.timing_cache_counts()
    assert known == before or not anew
    return known[0] - before[0]
