"""Small systems for tests, in whole units of time."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from rtoslab.rta.overheads import KernelOverheads, TaskSwitchCosts, TickCosts
from rtoslab.rta.system import IntegerTimeTask, IntegerTimeTaskSet


def task(
    name: str, period: int, wcet: int, priority: int, deadline: int | None = None, **more: object
) -> IntegerTimeTask:
    return IntegerTimeTask(name, period, wcet, deadline or period, priority, **more)  # type: ignore[arg-type]


def rate_monotonic(*pairs: tuple[int, int]) -> IntegerTimeTaskSet:
    """(wcet, period) pairs as tasks A, B ...; a shorter period is more urgent, the earlier of equal ones too."""
    order = sorted(range(len(pairs)), key=lambda at: (-pairs[at][1], -at))
    return IntegerTimeTaskSet(
        tuple(task(chr(ord("A") + at), period, wcet, order.index(at)) for at, (wcet, period) in enumerate(pairs))
    )


def random_system(
    random: Random, *, most: int = 6, load: float = 0.9, periods: Sequence[int] = range(5, 60)
) -> IntegerTimeTaskSet:
    """Rate-monotonic, implicit deadlines; the utilisation is about `load` or less."""
    count = random.randint(2, most)
    shares = [random.random() for _ in range(count)]
    scale = load * random.uniform(0.4, 1.0) / sum(shares)
    chosen = [random.choice(periods) for _ in range(count)]
    return rate_monotonic(
        *((max(1, int(share * scale * period)), period) for share, period in zip(shares, chosen, strict=True))
    )


KERNEL = KernelOverheads(
    clock_hz=84_000_000,
    tick=TickCosts(period_cycles=84_000, base_cycles=100, per_task_cycles=150, deferred_cycles=60),
    switch=TaskSwitchCosts(up_cycles=90, down_cycles=95, to_idle_cycles=95, from_idle_cycles=90),
)
