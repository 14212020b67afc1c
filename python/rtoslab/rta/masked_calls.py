"""The longest time for which a kernel call masks interrupts.

It is read from the virtual board's record of every masked interval (`rtoslab masked`), over benchmarks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from rtoslab.base import PlanError, load_architecture_facts
from rtoslab.catalogue import Catalogue
from rtoslab.instruments import (
    WAYS,
    InterruptMaskingIntervals,
    Profile,
    find_observed_image,
    function_that_masked_interrupts,
    profile_image,
)
from rtoslab.plan import PlannedPoint
from rtoslab.targets import APPLICATION

_WINDOW_MS: Final = 20
_SLEEP: Final = WAYS.index("sleep")


def longest_masked_call(catalogue: Catalogue, point: PlannedPoint, benchmarks: Iterable[str]) -> int:
    """Returns the most cycles for which a kernel call masked interrupts, in some benchmarks. 0 if none did."""
    level = load_architecture_facts().interrupt_priorities(catalogue.find_board(point.board).facts.irq.priority_bits)[
        -1
    ]
    longest = 0
    for profiled in _profile_runnable_benchmarks(catalogue, point, benchmarks):
        for interval in profiled.held:
            call = function_that_masked_interrupts(interval.opener, profiled)
            of_kernel = profiled.classes.get(call, APPLICATION) != APPLICATION
            if interval.priority == level and of_kernel and not is_masked_sleep(profiled, interval):
                longest = max(longest, interval.longest_cycles)
    return longest


def is_masked_sleep(profiled: Profile, interval: InterruptMaskingIntervals) -> bool:
    """Whether the core slept in this interval with masked interrupts, as in a kernel's idle task. An interrupt then
    ends the sleep. Its wait after that was measured as the wait of a tick in the idle task.

    The proof is the sleep on the call path of the mask's end. It takes more than half of the masked time, and at most
    the masked time plus the longest interval. Sleep that interrupts end by their handlers would take more.
    """
    slept = sum(
        spent.cycles[_SLEEP]
        for spent in profiled.spent
        if (spent.core, spent.stack) == (interval.core, interval.closer)
    )
    return 2 * slept > interval.total_cycles and slept <= interval.total_cycles + interval.longest_cycles


def _profile_runnable_benchmarks(
    catalogue: Catalogue, point: PlannedPoint, benchmarks: Iterable[str]
) -> Iterator[Profile]:
    """Profiles each benchmark that this kernel and board can run."""
    config = {**point.kernel_config, "opt": point.opt, "code": point.code}
    if point.clock_hz is not None:
        config["clock_hz"] = str(point.clock_hz)
    for name in benchmarks:
        facts = catalogue.find_benchmark(name).facts
        latency = {"instrument": "probe"} if facts.kind == "latency" else {}
        try:
            subject = find_observed_image(
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
        yield profile_image(subject)
