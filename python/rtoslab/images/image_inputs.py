"""The inputs of an image, as CMake options and as one digest. The same inputs give the same image, built once."""

import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any, Final

from rtoslab.base import (
    ListingRow,
    all_files_below,
    build_folder,
    cross_compiler_tool_name,
    file_digest_listing_rows,
    join_file_hash_rows,
    memoize_by_contents,
    tools,
)
from rtoslab.catalogue import (
    FILES_OUTSIDE_IMAGES,
    OPTIONAL_SERVICES,
    Catalogue,
    SourceTree,
    kernel_export_identifier,
    offered_optional_services,
    source_tree_description_path,
)
from rtoslab.plan import DEFAULT_COMPILER, PlannedPoint
from rtoslab.records import ExpectedImageIdentity
from rtoslab.trees import (
    find_kernel_export_tree,
    find_repositories,
    kernel_tree_build_inputs_digest_text,
    names_of_tree_files,
)

IMAGE: Final = "image.elf"
INFO: Final = "build-info.json"
LOG: Final = "build.log"
MAP: Final = "image.map"
CALLGRAPH: Final = "callgraph.ci"
"""The callgraph of a footprint image: each function's stack frame and callees, as the compiler wrote them."""
CONFORMANCE_IMAGE: Final = "conformance"
"""The image that is no benchmark. Its sources are in a folder of that name."""
CORE1_IMAGE: Final = "core1.elf"
"""Core 1's image, beside core 0's, which contains it."""
CALIBRATION_IMAGE: Final = "calibration"
"""Likewise no benchmark, in a folder of that name."""
FOOTPRINT: Final = "footprint-"
"""The prefix of programs whose size is measured: folders of firmware/footprint/."""
_FORMAT: Final = 2
"""The format of the images and their records. Raise it where older images must not be found."""
STORED_FILES: Final = (IMAGE, INFO, LOG, MAP, CALLGRAPH)
"""The stored files of a finished build."""
OPTIONAL_SERVICES_PARAM: Final = "optional_services"
"""The parameter of the conformance suite that says which optional services its image contains: a bit for each."""
_COMMON: Final = (
    "CMakeLists.txt",
    "cmake",
    "core",
    "include",
    "cpus",
    "chips",
    "kernels/Cargo.toml",
    "kernels/Cargo.lock",
)


def cmake_options(point: PlannedPoint, expected: ExpectedImageIdentity) -> list[str]:
    """Returns the -D options by which CMake builds a point's image. None contains a path of this machine."""
    options = {
        "BENCH": point.benchmark,
        "KERNEL": point.kernel,
        "BOARD": point.board,
        "CORES": str(point.cores),
        "RUN_ID": expected.run,
        "MANIFEST": f"{expected.manifest:#010x}",
        "CODE": point.code,
        "DATA": point.data or "",
        "CLOCK_HZ": _number_or_empty_text(point.clock_hz),
        "FLASH_WAIT_STATES": _number_or_empty_text(point.wait_states),
        "FEATURES": ";".join(f"{key}={value}" for key, value in sorted(point.features.items())),
        "WINDOW_MS": str(point.window_ms),
        "OPT": point.opt,
        "KERNEL_CONFIG": ";".join(f"{key}={value}" for key, value in sorted(point.kernel_config.items())),
        "PARAMS": ";".join(f"{key}={value}" for key, value in sorted(point.params.items())),
        "WARMUP_MS": _number_or_empty_text(point.warmup_ms),
        "INSTRUMENT": point.instrument or "",
        "SAMPLES": _number_or_empty_text(point.samples),
        "COMPILER": "" if point.compiler == DEFAULT_COMPILER else point.compiler,
        "LTO": "1" if point.lto else "",
        "PLACEMENT": str(point.placement) if point.placement else "",
        **_kernel_pair_cmake_options(point),
    }
    return [f"-D{key}={value}" for key, value in options.items() if value]


def _kernel_pair_cmake_options(point: PlannedPoint) -> dict[str, str]:
    """Returns the CMake options for a kernel that shares a board with another one. Empty for any other point.

    Typed, because only `firmware/amp` declares them.
    """
    if point.beside is None:
        return {}
    return {
        "CMAKE_PROJECT_rtoslab_firmware_INCLUDE": "amp/amp.cmake",
        "AMP_CORE:STRING": str(point.core),
        "AMP_RAM:STRING": point.ram,
        "AMP_CORE1_IMAGE:STRING": CORE1_IMAGE if point.core == 0 else "",
    }


