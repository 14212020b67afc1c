"""Reads a million damaged inputs of every external kind, and reports how many were refused, read, slow or broken.

Each kind runs in processes of its own whose memory is bounded. An input that raises anything but the readers' own
sentence, takes longer than 10 s or more memory than 500 MB is kept as a file and fails the run. The same seed gives the
same inputs.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import signal
import sys
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import FrameType
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
from tests.inputs.kinds import KINDS

LIMIT_S: Final = 10
LIMIT_BYTES: Final = 500 << 20
LONGEST_REFUSAL: Final = 1000
MOST_STORED: Final = 20
"""The most inputs of one kind that are stored."""


@dataclass
class InputKindRecorder:
    """Counts the results of one kind of input, or of a part of it."""

    kind: str
    inputs: int = 0
    refused: int = 0
    longest_s: float = 0.0
    memory_bytes: int = 0
    broken: int = 0
    """Inputs that raised another error, took too long, or were refused in more than one short line."""


class TooLongError(BaseException):
    """An input was read for longer than the limit. No Exception: a reader may turn those into its own sentence."""


def _raise_too_long(_: int, __: FrameType | None) -> None:
    raise TooLongError


def read_damaged_inputs(request: tuple[str, int, int, Path]) -> InputKindRecorder:
    """Reads `count` inputs of one kind from one seed, and returns the counts."""
    name, seed, count, out = request
    kind, recorder, random = KINDS[name], InputKindRecorder(name), Random(f"{name} {seed}")  # noqa: S311 (a seed, no secret)
    kind.made(Random(0))  # noqa: S311
    signal.signal(signal.SIGPROF, _raise_too_long)
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES + _count_mapped_bytes(), resource.RLIM_INFINITY))
    for number in range(count):
        data = kind.made(random)
        signal.setitimer(signal.ITIMER_PROF, LIMIT_S)
        began = time.process_time()
        try:
            sentence = kind.refuses(data)
            if sentence is not None:
                assert "\n" not in sentence and len(sentence) < LONGEST_REFUSAL, sentence  # noqa: PT018
        except (Exception, TooLongError):  # noqa: BLE001 (that is what is looked for)
            recorder.broken += 1
            if recorder.broken <= MOST_STORED:
                _store_input(out, name, seed, number, data)
            sentence = None
        signal.setitimer(signal.ITIMER_PROF, 0)
        recorder.longest_s = max(recorder.longest_s, time.process_time() - began)
        recorder.inputs += 1
        recorder.refused += sentence is not None
    recorder.memory_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    return recorder


def _count_mapped_bytes() -> int:
    """Returns the memory that this process has mapped before the first input."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def _store_input(out: Path, name: str, seed: int, number: int, data: bytes) -> None:
    out.mkdir(parents=True, exist_ok=True)
    stem = f"{name.replace(' ', '-').replace(',', '')}-{seed}-{number}"
    (out / f"{stem}.input").write_bytes(data)
    (out / f"{stem}.txt").write_text(traceback.format_exc())


def main() -> int:
    """Prints a row for each kind. Returns 1 if an input broke a reader."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=1_000_000, help="of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--kind", action="append", choices=sorted(KINDS))
    parser.add_argument("--out", type=Path, default=Path("build/inputs"), help="where inputs that broke a reader go")
    arguments = parser.parse_args()
    broken = 0
    print(f"{'kind':<18} {'inputs':>10} {'refused':>10} {'read':>10} {'longest, ms':>12} {'MB':>5} {'broken':>7}")
    context = multiprocessing.get_context("spawn")
    for name in arguments.kind or KINDS:
        share = -(-arguments.inputs // arguments.jobs)
        parts = [(name, arguments.seed * 1000 + job, share, arguments.out) for job in range(arguments.jobs)]
        with context.Pool(arguments.jobs) as pool:
            results = pool.map(read_damaged_inputs, parts, chunksize=1)
        total, refused = sum(result.inputs for result in results), sum(result.refused for result in results)
        failed = sum(result.broken for result in results)
        longest = max(result.longest_s for result in results)
        memory = max(result.memory_bytes for result in results)
        print(
            f"{name:<18} {total:>10,} {refused:>10,} {total - refused - failed:>10,} {longest * 1e3:>12,.1f} "
            f"{memory >> 20:>5} {failed:>7}",
            flush=True,
        )
        broken += failed
    if broken:
        print(f"{broken} inputs broke a reader; they are in {arguments.out}.")
    return 1 if broken else 0
