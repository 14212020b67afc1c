"""Speed of the virtual boards beside unicorn and QEMU, on one workload, in one run: `make bench`.

A virtual board runs in its only mode: exact cycles, SysTick interrupting, bus and flash model on, caches as its
firmware sets them, the Pico's two cores interleaved to the cycle. unicorn and QEMU model no time but QEMU's -icount,
which counts an instruction as one unit. They set the scale of the machine this runs on. Figures of different machines
cannot be compared, the ratios can.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import engines
import images
from boards import Board, board_names
from engines import EngineRun

PICO_BARS = {"virtual / unicorn": 0.3, "two cores, MIPS each": 100.0}
Measured = dict[str, float | None]


def median_run(runs: list[EngineRun]) -> EngineRun:
    """Returns the run with the median time."""
    middle = statistics.median_low([run.seconds for run in runs])
    return next(run for run in runs if run.seconds == middle)


def measure_engines(board: Board, folder: Path, rounds: int, repeats: int, *, with_qemu: bool) -> list[EngineRun]:
    """Returns the median run of every engine. They run in turn, so that a slow spell of the machine hits all alike."""
    image = images.build_for_board(folder, board, rounds)
    turns: list[Callable[[], EngineRun]] = [
        lambda: engines.run_virtual_board(board, image),
        lambda: engines.run_unicorn(board, image),
    ]
    if with_qemu:
        other = images.build_for_qemu(folder, board, rounds)
        turns += [
            lambda: engines.run_qemu(board, other, icount=True),
            lambda: engines.run_qemu(board, other, icount=False),
        ]
    if board.is_pico:
        both = images.build_for_board(folder, board, rounds, cores=2)
        turns.append(lambda: run_two_cores(board, both))
    runs = [[turn() for turn in turns] for _ in range(repeats)]
    medians = [median_run(list(values)) for values in zip(*runs, strict=True)]
    for values in medians:
        values.instructions = values.instructions or medians[0].instructions
        if values.result != medians[0].result:
            sys.exit(f"{board.name}: the results differ: {medians[0].result} here, {values.result} in {values.engine}")
    return medians


def run_two_cores(board: Board, image: Path) -> EngineRun:
    """Runs both cores of the Pico. Core 0 computes what it computes alone."""
    run = engines.run_virtual_board(board, image, cores=2)
    run.engine = "two cores"
    return run


def summarise_runs(board: Board, runs: list[EngineRun]) -> tuple[Measured, dict[str, float]]:
    """Returns the measured values by the names of the table, and the bars."""
    by_engine = {run.engine: run for run in runs}
    own = by_engine["virtual"]

    def speed_ratio_to(engine: str) -> float | None:
        return own.mips / by_engine[engine].mips if engine in by_engine else None

    measured: Measured = {
        "MIPS": own.mips,
        "virtual / unicorn": speed_ratio_to("unicorn"),
        "virtual / QEMU -icount": speed_ratio_to("QEMU -icount"),
        "virtual / QEMU": speed_ratio_to("QEMU"),
        "real time": own.real_time,
    }
    bars = {"MIPS": board.core.mips_bar}
    if board.is_pico:
        measured["two cores, MIPS each"] = by_engine["two cores"].mips
        bars |= PICO_BARS
    return measured, bars


def format_row(name: str, runs: list[EngineRun], measured: Measured, bars: dict[str, float]) -> str:
    """Returns a line of the table, and one for every bar besides that of the MIPS."""

    def measured_cell_text(key: str) -> str:
        value = measured[key]
        return f"{'n/a' if value is None else f'{value:.2f}':>9}"

    def bar_verdict_text(key: str) -> str:
        value = measured[key]
        assert value is not None
        return f"bar {bars[key]:g} {'reached' if value >= bars[key] else 'missed'}"

    keys = ("virtual / unicorn", "virtual / QEMU -icount", "virtual / QEMU", "real time")
    first = f"{name:15} {runs[0].instructions / 1e6:7.1f} {runs[0].mips:7.1f} {''.join(map(measured_cell_text, keys))}"
    more = [f"{'':15}   {key}: {measured[key]:.2f}, {bar_verdict_text(key)}" for key in bars if key != "MIPS"]
    return "\n".join([f"{first}   {bar_verdict_text('MIPS')}", *more])


def main() -> None:
    """Measures, prints and compares with the bars. The exit code is 0 at any speed, because speed is no test."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--board", action="append", choices=board_names(), help="may be repeated; all without it")
    parser.add_argument("--rounds", type=int, default=6000, help="workload size; 6000: over 200 M instructions")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    missing = engines.qemu_absence()
    if not options.json:
        print(f"Medians of {options.repeats}. Ratios: over 1 is faster than that engine in the same run.")
        print(f"{'':15} {'M instr':>7} {'MIPS':>7} {'unicorn':>9}{'icount':>9}{'QEMU':>9}{'x real':>9}")
    out = {}
    for name in options.board or board_names():
        board = Board(name)
        with tempfile.TemporaryDirectory() as folder:
            runs = measure_engines(board, Path(folder), options.rounds, options.repeats, with_qemu=missing is None)
        measured, bars = summarise_runs(board, runs)
        out[name] = {"runs": [asdict(run) | {"mips": run.mips} for run in runs], "measured": measured, "bars": bars}
        if not options.json:
            print(format_row(name, runs, measured, bars), flush=True)
    if options.json:
        print(json.dumps({"boards": out, "qemu": missing or "present"}))
    elif missing:
        print(f"QEMU n/a: {missing}")