def measurement_point_of_embedded_image(point: PlannedPoint) -> PlannedPoint | None:
    """Returns the point whose finished image is part of this point's image: core 1's, for the kernel on core 0. None
    for any other point."""
    return point.measurement_on_other_core() if point.beside is not None and point.core == 0 else None


def _number_or_empty_text(value: int | None) -> str:
    """Returns the number as a text. An empty text for None."""
    return "" if value is None else str(value)


def source_tree_of_point(catalogue: Catalogue, point: PlannedPoint) -> SourceTree | None:
    """Returns the user's source tree, or the export made from it, that the point's kernel is built from. None for a
    kernel of the checkout."""
    kernel = catalogue.find_kernel(point.kernel)
    if kernel.facts.export is None:
        return kernel.tree
    return find_kernel_export_tree(kernel, kernel_export_identifier(point.board, point.cores, point.opt))


def kernel_cmake_options(catalogue: Catalogue, point: PlannedPoint) -> list[str]:
    """Returns the -D options by which CMake finds the port and a source tree outside the checkout. They override
    `cmake_options`."""
    tree = source_tree_of_point(catalogue, point)
    port = f"-DKERNEL={catalogue.kernel_port_id_or_folder(catalogue.find_kernel(point.kernel))}"
    optional = optional_services(catalogue, point)
    return [
        port,
        *([f"-DTREE={source_tree_description_path(tree.id)}", f"-DTREE_PATH={tree.path}"] if tree else []),
        *([f"-D{_optional_services_cmake_variable(point)}=services/services.cmake"] if optional else []),
        *([f"-DOPTIONAL_SERVICES:STRING={';'.join(optional)}"] if optional else []),
    ]


def _optional_services_cmake_variable(point: PlannedPoint) -> str:
    """Returns the CMake variable by which a build includes its optional services. Another one than that of two
    kernels on one board: see `_kernel_pair_cmake_options`.
    """
    return "CMAKE_PROJECT_rtoslab_firmware_INCLUDE" if point.beside is None else "CMAKE_PROJECT_INCLUDE"


def optional_services(catalogue: Catalogue, point: PlannedPoint) -> list[str]:
    """Returns the optional kernel services that a point's image contains: those its benchmark needs. For the
    conformance suite a parameter names them (`optional_services_param`)."""
    kernel = catalogue.find_kernel(point.kernel).facts
    offered = offered_optional_services(kernel)
    if point.benchmark == CONFORMANCE_IMAGE:
        chosen = int(point.params.get(OPTIONAL_SERVICES_PARAM, "0"))
        return [service for service in offered if chosen >> OPTIONAL_SERVICES.index(service) & 1]
    benchmark = catalogue.benchmarks.get(point.benchmark)
    needed = (
        benchmark.facts.restrict_to_kernel_services(kernel).kernel_services_needed_by_benchmark(point.params)
        if benchmark
        else ()
    )
    return [service for service in offered if service in needed]


def optional_services_param(services: Iterable[str]) -> dict[str, str]:
    """Returns the parameter of the conformance suite that makes its image contain these optional services. Empty if
    there are none."""
    bits = sum(1 << OPTIONAL_SERVICES.index(service) for service in set(services))
    return {OPTIONAL_SERVICES_PARAM: str(bits)} if bits else {}


def image_inputs_digest(catalogue: Catalogue, point: PlannedPoint) -> str:
    """Returns the SHA-256 of all inputs of a point's image: sources, kernel, options, compiler.

    A tree contributes only the files that the last build of this image read (`path_of_build_input_list_file`), with
    their present content.
    """
    tree = source_tree_of_point(catalogue, point)
    request = image_request_digest(catalogue, point)
    if tree is None:
        return request
    return hashlib.sha256(
        (
            request + kernel_tree_build_inputs_digest_text(tree, path_of_build_input_list_file(catalogue.root, request))
        ).encode()
    ).hexdigest()


