"""Speed on kernel images: FreeRTOS's T1 to T8, plain and as `rtoslab run` watches them. Part of `make bench`.

Both run the same image over its measured window: plain without any instrument but the one that ends it, watched with
every probe, word, trace and profile that the proofs of a point ask for, and with what the host makes of their events.
unicorn runs the workload in the same run, for the scale of the machine. It cannot run these images, which need timers
and interrupts. `--write` puts the table into docs/performance.md.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import engines
import images
from boards import ROOT, Board

from rtoslab.catalogue import Catalogue
from rtoslab.images import build_measurement_point_image
from rtoslab.measure import make_virtual_benchmark_job
from rtoslab.plan import PlannedPoint, PlanOptions, make_measurement_plan
from rtoslab.targets import (
    WINDOW_SYMBOL,
    VirtualBenchmarkRunRequest,
    VirtualBoardMachine,
    make_board_at_reset,
    run_virtual_benchmark,
)

PAGE: Final = ROOT / "docs" / "performance.md"
BEGIN: Final = "<!-- kernel images: written by `bench/run.py kernel_images --write` -->"
END: Final = "<!-- end of kernel images -->"
CONFIGURATIONS: Final = (
    ("pico", 1), ("pico", 2), ("nucleo-l073rz", 1), ("nucleo-f103rb", 1), ("nucleo-f446re", 1), ("nucleo-f767zi", 1),
)  # fmt: skip
SCALE_BOARD: Final = "nucleo-f446re"
SCALE_ROUNDS: Final = 1000
OPEN, CLOSED = 1, 2


@dataclass
class WindowSpeed:
    """Cycles and processor seconds of the measured window in one run."""

    cycles: int = 0
    seconds: float = 0.0

    @property
    def megacycles_per_s(self) -> float:
        """Returns millions of cycles per second of processor time."""
        return self.cycles / self.seconds / 1e6


@dataclass
class WindowTimer:
    """A machine that times the window: from where its profile is switched on to where it is switched off."""

    machine: VirtualBoardMachine
    window: WindowSpeed = field(default_factory=WindowSpeed)

    def profile(self, on: bool) -> None:
        """Switches the profile, and begins or ends the timing."""
        if on:
            self.machine.profile(on)
        now, cycle = time.process_time(), self.machine.cycle()
        self.window = WindowSpeed(cycle - self.window.cycles, now - self.window.seconds)
        if not on:
            self.machine.profile(on)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.machine, name)


def measure_without_instruments(job: VirtualBenchmarkRunRequest) -> WindowSpeed:
    """Runs the window without instruments."""
    machine = make_board_at_reset(job.board, cores=job.cores)
    machine.load(job.image, job.name)
    word = machine.symbol(WINDOW_SYMBOL)
    if word is None:
        raise SystemExit(f"{job.name} has no {WINDOW_SYMBOL}")
    machine.watch_write(word, 1, True)
    run_to_window_state(machine, word, OPEN)
    start, cycle = time.process_time(), machine.cycle()
    run_to_window_state(machine, word, CLOSED)
    return WindowSpeed(machine.cycle() - cycle, time.process_time() - start)


def run_to_window_state(machine: Any, word: int, state: int) -> None:
    """Runs until the image sets this state of its window."""
    while int.from_bytes(machine.read(word, 4), "little") != state:
        stop = machine.run(engines.CYCLE_LIMIT)
        if stop["reason"] != "watch":
            raise SystemExit(f"the image stopped before its window was in state {state}: {stop['detail']}")


def measure_as_run_watches(job: VirtualBenchmarkRunRequest) -> WindowSpeed:
    """Runs the window as `rtoslab run` watches it."""
    timed = WindowTimer(make_board_at_reset(job.board, cores=job.cores))
    failure = run_virtual_benchmark(job, machine=timed).failure
    if failure:
        raise SystemExit(f"{job.name}: {failure}")
    return timed.window


def t1_to_t8_points(catalogue: Catalogue, board: str, cores: int, window_ms: int) -> list[PlannedPoint]:
    """Returns the points of T1 to T8 with FreeRTOS."""
    names = [benchmark for benchmark in catalogue.benchmarks if benchmark.startswith("t") and benchmark[1].isdigit()]
    options = PlanOptions(["freertos"], [board], cores=[cores], window_ms=window_ms)
    return [point for point in make_measurement_plan(catalogue, names, options).points if point.not_applicable is None]


def unicorn_mips() -> float:
    """Returns unicorn's MIPS on the workload of one board, by processor time.

    The virtual board counts the instructions.
    """
    board = Board(SCALE_BOARD)
    with tempfile.TemporaryDirectory() as folder:
        image = images.build_for_board(Path(folder), board, SCALE_ROUNDS)
        start = time.process_time()
        run = engines.run_unicorn(board, image)
        run.seconds = time.process_time() - start
        run.instructions = engines.run_virtual_board(board, image).instructions
    return run.mips


def make_table(catalogue: Catalogue, window_ms: int, repeats: int) -> list[str]:
    """Measures all images, prints each row at once, and returns the rows in Markdown."""
    rows = ["| image | plain, M cycles/s | watched, M cycles/s | plain / watched |", "|---|---|---|---|"]
    print(*rows, sep="\n")
    for board, cores in CONFIGURATIONS:
        for point in t1_to_t8_points(catalogue, board, cores, window_ms):
            image = (build_measurement_point_image(catalogue, point).folder / "image.elf").read_bytes()
            job = make_virtual_benchmark_job(catalogue, point, image, f"{point.benchmark} on {board}")
            # In turn, and the fastest of each: a machine that others use has spells in which it runs at half its speed.
            runs = [
                (measure_without_instruments(job).megacycles_per_s, measure_as_run_watches(job).megacycles_per_s)
                for _ in range(repeats)
            ]
            without, with_all = (max(values) for values in zip(*runs, strict=True))
            name = f"{point.benchmark}, {board}, {cores} core{'s' * (cores > 1)}"
            rows.append(f"| {name} | {without:.0f} | {with_all:.0f} | {without / with_all:.1f} |")
            print(rows[-1], flush=True)
    return rows


def write_table(scale: str, rows: list[str]) -> None:
    """Replaces the table in the page."""
    before, begin, rest = PAGE.read_text().partition(BEGIN)
    _, end, behind = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{PAGE} has lost the marks of its table: put back {BEGIN} and {END}")
    PAGE.write_text("\n".join([before + BEGIN, "", scale, "", *rows, "", END + behind]))


def main() -> None:
    """Prints the table. Writes it into the page if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--window-ms", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--write", action="store_true", help="put the table into docs/performance.md")
    options = parser.parse_args()
    before = unicorn_mips()
    rows = make_table(Catalogue(ROOT), options.window_ms, options.repeats)
    scale = (
        f"Each figure is the fastest of {options.repeats} alternating runs. For scale, unicorn ran the workload of the "
        f"{SCALE_BOARD} with {before:.0f} MIPS before these runs and {unicorn_mips():.0f} after them."
    )
    print(scale)
    if options.write:
        write_table(scale, rows)
