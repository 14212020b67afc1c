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
from rtoslab.images import build
from rtoslab.measure import virtual_job
from rtoslab.plan import Options, Point, make_plan
from rtoslab.targets import WINDOW_SYMBOL, VirtualJob, VirtualMachine, make_machine, run_virtual

PAGE: Final = ROOT / "docs" / "performance.md"
BEGIN: Final = "<!-- kernel images: written by `bench/kernel_images.py --write` -->"
END: Final = "<!-- end of kernel images -->"
CONFIGURATIONS: Final = (
    ("pico", 1), ("pico", 2), ("nucleo-l073rz", 1), ("nucleo-f103rb", 1), ("nucleo-f446re", 1), ("nucleo-f767zi", 1),
)  # fmt: skip
SCALE_BOARD: Final = "nucleo-f446re"
SCALE_ROUNDS: Final = 1000
OPEN, CLOSED = 1, 2


@dataclass
class Stretch:
    """The measured window in one run."""

    cycles: int = 0
    seconds: float = 0.0

    @property
    def speed(self) -> float:
        """Millions of cycles a second of processor time."""
        return self.cycles / self.seconds / 1e6


@dataclass
class StartedMachine:
    """A machine that takes the time from where its profile is switched on to where it is switched off: the window."""

    machine: VirtualMachine
    stretch: Stretch = field(default_factory=Stretch)

    def profile(self, on: bool) -> None:
        """Begins or ends the stretch."""
        if on:
            self.machine.profile(on)
        now, cycle = time.process_time(), self.machine.cycle()
        self.stretch = Stretch(cycle - self.stretch.cycles, now - self.stretch.seconds)
        if not on:
            self.machine.profile(on)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.machine, name)


def plain(job: VirtualJob) -> Stretch:
    """The window without instruments."""
    machine = make_machine(job.board, cores=job.cores)
    machine.load(job.image, job.name)
    word = machine.symbol(WINDOW_SYMBOL)
    if word is None:
        raise SystemExit(f"{job.name} has no {WINDOW_SYMBOL}")
    machine.watch_write(word, 1, True)
    run_to(machine, word, OPEN)
    start, cycle = time.process_time(), machine.cycle()
    run_to(machine, word, CLOSED)
    return Stretch(machine.cycle() - cycle, time.process_time() - start)


def run_to(machine: Any, word: int, state: int) -> None:
    """Runs until the image is in that state of its window."""
    while int.from_bytes(machine.read(word, 4), "little") != state:
        stop = machine.run(engines.CYCLE_LIMIT)
        if stop["reason"] != "watch":
            raise SystemExit(f"the image stopped before its window was in state {state}: {stop['detail']}")


def watch_window(job: VirtualJob) -> Stretch:
    """The window as `rtoslab run` watches it."""
    timed = StartedMachine(make_machine(job.board, cores=job.cores))
    failure = run_virtual(job, machine=timed).failure
    if failure:
        raise SystemExit(f"{job.name}: {failure}")
    return timed.stretch


def points(catalogue: Catalogue, board: str, cores: int, window_ms: int) -> list[Point]:
    """T1 to T8."""
    names = [benchmark for benchmark in catalogue.benchmarks if benchmark.startswith("t") and benchmark[1].isdigit()]
    options = Options(["freertos"], [board], cores=[cores], window_ms=window_ms)
    return [point for point in make_plan(catalogue, names, options).points if point.not_applicable is None]


def unicorn_mips() -> float:
    """unicorn on the workload of one board, by processor time as all here. Instructions as the virtual board counts
    them."""
    board = Board(SCALE_BOARD)
    with tempfile.TemporaryDirectory() as folder:
        image = images.for_board(Path(folder), board, SCALE_ROUNDS)
        start = time.process_time()
        run = engines.unicorn(board, image)
        run.seconds = time.process_time() - start
        run.instructions = engines.virtual(board, image).instructions
    return run.mips


def table(catalogue: Catalogue, window_ms: int, repeats: int) -> list[str]:
    """Rows in Markdown, printed as they come."""
    rows = ["| image | plain, M cycles/s | watched, M cycles/s | plain / watched |", "|---|---|---|---|"]
    print(*rows, sep="\n")
    for board, cores in CONFIGURATIONS:
        for point in points(catalogue, board, cores, window_ms):
            image = (build(catalogue, point).folder / "image.elf").read_bytes()
            job = virtual_job(catalogue, point, image, f"{point.benchmark} on {board}")
            # In turn, and the fastest of each: a machine that others use has spells in which it runs at half its speed.
            runs = [(plain(job).speed, watch_window(job).speed) for _ in range(repeats)]
            without, with_all = (max(values) for values in zip(*runs, strict=True))
            name = f"{point.benchmark}, {board}, {cores} core{'s' * (cores > 1)}"
            rows.append(f"| {name} | {without:.0f} | {with_all:.0f} | {without / with_all:.1f} |")
            print(rows[-1], flush=True)
    return rows


def write(scale: str, rows: list[str]) -> None:
    """Puts the table into the page, in place of the one there."""
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
    rows = table(Catalogue(ROOT), options.window_ms, options.repeats)
    scale = (
        f"Each figure is the fastest of {options.repeats} alternating runs. For scale, unicorn ran the workload of the "
        f"{SCALE_BOARD} with {before:.0f} MIPS before these runs and {unicorn_mips():.0f} after them."
    )
    print(scale)
    if options.write:
        write(scale, rows)


if __name__ == "__main__":
    main()
