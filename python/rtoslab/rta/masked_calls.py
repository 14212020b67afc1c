"""The longest time for which a kernel call masks interrupts.

From the virtual board's record of every interval (`rtoslab masked`), over benchmarks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from rtoslab.base import PlanError, architecture
from rtoslab.catalogue import Catalogue
from rtoslab.instruments import WAYS, MaskedIntervals, Profile, make_subject, owning_call, profile_subject
from rtoslab.plan import Point
from rtoslab.targets import APPLICATION

_WINDOW_MS: Final = 20
_SLEEP: Final = WAYS.index("sleep")


def longest_masked(catalogue: Catalogue, point: Point, benchmarks: Iterable[str]) -> int:
    """Cycles with the least urgent interrupt masked by a call of the kernel's, handlers aside. 0 if none was seen."""
    level = architecture().interrupt_priorities(catalogue.board(point.board).facts.irq.priority_bits)[-1]
    longest = 0
    for profiled in _profiles(catalogue, point, benchmarks):
        for held in profiled.held:
            call = owning_call(held.opener, profiled)
            of_kernel = profiled.classes.get(call, APPLICATION) != APPLICATION
            if held.priority == level and of_kernel and not asleep(profiled, held):
                longest = max(longest, held.longest_cycles)
    return longest


def asleep(profiled: Profile, held: MaskedIntervals) -> bool:
    """Whether the core slept under the mask, as where a kernel idles: an interrupt then ends the sleep, and what it
    waits afterwards is among the waits that were measured, as a tick comes while the kernel idles.

    The sleep at the mask's end proves it: it took most of the masked time, and no more than that, unless it lasted
    beyond the section. Sleep that interrupts end by their handlers would be more."""
    slept = sum(
        spent.cycles[_SLEEP] for spent in profiled.spent if (spent.core, spent.stack) == (held.core, held.closer)
    )
    return 2 * slept > held.total_cycles and slept <= held.total_cycles + held.longest_cycles


def _profiles(catalogue: Catalogue, point: Point, benchmarks: Iterable[str]) -> Iterator[Profile]:
    """Yields the profiles of those benchmarks that this kernel and board can run."""
    config = {**point.kernel_config, "opt": point.opt, "code": point.code}
    if point.clock_hz is not None:
        config["clock_hz"] = str(point.clock_hz)
    for name in benchmarks:
        facts = catalogue.benchmark(name).facts
        latency = {"instrument": "probe"} if facts.kind == "latency" else {}
        try:
            subject = make_subject(
                catalogue,
                name,
                kernel=point.kernel,
                board=point.board,
                cores=1,
                config={**config, **latency},
                window_ms=facts.limit_ms if latency else _WINDOW_MS,
            )
        except PlanError:
            continue
        yield profile_subject(subject)
