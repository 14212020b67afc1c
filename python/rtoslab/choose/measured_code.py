"""One digest of all firmware code that the figures of a kernel on a board depend on, so that a later change is noticed.

Comments do not count. Code of other chips, and of benchmarks' variants that the kernel cannot run, does: it is simpler,
and at most asks for a measurement too many.
"""

import hashlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

from rtoslab.catalogue import (
    FILES_OUTSIDE_IMAGES,
    OPTIONAL_FOLDER,
    OPTIONAL_SERVICES,
    PAGE_SUFFIX,
    Benchmark,
    read_validated_toml,
)
from rtoslab.choose.matrix_points import kernel_board_matrix_suite
from rtoslab.reference import oldest_code_digest_equivalent_to_file

_COMMON: Final = ("CMakeLists.txt", "chips", "cmake", "core", "cpus", "footprint", "include", "instruments")


def digest_of_measured_firmware(root: Path, port: str, board: str) -> str:
    """Returns the digest of all firmware code in the checkout on which a kernel's figures on a board depend.

    `port` is the folder in `firmware/kernels` that the kernel is built by.
    """
    names = _find_source_paths(root, port, board)
    digests = {name: oldest_code_digest_equivalent_to_file(root, name) for name in names}
    lines = sorted(f"{digest} {name}" for name, digest in digests.items() if digest)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:32]


def _find_source_paths(root: Path, port: str, board: str) -> Iterator[str]:
    """Yields the paths of the firmware's source files on which a kernel's figures on a board depend."""
    experiments = kernel_board_matrix_suite(root).experiments
    benchmarks = {f"benchmarks/{name}" for experiment in experiments for name in experiment.benchmarks}
    unneeded = _find_unneeded_files(root, port, benchmarks)
    for place in (*_COMMON, f"boards/{board}", f"kernels/{port}", *benchmarks):
        path = root / "firmware" / place
        for file in [path] if path.is_file() else path.rglob("*"):
            if file.is_file() and file.suffix != PAGE_SUFFIX and file.name not in FILES_OUTSIDE_IMAGES:
                name = file.relative_to(root).as_posix()
                if not name.startswith(unneeded):
                    yield name


def _find_unneeded_files(root: Path, port: str, benchmarks: Collection[str]) -> tuple[str, ...]:
    """Returns the beginnings of the paths of files that only images with an optional service contain, if no benchmark
    needs the service."""
    paths = [root / "firmware" / name / "benchmark.toml" for name in benchmarks]
    facts = [read_validated_toml(path, Benchmark) for path in paths if path.is_file()]
    needed = {
        service
        for benchmark in facts
        for service in (*benchmark.services, *(name for series in benchmark.series for name in series.services))
    }
    return tuple(
        start
        for service in OPTIONAL_SERVICES
        if service not in needed
        for start in (
            f"firmware/kernels/{port}/{OPTIONAL_FOLDER}/{service}/",
            f"firmware/include/bench/{service}.h",
        )
    )
