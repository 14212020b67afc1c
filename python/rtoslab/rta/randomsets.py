"""Random task sets that a kernel with a tick can run: for the property that no observed response exceeds its bound."""

from __future__ import annotations

from random import Random
from typing import Final

from rtoslab.rta.system import System, Task

PERIODS_TICKS: Final = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 24, 30, 40)


def random_system(random: Random, clock_hz: int, tick_cycles: int, most: int = 10) -> System:
    """Utilisation from 0.2 to 0.85 in random shares; rate-monotonic or any priorities, some equal; some offsets."""
    count = random.randint(2, most)
    shares = [random.expovariate(1.0) for _ in range(count)]
    load = random.uniform(0.2, 0.85) / sum(shares)
    periods = [random.choice(PERIODS_TICKS) for _ in range(count)]
    order = sorted(range(count), key=lambda at: -periods[at])
    if random.random() < 0.25:
        random.shuffle(order)
    levels = [order.index(at) // (2 if random.random() < 0.1 else 1) for at in range(count)]
    offsets = random.random() < 0.25
    return System(
        tuple(
            Task(
                name=chr(ord("A") + at),
                period=periods[at] * tick_cycles,
                wcet=max(tick_cycles // 100, int(shares[at] * load * periods[at] * tick_cycles)),
                deadline=periods[at] * tick_cycles,
                priority=levels[at],
                offset=random.randrange(periods[at]) * tick_cycles if offsets else None,
            )
            for at in range(count)
        ),
        units_per_second=clock_hz,
    )
