"""How long a phase sweep over 100 000 offsets takes on the NUCLEO-F446RE, with two threads."""

import time
from typing import Final

from rtoslab.base import find_checkout_root
from rtoslab.catalogue import Catalogue
from rtoslab.plan import PlanOptions
from rtoslab.worst_case import (
    WINDOW_MS,
    InterruptSweepCycleRange,
    find_worst_case_interrupt_latency,
    inject_interrupt_at_every_cycle,
    prepare_benchmark_sweep_scenario,
)

OFFSETS: Final = 100_000
THREADS: Final = 2


def main() -> None:
    """Prints the time of the sweep, and its result."""
    options = PlanOptions(["freertos"], ["nucleo-f446re"], [1], WINDOW_MS)
    scenario = prepare_benchmark_sweep_scenario(Catalogue(find_checkout_root()), "phase_sweep", options)
    span = InterruptSweepCycleRange(OFFSETS, f"{OFFSETS:,} cycles")
    began = time.monotonic()
    arrivals = inject_interrupt_at_every_cycle(scenario, span, threads=THREADS)
    seconds = time.monotonic() - began
    print(f"{seconds:.1f} s for {len(arrivals):,} offsets with {THREADS} threads on the {scenario.board.title}")
    print(find_worst_case_interrupt_latency(scenario, span, arrivals).claim)
