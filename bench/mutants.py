"""`make mutants`: each mutant of firmware/mutants/ is built, measured on its virtual board, and a proof must refuse it.

    bench/run.py mutants [benchmark or benchmark/mutant ...] [--jobs N]

Prints a table. Benchmarks whose kernel needs a source tree that is missing here are left out, with a line that says so.
A survivor, a mutant that does not build, or one that other proofs refuse than it names, ends with 1.
"""

import argparse
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from rtoslab.base import RtoslabError, UnknownNameError, find_checkout_root
from rtoslab.catalogue import Catalogue
from rtoslab.mutants import UNBROKEN, BenchmarkMutants, MutantTrial, measure_mutants, read_mutants


def main() -> int:
    """Tries the mutants and prints a table. Returns 0 if every mutant is refused as its file says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="benchmarks, or benchmark/mutant; all by default")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rules", action="store_true", help="say of each mutant which proofs refuse it")
    options = parser.parse_args()
    root = find_checkout_root()
    try:
        chosen = leave_out_missing_kernels(Catalogue(root), choose_mutants(read_mutants(root), options.names))
    except RtoslabError as cause:
        print(cause, file=sys.stderr)
        return 1
    began = time.monotonic()
    trials: list[MutantTrial] = []
    with ProcessPoolExecutor(options.jobs) as pool:
        work = [pool.submit(_try_mutants, root, name, of, only) for name, (of, only) in chosen.items()]
        for future in work:
            trials += future.result()
            print(_row_text(future.result()), flush=True)
            for trial in future.result() if options.rules else ():
                print(f"    {trial.mutant}: {', '.join(trial.failed_rules) or trial.problem or 'measured'}", flush=True)
    wrong = [trial for trial in trials if not trial.is_mutant_trial_as_expected]
    for trial in wrong:
        print(f"{trial.benchmark}/{trial.mutant}: {trial.problem}")
    count = sum(trial.mutant != UNBROKEN for trial in trials)
    refused = sum(trial.is_mutant_trial_as_expected and trial.mutant != UNBROKEN for trial in trials)
    print(f"{refused} of {count} mutants of {len(chosen)} benchmarks are refused; {time.monotonic() - began:.0f} s")
    return 1 if wrong else 0


def choose_mutants(
    every: dict[str, BenchmarkMutants], names: list[str]
) -> dict[str, tuple[BenchmarkMutants, tuple[str, ...]]]:
    """Returns benchmark -> its mutants, and the chosen ones of them. Empty: all. Raises UnknownNameError."""
    if not names:
        return {name: (of, ()) for name, of in every.items()}
    chosen: dict[str, tuple[BenchmarkMutants, tuple[str, ...]]] = {}
    for name in names:
        benchmark, _, mutant = name.partition("/")
        if benchmark not in every:
            raise UnknownNameError("benchmark with mutants", benchmark, every)
        known = [item.id for item in every[benchmark].mutant]
        if mutant and mutant not in known:
            raise UnknownNameError(f"mutant of {benchmark}", mutant, known)
        before = chosen.get(benchmark, (every[benchmark], ()))[1]
        chosen[benchmark] = (every[benchmark], (*before, mutant) if mutant else ())
    return chosen


def leave_out_missing_kernels(
    catalogue: Catalogue, chosen: dict[str, tuple[BenchmarkMutants, tuple[str, ...]]]
) -> dict[str, tuple[BenchmarkMutants, tuple[str, ...]]]:
    """Returns the mutants without those of benchmarks whose kernel cannot be built here. Prints a line for each."""
    missing = {
        name: kernel
        for name, (of, _) in chosen.items()
        # Two kernels on one board: A+B.
        for kernel in of.setting.kernel.split("+")
        if kernel not in catalogue.buildable_kernels
    }
    for name, kernel in missing.items():
        print(
            f"{name:26} left out: {kernel} has no source tree here (`rtoslab kernel tree add {kernel} PATH`)",
            flush=True,
        )
    return {name: mutants for name, mutants in chosen.items() if name not in missing}


def _try_mutants(root: Path, benchmark: str, of: BenchmarkMutants, only: tuple[str, ...]) -> list[MutantTrial]:
    with tempfile.TemporaryDirectory(prefix=f"mutants-{benchmark}-") as folder:
        try:
            return list(measure_mutants(root, Path(folder), benchmark, of, only))
        except RtoslabError as cause:
            return [MutantTrial(benchmark, UNBROKEN, (), str(cause))]


def _row_text(trials: list[MutantTrial]) -> str:
    mutants = [trial for trial in trials if trial.mutant != UNBROKEN]
    rules = sorted({rule for mutant in mutants for rule in mutant.failed_rules})
    name = trials[0].benchmark if trials else ""
    refused = sum(mutant.is_mutant_trial_as_expected for mutant in mutants)
    return f"{name:26} {refused:3} of {len(mutants):3} refused, by {', '.join(rules)}"