def image_request_digest(catalogue: Catalogue, point: PlannedPoint) -> str:
    """Returns the SHA-256 of all inputs of a point's image except the contents of a user's source tree."""
    root, kernel, tree = catalogue.root, catalogue.find_kernel(point.kernel), source_tree_of_point(catalogue, point)
    firmware = root / "firmware"
    parts = [*_COMMON, _benchmark_source_folder(point.benchmark), f"boards/{point.board}"]
    if point.instrument is not None:
        parts.append(f"instruments/{point.instrument}")
    if point.beside is not None:
        parts.append("amp")
    if optional_services(catalogue, point):
        parts.append("services")
    sources = join_file_hash_rows(
        chain(*(_file_digests_of_firmware_folder(root, firmware, part) for part in parts), _spec_file_digests(root))
    )
    sources += join_file_hash_rows(
        _file_digests_of_firmware_folder(kernel.folder.parent, kernel.folder.parent, kernel.folder.name)
    )
    options: list[Any] = [cmake_options(point, ExpectedImageIdentity("", 0))]
    if point.beside is not None and optional_services(catalogue, point):
        options.append(_optional_services_cmake_variable(point))
    embedded = measurement_point_of_embedded_image(point)
    if embedded is not None:
        options.append(image_inputs_digest(catalogue, embedded))
    compilers = [tools.first_version_line(cross_compiler_tool_name("gcc"))] + [tools.clang_version_line()] * (
        point.compiler == "clang"
    )
    if tree is not None:
        core = catalogue.find_board(point.board).facts.core
        described = tree.model_dump(mode="json", exclude={"path", "port", "cores"})
        own = tree.compiled_tree_part_for_core(core).model_dump(mode="json")
        states = [asdict(repository) for repository in find_repositories(tree)]
        options += [described, own, states, names_of_tree_files(tree, core)]
    everything = sources + json.dumps([_FORMAT, *options, *compilers, STORED_FILES])
    return hashlib.sha256(everything.encode()).hexdigest()


def toml_files_read_by_cmake(catalogue: Catalogue, point: PlannedPoint) -> list[Path]:
    """Returns the TOML files of the checkout and of the point's port that CMake may read."""
    firmware = catalogue.root / "firmware"
    parts = ["cpus/cortexm/arch.toml", f"boards/{point.board}/board.toml"]
    parts += [_benchmark_source_folder(point.benchmark)]
    parts += [f"amp/{point.board}"] if point.beside is not None else []
    files_ = [Path(file) for part in parts for file in _files_of_firmware_subfolder(firmware, part)]
    files_.append(catalogue.find_kernel(point.kernel).folder / "kernel.toml")
    return [path for path in files_ if path.suffix == ".toml"] + sorted((catalogue.root / "spec").glob("*.toml"))


def path_of_build_input_list_file(root: Path, digest: str) -> Path:
    """Returns the path of the file that lists which files of a user's source tree a build read.

    `digest`: its `image_request_digest`.
    """
    return build_folder(root) / "trees" / f"{digest[:32]}.json"


def _benchmark_source_folder(benchmark: str) -> str:
    """Returns the folder in firmware/ that contains a benchmark's sources."""
    if benchmark in {CONFORMANCE_IMAGE, CALIBRATION_IMAGE}:
        return benchmark
    return FOOTPRINT.rstrip("-") if benchmark.startswith(FOOTPRINT) else f"benchmarks/{benchmark}"


@memoize_by_contents
def _file_digests_of_firmware_folder(base: Path, firmware: Path, part: str) -> tuple[ListingRow, ...]:
    """Returns the names (relative to `base`) and digests of all files of a part of the firmware."""
    return file_digest_listing_rows(base, _files_of_firmware_subfolder(firmware, part))


@memoize_by_contents
def _spec_file_digests(root: Path) -> tuple[ListingRow, ...]:
    """Returns the name and digest of each TOML file in `spec/`."""
    return file_digest_listing_rows(root, (root / "spec").glob("*.toml"))


def _files_of_firmware_subfolder(firmware: Path, part: str) -> list[str]:
    """Returns the paths of all files of the firmware's folder `part`, or of a single file. Files about real boards are
    left out."""
    path = firmware / part
    if not path.is_dir():
        return [str(path)] if path.is_file() else []
    return [file for file in all_files_below(str(path)) if os.path.basename(file) not in FILES_OUTSIDE_IMAGES]  # noqa: PTH119
