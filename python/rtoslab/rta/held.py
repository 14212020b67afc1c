"""What holds the kernel off: the longest stretch that one of its calls masks; the longest wait for a lock.

Both from the virtual board's records of every interval (`rtoslab masked`, `rtoslab profile`), over benchmarks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from rtoslab.base import PlanError
from rtoslab.catalogue import Catalogue
from rtoslab.instruments import Profile, make_subject, owner, priorities, profile
from rtoslab.plan import Point
from rtoslab.targets import APPLICATION

_WINDOW_MS: Final = 20


def longest_masked(catalogue: Catalogue, point: Point, benchmarks: Iterable[str]) -> int:
    """Cycles with the least urgent interrupt held off by a call of the kernel's, handlers aside; 0 if none was seen."""
    level = priorities(catalogue.board(point.board).facts.cpu)[-1]
    longest = 0
    for found in _profiles(catalogue, point, benchmarks, cores=1):
        for each in found.held:
            call = owner(each.opener, found)
            if each.priority == level and found.classes.get(call, APPLICATION) != APPLICATION:
                longest = max(longest, each.longest_cycles)
    return longest


def longest_lock_wait(catalogue: Catalogue, point: Point, cores: int) -> int:
    """Cycles that a core waited for a spinlock of the kernel, over the benchmarks that count with one object a core."""
    names = [
        each.id
        for each in catalogue.benchmarks.values()
        if each.facts.kind == "counts" and len(each.facts.services) == 1 and not each.facts.task_table
    ]
    found = _profiles(catalogue, point, names, cores=cores)
    return max((each.longest_cycles for one in found for each in one.locks if each.waited), default=0)


def _profiles(catalogue: Catalogue, point: Point, benchmarks: Iterable[str], *, cores: int) -> Iterator[Profile]:
    """Of those benchmarks that this kernel and board can run on so many cores."""
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
                cores=cores,
                config={**config, **latency},
                window_ms=facts.limit_ms if latency else _WINDOW_MS,
            )
        except PlanError:
            continue
        yield profile(subject)
