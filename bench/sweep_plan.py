"""How long a sweep of 536 points takes, image by image unbuilt, built, and with every result known.

Each row is one `rtoslab sweep`, in folders of its own. Processor time is that of all its processes. If it is less than
the processors had in that time, other processes used them, or the disk was slow. The load says how busy the machine
was."""

import argparse
import ctypes
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from rtoslab.base import EXIT_OK, EXIT_POINT_FAILED, find_checkout_root

PLAN = Path("docs") / "sweeps" / "f446re.toml"
PR_SET_CHILD_SUBREAPER = 36


def main() -> None:
    """Prints a row for each sweep as it ends. An error of one ends the program with its words."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("plan", nargs="?", type=Path, default=find_checkout_root() / PLAN)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    if ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        sys.exit("This needs Linux: processes whose parent has ended are to be counted too.")
    folder = Path(tempfile.mkdtemp(prefix="rtoslab-bench-"))
    try:
        print(f"{'':34}{'wall s':>8}{'processor s':>13}{'load':>6}   on {os.cpu_count()} processors")
        for title, cache, out in (
            ("nothing known", "one", "cold"),
            ("images known", "two", "warm"),
            ("images and results known", "two", "known"),
            ("stored in the same directory", "two", "known"),
        ):
            names = {"RTOSLAB_BUILD": str(folder / "build"), "RTOSLAB_CACHE": str(folder / cache)}
            command = ["sweep", str(arguments.plan), "--out", str(folder / out), "--jobs", str(arguments.jobs)]
            print(f"{title:34}{run_row(command, names)}", flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run_row(command: list[str], names: dict[str, str]) -> str:
    """Runs a command of this checkout and returns its row."""
    # A point that a proof refuses is allowed: T1 at -O3 is one, and the end of the row says so.
    seen = run_measured([sys.executable, "-m", "rtoslab", *command], names, allowed_exits=(EXIT_OK, EXIT_POINT_FAILED))
    last = seen.output.splitlines()[-1].partition(" Stored")[0]
    return f"{seen.wall_s:8.0f}{seen.processor_s:13.0f}{seen.load:6.1f}   {last}"


@dataclass(frozen=True)
class CommandResult:
    """The time that a command took, and its output."""

    wall_s: float
    processor_s: float
    load: float
    """The mean number of processes of the whole machine that wanted to run."""
    output: str


def run_measured(
    command: list[str], names: dict[str, str], folder: Path | None = None, allowed_exits: tuple[int, ...] = (EXIT_OK,)
) -> CommandResult:
    """Runs a command to its end, with all processes that it leaves behind.

    An exit code that is not among `allowed_exits` ends the program with the command's output.
    """
    began, spent, loads = time.monotonic(), children_processor_s(), []
    with tempfile.TemporaryFile("w+") as output:
        with subprocess.Popen(
            command, env={**os.environ, **names}, cwd=folder, stdout=output, stderr=output
        ) as running:
            while running.poll() is None:
                time.sleep(0.5)
                loads.append(runnable_processes())
        seconds = time.monotonic() - began
        output.seek(0)
        text = output.read()
    if running.returncode not in allowed_exits:
        sys.exit(f"{' '.join(command)} ended with {running.returncode}:\n{text[-2000:]}")
    wait_for_orphans()
    return CommandResult(seconds, children_processor_s() - spent, sum(loads) / max(1, len(loads)), text)


def children_processor_s() -> float:
    """Returns user and system time of all ended child processes, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def runnable_processes() -> int:
    """Returns the number of the machine's processes that run or want to."""
    return int(Path("/proc/loadavg").read_text().split()[3].partition("/")[0])


def wait_for_orphans() -> None:
    """Waits for the fork server, which ends after the command. Only then do its processes' times count."""
    try:
        while True:
            os.wait()
    except ChildProcessError:
        return
