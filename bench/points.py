"""The processor seconds that each point of a latency benchmark takes on the host.

A selection of `rtoslab run latency`: some benchmarks on every board, with three kernels and the probes as instrument;
with nothing known, so every image is built, with all images known but no result, and with all results known, which is
what the command takes besides. More checkouts may be named beside this one. They take turns, so that a slow spell of
the machine hits them all.

    bench/run.py points                      this checkout
    bench/run.py points . ../other --jobs 1  two of them, each with a virtual environment of its own
"""

import argparse
import ctypes
import json
import shutil
import statistics
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from sweep_plan import PR_SET_CHILD_SUBREAPER, run_measured

from rtoslab.base import find_checkout_root

BENCHMARKS = ("call_times", "handler_times", "interrupt_latency", "mutex", "preemption", "timed_wait")
CASES = ("nothing known", "images known", "results known")


@dataclass
class Checkout:
    """A checkout that is measured."""

    root: Path
    folder: Path
    """For what it builds and stores."""
    spent: dict[str, list[float]] = field(default_factory=dict)

    def run_case(self, case: str, options: list[str], number: int) -> None:
        """Runs one command and prints a row for it."""
        results = self.folder / f"{CASES.index(case)}-{number}"
        if case == CASES[0]:
            shutil.rmtree(self.folder / "build", ignore_errors=True)
        cache = self.folder / "1-0-cache" if case == CASES[2] else f"{results}-cache"
        names = {"RTOSLAB_BUILD": str(self.folder / "build"), "RTOSLAB_CACHE": str(cache)}
        python = self.root / ".venv" / "bin" / "python"
        command = [str(python), "-m", "rtoslab", "run", *options, "--out", str(results)]
        seen = run_measured(command, names, self.root)
        count = count_measured(results)
        self.spent.setdefault(case, []).append(seen.processor_s / count)
        numbers = f"{count:7}{seen.wall_s:8.1f}{seen.processor_s:13.1f}{seen.processor_s / count:9.3f}{seen.load:6.1f}"
        print(f"{f'{case}, {self.root}'[-50:]:50}{numbers}", flush=True)


def count_measured(results: Path) -> int:
    """Returns the number of measured points. Ends the program if one failed, because it would take less time."""
    result = [json.loads(path.read_bytes()) for path in results.glob("points/*/result.json")]
    states = [stored["status"] for stored in result]
    if "failed" in states:
        sys.exit(f"{results}: {states.count('failed')} points failed")
    return states.count("measured")


def main() -> None:
    """Prints a row for each run and the medians."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("checkouts", nargs="*", type=Path, default=[find_checkout_root()])
    parser.add_argument("--benchmarks", default=",".join(BENCHMARKS))
    parser.add_argument("--kernels", default="freertos,rt,bare")
    parser.add_argument("--boards", default="all")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=3, help="of the last two")
    arguments = parser.parse_args()
    if ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        sys.exit("This needs Linux: processes whose parent has ended are to be counted too.")
    options = [*arguments.benchmarks.split(","), "--kernel", arguments.kernels, "--board", arguments.boards]
    options += ["--instrument", "probe", "--jobs", str(arguments.jobs)]
    folder = Path(tempfile.mkdtemp(prefix="rtoslab-bench-"))
    try:
        checkouts = [Checkout(item.resolve(), folder / str(number)) for number, item in enumerate(arguments.checkouts)]
        print(f"{'':50}{'points':>7}{'wall s':>8}{'processor s':>13}{'each':>9}{'load':>6}")
        for case, repeats in zip(CASES, (1, arguments.repeats, arguments.repeats), strict=True):
            for number in range(repeats):
                for checkout in checkouts:
                    checkout.run_case(case, options, number)
        for case in CASES:
            medians = [statistics.median(checkout.spent[case]) for checkout in checkouts]
            print(f"{case}: {' '.join(f'{median:.3f}' for median in medians)} processor s a point, median")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
