"""Processor time of the first image of a configuration and of further ones, beside whole builds.

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

from rtoslab.base import find_checkout_root
from rtoslab.catalogue import Catalogue
from rtoslab.conformance import conformance_suite_measurement_point
from rtoslab.images import IMAGE, BuiltImage, build_measurement_point_image, cmake_options
from rtoslab.plan import PlannedPoint, PlanOptions, make_measurement_plan

FURTHER = "further image"


@dataclass(frozen=True)
class BuildTimes:
    """The processor seconds of one image: as commands build it, and from nothing."""

    kind: str
    cached_s: float
    whole_s: float


def main() -> None:
    """Prints a row for each image, and the medians of the further ones."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kernel", action="append", help="freertos, rt and bare unless named")
    parser.add_argument("--board", default="nucleo-f446re")
    arguments = parser.parse_args()
    catalogue = Catalogue(find_checkout_root())
    print(f"{'':48}{'kept s':>8}{'whole s':>9}{'ratio':>7}   on {arguments.board}")
    with tempfile.TemporaryDirectory(prefix="rtoslab-bench-") as folder:
        os.environ["RTOSLAB_BUILD"] = f"{folder}/build"
        build_measurement_point_image(
            catalogue, t1_to_t8_points(catalogue, "bare", "pico")[0]
        )  # the compilers' files are in memory from now on
        rows = [
            row
            for kernel in arguments.kernel or ("freertos", "rt", "bare")
            for row in measure_kernel(catalogue, kernel, arguments.board, Path(folder))
        ]
    further = [item for item in rows if item.kind == FURTHER]
    medians = statistics.median(item.cached_s for item in further), statistics.median(item.whole_s for item in further)
    print_row(f"median of {len(further)} {FURTHER}s", BuildTimes("", *medians))


def measure_kernel(catalogue: Catalogue, kernel: str, board: str, folder: Path) -> list[BuildTimes]:
    """Measures eight benchmarks of a configuration, its conformance suite, and the first image of another one."""
    points = t1_to_t8_points(catalogue, kernel, board)
    other = t1_to_t8_points(catalogue, kernel, board, opt="-Os")[0]
    kinds = ["first image", *[FURTHER] * (len(points) - 1), "conformance suite", "first image of another level"]
    rows = []
    for what, point in zip(kinds, [*points, conformance_suite_measurement_point(points[0]), other], strict=True):
        before = processor_s()
        built = build_measurement_point_image(catalogue, point)
        cached_s = processor_s() - before
        rows.append(BuildTimes(what, cached_s, time_whole_build(catalogue, point, built, folder)))
        print_row(f"{kernel} {point.benchmark}, {what}", rows[-1])
    return rows


def t1_to_t8_points(catalogue: Catalogue, kernel: str, board: str, **config: str) -> list[PlannedPoint]:
    """Returns the points of T1 to T8 that the kernel can run."""
    names = [benchmark for benchmark in catalogue.benchmarks if benchmark.startswith("t") and benchmark[1].isdigit()]
    options = PlanOptions([kernel], [board], window_ms=20, config=config)
    return [point for point in make_measurement_plan(catalogue, names, options).points if point.not_applicable is None]


def time_whole_build(catalogue: Catalogue, point: PlannedPoint, built: BuiltImage, parent: Path) -> float:
    """Returns the processor seconds of a build of the same image from nothing, in a folder of its own."""
    before = processor_s()
    with tempfile.TemporaryDirectory(dir=parent) as work:
        options = cmake_options(point, built.expected)
        configure = ["cmake", "-S", str(catalogue.root / "firmware"), "-B", work, "-G", "Ninja", *options]
        subprocess.run(configure, check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["cmake", "--build", work, "-j", "2"], check=True, stdout=subprocess.DEVNULL)
        spent = processor_s() - before
        if (Path(work) / IMAGE).read_bytes() != built.elf_path.read_bytes():
            sys.exit(f"{point.label} is another image when it is built from nothing.")
    return spent


def print_row(title: str, row: BuildTimes) -> None:
    """Prints one row at once."""
    print(f"{title:48}{row.cached_s:8.2f}{row.whole_s:9.2f}{row.cached_s / row.whole_s:7.2f}", flush=True)


def processor_s() -> float:
    """Returns user and system time of this process and of those it has waited for, in seconds."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in both)
