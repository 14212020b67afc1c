"""`make bench-build`: processor time of the first image of a configuration and of further ones, beside whole builds.

Each row is one image, made as every command makes it, and then again by CMake and ninja alone from nothing, in the same
run: the machine's speed cancels out of the ratio. Both must give the same bytes.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rtoslab.base import find_root
from rtoslab.catalogue import Catalogue
from rtoslab.conformance import suite_point
from rtoslab.images import IMAGE, Build, build, cmake_options
from rtoslab.plan import Options, Point, make_plan

FURTHER = "further image"


@dataclass(frozen=True)
class Row:
    """The size of an image and of its configuration, and the times of both ways, in seconds of a processor."""

    what: str
    cached_s: float
    whole_s: float


def main() -> None:
    """Prints a row for each image, and the medians of the further ones."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kernel", action="append", help="freertos, rt and bare unless named")
    parser.add_argument("--board", default="nucleo-f446re")
    arguments = parser.parse_args()
    catalogue = Catalogue(find_root())
    print(f"{'':48}{'kept s':>8}{'whole s':>9}{'ratio':>7}   on {arguments.board}")
    with tempfile.TemporaryDirectory(prefix="rtoslab-bench-") as folder:
        os.environ["RTOSLAB_BUILD"] = f"{folder}/build"
        build(catalogue, plan(catalogue, "bare", "pico")[0])  # the compilers' files are in memory from now on
        rows = [
            row
            for kernel in arguments.kernel or ("freertos", "rt", "bare")
            for row in of_kernel(catalogue, kernel, arguments.board, Path(folder))
        ]
    further = [item for item in rows if item.what == FURTHER]
    medians = statistics.median(item.cached_s for item in further), statistics.median(item.whole_s for item in further)
    show(f"median of {len(further)} {FURTHER}s", Row("", *medians))


def of_kernel(catalogue: Catalogue, kernel: str, board: str, folder: Path) -> list[Row]:
    """Eight benchmarks of one configuration and its conformance suite, and the first image of another."""
    points = plan(catalogue, kernel, board)
    other = plan(catalogue, kernel, board, opt="-Os")[0]
    kinds = ["first image", *[FURTHER] * (len(points) - 1), "conformance suite", "first image of another level"]
    rows = []
    for what, point in zip(kinds, [*points, suite_point(points[0]), other], strict=True):
        before = processor_s()
        built = build(catalogue, point)
        cached_s = processor_s() - before
        rows.append(Row(what, cached_s, whole_s(catalogue, point, built, folder)))
        show(f"{kernel} {point.benchmark}, {what}", rows[-1])
    return rows


def plan(catalogue: Catalogue, kernel: str, board: str, **config: str) -> list[Point]:
    """T1 to T8 as far as the kernel can do them."""
    names = [benchmark for benchmark in catalogue.benchmarks if benchmark.startswith("t") and benchmark[1].isdigit()]
    options = Options([kernel], [board], window_ms=20, config=config)
    return [point for point in make_plan(catalogue, names, options).points if point.not_applicable is None]


def whole_s(catalogue: Catalogue, point: Point, built: Build, parent: Path) -> float:
    """A build of the same image from nothing, in a folder of its own."""
    before = processor_s()
    with tempfile.TemporaryDirectory(dir=parent) as work:
        options = cmake_options(point, built.expected)
        configure = ["cmake", "-S", str(catalogue.root / "firmware"), "-B", work, "-G", "Ninja", *options]
        subprocess.run(configure, check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["cmake", "--build", work, "-j", "2"], check=True, stdout=subprocess.DEVNULL)
        spent = processor_s() - before
        if (Path(work) / IMAGE).read_bytes() != built.elf.read_bytes():
            sys.exit(f"{point.label} is another image when it is built from nothing.")
    return spent


def show(title: str, row: Row) -> None:
    """One line, at once."""
    print(f"{title:48}{row.cached_s:8.2f}{row.whole_s:9.2f}{row.cached_s / row.whole_s:7.2f}", flush=True)


def processor_s() -> float:
    """User and system time of this process and of those it has waited for."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


if __name__ == "__main__":
    main()
