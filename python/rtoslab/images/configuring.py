"""Configures an image with CMake. Slow findings are cached: the compiler's properties, the place of a kernel's
package, the content of TOML files.

These take longer than the rest of a configuration together, and the first two change with the machine alone. So they
are stored by their inputs and copied into the next build's folder, where CMake takes them for its own. The stored
files do not contain the firmware's folder, so that another checkout finds them too, with its own folder in its
place."""

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from rtoslab.base import (
    AlteredFileError,
    StoreError,
    listing_of_file_hashes,
    make_disk_error,
    make_folder,
    prepend_digest_line,
    sha256_of_file,
    strip_digest_line,
    to_canonical_json,
    tools,
    write_file_atomically,
)
from rtoslab.catalogue import Catalogue
from rtoslab.images.image_inputs import cmake_options, kernel_cmake_options, toml_files_read_by_cmake
from rtoslab.images.object_cache import compiler_identity
from rtoslab.plan import DEFAULT_COMPILER, PlannedPoint
from rtoslab.records import SEAL_FILE, ExpectedImageIdentity, add_file_listing_digests, read_and_verify_sealed_folder

PACKAGE: Final = "kernel_package.cmake"
"""The file with the place of a kernel's package. firmware/cmake/KernelSource.cmake writes and reads it."""
_PROGRAMS: Final = "programs.cmake"
"""Programs beside the compiler that CMake found, for its cache."""
_PROGRAM: Final = re.compile(r"^(CMAKE_\w+):FILEPATH=(/.*)$", re.MULTILINE)
_COMPILER_FILES: Final = ("CMakeSystem.cmake", "CMakeCCompiler.cmake", "CMakeASMCompiler.cmake")
"""Files that CMake writes about a compiler, in a folder named by CMake's version."""
_CHECKOUT: Final = "@RTOSLAB_FIRMWARE@"
"""Stands for the firmware's folder in stored files."""
_READ: Final = "toml"
"""Folder of TOML files as CMake code, written by firmware/cmake/Toml.cmake and named by reader and file."""
_CONFIGURED_BY: Final = (
    "CMakeLists.txt",
    "cmake/Toml.cmake",
    "cmake/arm-none-eabi.cmake",
    "cmake/KernelSource.cmake",
    "cpus/cortexm/arch.toml",
    "kernels/Cargo.toml",
    "kernels/Cargo.lock",
)


def configure_image_build(
    catalogue: Catalogue,
    point: PlannedPoint,
    expected: ExpectedImageIdentity,
    work: Path,
    cache_folder: Path,
    log: IO[str],
) -> bool:
    """Configures a point's image with CMake in `work`. Returns whether CMake succeeded. Its output goes to the log.

    `cache_folder`: the folder of cached findings. Raises StoreError, ToolMissingError.
    """
    mine = _restore_cached_cmake_results(catalogue, point, cache_folder, work)
    read = cache_folder.with_name("facts")
    before_read = _restore_cached_toml_contents(catalogue, point, read, work)
    options: list[str | Path] = ["-C", work / _PROGRAMS, "-DCMAKE_PLATFORM_INFO_INITIALIZED:INTERNAL=1"] if mine else []
    command: list[str | Path] = [
        *(tools.find_build_program("cmake"), "-S", catalogue.root / "firmware", "-B", work, "-G", "Ninja"),
        *options,
        *cmake_options(point, expected),
        *kernel_cmake_options(catalogue, point),
        *([f"-DRTOSLAB_ZIG={tools.find_zig_with_clang() or ''}"] if point.compiler == "clang" else []),
    ]
    log.flush()
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        env=tools.build_environment_variables(),
        check=False,
    )
    if done.returncode == 0 and not mine and point.compiler == DEFAULT_COMPILER:
        _store_compiler_files(_cmake_findings_folder(catalogue, point, cache_folder), work, catalogue.root / "firmware")
    _cache_toml_contents(read, work, before_read)
    return done.returncode == 0


def _cmake_findings_folder(catalogue: Catalogue, point: PlannedPoint, cache_folder: Path) -> Path:
    """Returns the folder in which CMake's findings on the point's compiler and kernel are cached."""
    firmware = catalogue.root / "firmware"
    cmake = tools.find_build_program("cmake")
    everything = [
        _CHECKOUT,
        listing_of_file_hashes(firmware, [firmware / name for name in _CONFIGURED_BY]),
        [tools.first_version_line("cmake"), str(cmake), cmake.stat().st_mtime_ns],
        compiler_identity(clang=False),
        str(tools.find_build_program("cargo")),
        point.kernel,
        point.lto,
        {name: value for name, value in tools.build_environment_variables().items() if name != "TMPDIR"},
    ]
    return cache_folder / hashlib.sha256(to_canonical_json(everything).encode()).hexdigest()[:32]


