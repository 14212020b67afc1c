"""Measures speed while firmware waits for its serial port, and of whole points: part of `make bench`.

The output of a point takes longer on the line than its measured window, and its firmware waits for the serial port
before each byte. *passed over*: as `rtoslab run` executes it, where such waits are passed over up to the next event
(docs/performance.md). *executed*: the same section with the profile on, where every read is executed. Both take the
same cycles, which is checked."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import Any, Final

from boards import ROOT
from kernel_images import CLOSED, CONFIGURATIONS, run_to_window_state, t1_to_t8_points

from rtoslab.catalogue import Catalogue
from rtoslab.images import build_measurement_point_image
from rtoslab.measure import make_virtual_benchmark_job
from rtoslab.targets import WINDOW_SYMBOL, VirtualBenchmarkRunRequest, make_board_at_reset, run_virtual_benchmark

STRETCH_CYCLES: Final = 2_500_000
REPEATS: Final = 3
WINDOW_MS: Final = 100


@dataclass
class PrintingSpeed:
    """Cycles, instructions and processor seconds of a section in which the firmware prints."""

    cycles: int
    instructions: int
    seconds: float

    @property
    def mips(self) -> float:
        """Returns millions of instructions per second of processor time."""
        return self.instructions / self.seconds / 1e6


def measure_printing(job: VirtualBenchmarkRunRequest, *, executed: bool) -> PrintingSpeed:
    """Runs the section after the measured window, in which the firmware prints its measurements."""
    machine: Any = make_board_at_reset(job.board, cores=job.cores)
    machine.load(job.image, job.name)
    word = machine.symbol(WINDOW_SYMBOL)
    machine.watch_write(word, 1, True)
    run_to_window_state(machine, word, CLOSED)
    machine.profile(executed)
    before, cycle, start = machine.stats(), machine.cycle(), time.process_time()
    machine.run(STRETCH_CYCLES)
    seconds = time.process_time() - start
    instructions = sum(
        after["instructions"] - core["instructions"]
        for after, core in zip(machine.stats()["cores"], before["cores"], strict=True)
    )
    return PrintingSpeed(machine.cycle() - cycle, instructions, seconds)


def time_whole_run(job: VirtualBenchmarkRunRequest) -> float:
    """Returns the processor seconds of a whole watched run, including the host's work on its events."""
    start = time.process_time()
    outcome = run_virtual_benchmark(job)
    if outcome.failure:
        raise SystemExit(f"{job.name}: {outcome.failure}")
    return time.process_time() - start


def main() -> None:
    """Prints the table."""
    catalogue = Catalogue(ROOT)
    print(
        "| FreeRTOS T1 | waits passed over, MIPS | executed, MIPS | ratio | a whole point, s |",
        "|---|---|---|---|---|",
        sep="\n",
    )
    for board, cores in CONFIGURATIONS:
        point = t1_to_t8_points(catalogue, board, cores, WINDOW_MS)[0]
        image = (build_measurement_point_image(catalogue, point).folder / "image.elf").read_bytes()
        job = make_virtual_benchmark_job(catalogue, point, image, f"{point.benchmark} on {board}")
        runs = [
            (measure_printing(job, executed=False), measure_printing(job, executed=True), time_whole_run(job))
            for _ in range(REPEATS)
        ]
        if any((one.cycles, one.instructions) != (other.cycles, other.instructions) for one, other, _ in runs):
            raise SystemExit(f"{job.name}: a wait that was passed over did not take its cycles and instructions; a bug")
        quick = statistics.median(stretch.mips for stretch, _, _ in runs)
        slow = statistics.median(stretch.mips for _, stretch, _ in runs)
        seconds = statistics.median(run[2] for run in runs)
        name = f"{board}, {cores} core{'s' * (cores > 1)}"
        print(f"| {name} | {quick:.0f} | {slow:.0f} | {quick / slow:.1f} | {seconds:.2f} |", flush=True)
