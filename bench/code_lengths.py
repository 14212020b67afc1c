"""Measures the lengths of the benchmarks' own code, and compares them with `python/rtoslab/proofs/code_lengths.toml`.

    bench/run.py code_lengths                     every benchmark that counts or measures latencies
    bench/run.py code_lengths t4_interrupt mutex  these alone; the others stay
    bench/run.py code_lengths --write             stores the lengths; without it a difference ends with 1

Do this after every change of a benchmark, the runner or a port, and look at the differences: they show how many
instructions the change adds to what is measured.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

from rtoslab.base import CatalogueError, RtoslabError, find_checkout_root
from rtoslab.catalogue import Catalogue
from rtoslab.images import IMAGE, build_measurement_point_image
from rtoslab.intake import read_toml_table
from rtoslab.measure import gather_proof_evidence, identity_of_point, make_virtual_benchmark_job
from rtoslab.plan import PlannedPoint, PlanOptions, make_measurement_plan
from rtoslab.proofs import CODE_LENGTHS
from rtoslab.records import decode_records, read_wire_constants
from rtoslab.targets import run_virtual_benchmark

KERNELS = ["freertos", "rt", "bare"]
BOARDS = ["pico", "nucleo-l053r8", "nucleo-l073rz", "nucleo-f103rb", "nucleo-f446re", "nucleo-f767zi", "nucleo-h743zi"]
"""One of each family, and both of the L0, where the code depends on the size of the memory."""
WINDOW_MS = 20
Lengths = dict[str, dict[str, list[int]]]


def main() -> int:
    """Measures, compares and writes. Returns 1 if the table is not what was measured and is not to be written."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("benchmarks", nargs="*")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    root = find_checkout_root()
    points = list(points_to_measure_lengths(Catalogue(root), arguments.benchmarks))
    print(f"{len(points)} points", flush=True)
    measured: Lengths = defaultdict(dict)
    compilers: set[str] = set()
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for point, row in zip(points, pool.map(measure_lengths, [root] * len(points), points), strict=True):
            if isinstance(row, str):
                print(f"{point.label}: {row}", flush=True)
                continue
            compiler, lengths = row
            compilers.add(compiler)
            for key, new in lengths.items():
                old = measured[point.benchmark].get(key, new)
                merged = [min(old[0], new[0]), max(old[1], new[1]), min(old[2], new[2]), max(old[3], new[3])]
                measured[point.benchmark][key] = merged
    if len(compilers) != 1:
        print(f"The images name {len(compilers)} compilers; measure with one.", file=sys.stderr)
        return 1
    stored = read_toml_table(CODE_LENGTHS, "the lengths of the benchmarks' own code", CatalogueError)
    known = stored["lengths"] if stored["compiler"] in compilers else {}
    changed = [name for name in measured if measured[name] != known.get(name)]
    print(f"{len(measured)} benchmarks measured; different: {', '.join(changed) or 'none'}")
    if arguments.write:
        CODE_LENGTHS.write_text(table_text(compilers.pop(), {**known, **measured}), encoding="ascii")
    return int(bool(changed) and not arguments.write)


def points_to_measure_lengths(catalogue: Catalogue, chosen: list[str]) -> Iterator[PlannedPoint]:
    """Yields the points: each benchmark with each kernel, board, number of cores and instrument."""
    benchmarks = chosen or list(catalogue.benchmarks)
    options = PlanOptions(kernels=KERNELS, boards=BOARDS, cores=[1, 2], window_ms=None)
    for point in make_measurement_plan(catalogue, benchmarks, options).points:
        if point.not_applicable is None:
            facts = catalogue.find_benchmark(point.benchmark).facts
            if facts.kind == "latency" or facts.window_ms:
                yield point
            if facts.kind == "counts":
                yield replace(point, window_ms=WINDOW_MS)


def measure_lengths(root: Path, point: PlannedPoint) -> tuple[str, dict[str, list[int]]] | str:
    """Returns the compiler of a point's image, and a row of the table for each core, by its key. The least and the
    most of each length are the same. If the point cannot be measured, returns the reason."""
    catalogue = Catalogue(root)
    try:
        built = build_measurement_point_image(catalogue, point)
        output = run_virtual_benchmark(make_virtual_benchmark_job(catalogue, point, built.elf_path.read_bytes(), IMAGE))
        decoded = decode_records(output.uart, read_wire_constants(root), built.expected)
    except RtoslabError as cause:
        return str(cause)[:300]
    evidence = gather_proof_evidence(catalogue, identity_of_point(catalogue, point), output, decoded)
    if evidence.observed is None:
        return "no profile"
    distance, rows = evidence.observed.call_distance, {}
    for _, core in evidence.task_groups_with_shared_counter:
        length = evidence.count_executed_instructions(core)
        rows[evidence.code_length_key_of_core(core)] = [length, length, distance, distance]
    return evidence.observed.compiler, rows


def table_text(compiler: str, lengths: Lengths) -> str:
    """Returns the content of `code_lengths.toml`."""
    lines = [
        "# Instructions of the benchmarks' own code that a core executes at least once; see code_lengths.py.",
        "# `bench/run.py code_lengths --write` makes this file.",
        f'compiler = "{compiler}"',
    ]
    for benchmark, rows in sorted(lengths.items()):
        lines += ["", f"[lengths.{benchmark}]"]
        lines += [f'"{key}" = {row if any(row[2:]) else row[:2]}' for key, row in sorted(rows.items())]
    return "\n".join(lines) + "\n"