def _restore_cached_cmake_results(catalogue: Catalogue, point: PlannedPoint, cache_folder: Path, work: Path) -> bool:
    """Copies CMake's cached findings on compiler and kernel into the build's folder. Returns whether there were any."""
    if point.compiler != DEFAULT_COMPILER:  # Clang is started by a script in the build's folder itself
        return False
    place = _cmake_findings_folder(catalogue, point, cache_folder)
    try:
        files = read_and_verify_sealed_folder(place)
    except AlteredFileError:
        return False
    folder = work / "CMakeFiles" / files["version"].decode()
    folder.mkdir(parents=True, exist_ok=True)
    for name in {*_COMPILER_FILES, _PROGRAMS, PACKAGE} & set(files):
        content = files[name].replace(_CHECKOUT.encode(), os.fsencode(catalogue.root / "firmware"))
        ((folder if name in _COMPILER_FILES else work) / name).write_bytes(content)
    return True


def _restore_cached_toml_contents(catalogue: Catalogue, point: PlannedPoint, read: Path, work: Path) -> set[str]:
    """Copies the cached contents of TOML files into the build's folder, as CMake code. Returns the cache keys of these
    files."""
    reader = sha256_of_file(catalogue.root / "firmware" / "cmake" / "Toml.cmake")
    folder = work / _READ
    folder.mkdir(parents=True, exist_ok=True)
    laid = set()
    for file in toml_files_read_by_cmake(catalogue, point):
        key = hashlib.sha256(f"{reader}{sha256_of_file(file)}".encode()).hexdigest()
        with suppress(OSError):
            content = strip_digest_line((read / key).read_bytes())
            if content is not None:
                (folder / f"{key}.cmake").write_bytes(content)
                laid.add(key)
    return laid


def _cache_toml_contents(read: Path, work: Path, laid: set[str]) -> None:
    """Caches the contents of TOML files that CMake read in this build. `laid`: the keys of those that came from the
    cache."""
    for path in (work / _READ).glob("*.cmake"):
        if path.stem not in laid:
            with suppress(StoreError):  # the image needs nothing kept
                make_folder(read)
                write_file_atomically(read / path.stem, prepend_digest_line(path.read_bytes()), "the content of a file")


def _store_compiler_files(place: Path, work: Path, firmware: Path) -> None:
    """Caches what CMake found out about the compiler and the kernel's sources in the folder `place`. Raises
    StoreError."""
    folders = [path for path in (work / "CMakeFiles").iterdir() if (path / _COMPILER_FILES[0]).is_file()]
    if len(folders) != 1:
        return
    compiler_files: Mapping[str, bytes] = {
        "version": folders[0].name.encode(),
        _PROGRAMS: _cmake_program_paths_script((work / "CMakeCache.txt").read_text(encoding="utf-8")).encode(),
        **{name: (folders[0] / name).read_bytes() for name in _COMPILER_FILES},
        **({PACKAGE: (work / PACKAGE).read_bytes()} if (work / PACKAGE).is_file() else {}),
    }
    files = {name: file.replace(os.fsencode(firmware), _CHECKOUT.encode()) for name, file in compiler_files.items()}
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        mine = Path(tempfile.mkdtemp(prefix=".known-", dir=place.parent))
        for name, content in add_file_listing_digests(place.name, files).items():
            (mine / name).write_bytes(content)
        try:
            if place.exists() and not (place / SEAL_FILE).exists():
                shutil.rmtree(place)
            mine.rename(place)
        except OSError:  # another build kept the same
            shutil.rmtree(mine, ignore_errors=True)
    except OSError as cause:
        raise make_disk_error("keep what CMake found out in", place, cause) from None


def _cmake_program_paths_script(cache: str) -> str:
    """Returns a CMake script that sets the paths of all programs named in CMake's cache file, whose text is given."""
    lines = [f'set({name} [==[{path}]==] CACHE FILEPATH "")' for name, path in _PROGRAM.findall(cache)]
    return "\n".join([*lines, ""])
