"""Stage 2: a point gives an image and its build record, in a folder named by the content that made it.

The folder's name is a hash of everything that goes in (firmware sources, kernel lock, options, compiler), so the same
point is built once, and the image carries that hash and the run id into its own output. What was built is sealed: an
image that changed since is not run.
"""

import difflib
import errno
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rtoslab.base import AlteredError, BuildError, RefusedError, alone, build_folder, disk_error, listing, tools
from rtoslab.catalogue import Catalogue
from rtoslab.plan import DEFAULT_COMPILER, Point
from rtoslab.records import SEAL_FILE, Expected, read_sealed, sealed

IMAGE = "image.elf"
INFO = "build-info.json"
LOG = "build.log"
MAP = "image.map"
CALLGRAPH = "callgraph.ci"
"""Of a footprint image: each function's stack frame and callees, as the compiler wrote them."""
CONFORMANCE_IMAGE = "conformance"
"""The image that is no benchmark; its sources lie in a folder of that name."""
FOOTPRINT = "footprint-"
"""Before the name of a program whose size alone is of interest: a folder of firmware/footprint/."""
LITTLE_BYTES = 4 << 20
"""With less room than a build takes, that is why it failed."""
_KEPT = (IMAGE, INFO, LOG, MAP, CALLGRAPH)
_NO_SETTING = re.compile(r"has no setting `(\w+)` that may be changed; known: ([^.]*)\.")
_REFUSAL = re.compile(r"CMake Error at [^\n]*:\n((?:  [^\n]+\n)+)")
_COMMON = ("CMakeLists.txt", "cmake", "core", "include", "cpus", "chips", "kernels/Cargo.toml", "kernels/Cargo.lock")


@dataclass(frozen=True, slots=True)
class Build:
    """A finished image."""

    folder: Path
    expected: Expected
    """What the image will say about itself."""
    elf_sha256: str
    info: dict[str, Any]
    """build-info.json: compiler, flags, kernel package and checksum, every configuration value, source checksums."""

    @property
    def elf(self) -> Path:
        """The image."""
        return self.folder / IMAGE


def build(catalogue: Catalogue, point: Point) -> Build:
    """Builds the image, or finds it built. Raises ToolMissingError, BuildError, StoreError."""
    demand_tools()
    digest = inputs_digest(catalogue.root, point)
    expected = Expected(run=digest[:16], manifest=int(digest[:8], 16))
    folder = _folder(catalogue.root, point, digest)
    if not (folder / SEAL_FILE).is_file():
        with alone(folder.with_name(f".{folder.name}.lock")):  # points of one image may be measured side by side
            if not (folder / SEAL_FILE).is_file():
                _build_into(catalogue.root, point, expected, folder)
    try:
        files = read_sealed(folder)
        info = json.loads(files[INFO])
        sha256 = hashlib.sha256(files[IMAGE]).hexdigest()
    except AlteredError as cause:
        raise BuildError(str(cause)) from None
    return Build(folder, expected, sha256, info)


def demand_tools() -> None:
    """Raises ToolMissingError for the first thing that no image can be built without."""
    for name in ("cmake", "ninja", "arm-none-eabi-gcc", "cargo"):
        tools.find(name)


def is_built(root: Path, point: Point, digest: str) -> bool:
    """Whether the image of a point's `inputs_digest` is there; `build` still demands that it is as it was sealed."""
    return (_folder(root, point, digest) / SEAL_FILE).is_file()


def _folder(root: Path, point: Point, digest: str) -> Path:
    return build_folder(root) / f"{point.benchmark}-{point.kernel}-{point.board}-{point.cores}c-{digest[:16]}"


def cmake_options(point: Point, expected: Expected) -> list[str]:
    """The -D options of one point."""
    options = {
        "BENCH": point.benchmark,
        "KERNEL": point.kernel,
        "BOARD": point.board,
        "CORES": str(point.cores),
        "RUN_ID": expected.run,
        "MANIFEST": f"{expected.manifest:#010x}",
        "CODE": point.code,
        "DATA": point.data or "",
        "CLOCK_HZ": _given(point.clock_hz),
        "FLASH_WAIT_STATES": _given(point.wait_states),
        "FEATURES": ";".join(f"{key}={value}" for key, value in sorted(point.features.items())),
        "WINDOW_MS": str(point.window_ms),
        "OPT": point.opt,
        "KERNEL_CONFIG": ";".join(f"{key}={value}" for key, value in sorted(point.kernel_config.items())),
        "PARAMS": ";".join(f"{key}={value}" for key, value in sorted(point.params.items())),
        "WARMUP_MS": _given(point.warmup_ms),
        "INSTRUMENT": point.instrument or "",
        "SAMPLES": _given(point.samples),
        "COMPILER": "" if point.compiler == DEFAULT_COMPILER else point.compiler,
        "LTO": "1" if point.lto else "",
    }
    return [f"-D{key}={value}" for key, value in options.items() if value]


def _given(value: int | None) -> str:
    return "" if value is None else str(value)


def _build_into(root: Path, point: Point, expected: Expected, folder: Path) -> None:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=".build-", dir=folder.parent))
    except OSError as cause:
        raise disk_error("make a build folder in", folder.parent, cause) from None
    try:
        _cmake(root, point, expected, work)
        keep = Path(tempfile.mkdtemp(prefix=".done-", dir=folder.parent))
        _join_callgraphs(work)
        kept = {name: (work / name).read_bytes() for name in _KEPT if (work / name).is_file()}
        for name, content in sealed(folder.name, kept).items():
            (keep / name).write_bytes(content)
        try:
            if folder.exists() and not (folder / SEAL_FILE).exists():
                shutil.rmtree(folder)  # nothing shows that it is whole
            keep.chmod(0o755)
            keep.rename(folder)
        except OSError:
            shutil.rmtree(keep, ignore_errors=True)
            if not (folder / SEAL_FILE).is_file():  # otherwise another run finished the same image first
                raise
    except OSError as cause:
        raise disk_error("write the build", folder, cause) from None
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _join_callgraphs(work: Path) -> None:
    """One file of the many that lie beside the objects."""
    parts = [each.read_text(encoding="utf-8", errors="replace") for each in sorted(work.rglob("*.ci"))]
    if parts:
        (work / CALLGRAPH).write_text("".join(parts), encoding="utf-8")


def _cmake(root: Path, point: Point, expected: Expected, work: Path) -> None:
    configure: list[str | Path] = [
        tools.find("cmake"),
        "-S",
        root / "firmware",
        "-B",
        work,
        "-G",
        "Ninja",
        *cmake_options(point, expected),
        *([f"-DRTOSLAB_ZIG={tools.find_clang() or ''}"] if point.compiler == "clang" else []),
    ]
    with (work / LOG).open("w+", encoding="utf-8", errors="replace") as log:
        commands: tuple[list[str | Path], ...] = (configure, [tools.find("cmake"), "--build", work, "-j", "2"])
        for command in commands:
            log.flush()
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=tools.plain_environment(),
                check=False,
            )
            if done.returncode != 0:
                log.seek(0)
                text = log.read()
                if _disk_is_full(text, work):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                kept = _keep_log(text, work.parent, point)
                message = f"Building {point.label} failed: {_reason(text)} The whole log is {kept}."
                if command is configure and _REFUSAL.search(text):
                    raise RefusedError(message, _reason(text).rstrip("."))
                raise BuildError(message)


def _disk_is_full(text: str, work: Path) -> bool:
    """Compilers say so, unless their words found no room either; `ar` does not."""
    return os.strerror(errno.ENOSPC) in text or shutil.disk_usage(work).free < LITTLE_BYTES


def _keep_log(text: str, folder: Path, point: Point) -> Path:
    path = folder / f"failed-{point.benchmark}-{point.kernel}-{point.board}-{point.cores}c.log"
    path.write_text(text, encoding="utf-8")
    return path


def _reason(log: str) -> str:
    """The first sentence of CMake's refusal, or the compiler's first error line."""
    refusal = _REFUSAL.search(log)
    if refusal:
        return _NO_SETTING.sub(_nearest, " ".join(refusal.group(1).split()))
    error = re.search(r"^[^\n]*(?:error: |undefined reference)[^\n]*$", log, re.MULTILINE)
    return (error.group(0).strip() if error else "the last step returned an error") + "."


def _nearest(refused: re.Match[str]) -> str:
    """A refused macro with the one that was probably meant, instead of the dozens that there are."""
    near = difflib.get_close_matches(refused.group(1), refused.group(2).split(", "), n=1, cutoff=0.5)
    return f"has no setting `{refused.group(1)}`; did you mean `{near[0]}`?" if near else refused.group(0)


def inputs_digest(root: Path, point: Point) -> str:
    """SHA-256 of everything that goes into an image: sources, kernel lock, options, compiler."""
    firmware = root / "firmware"
    parts = [*_COMMON, _program_folder(point.benchmark), f"kernels/{point.kernel}", f"boards/{point.board}"]
    if point.instrument is not None:
        parts.append(f"instruments/{point.instrument}")
    sources = listing(root, [*_files(firmware, parts), root / "spec" / "wire.toml"])
    options = cmake_options(point, Expected("", 0))
    compilers = [tools.banner("arm-none-eabi-gcc")] + [tools.clang_banner()] * (point.compiler == "clang")
    everything = sources + json.dumps([options, *compilers, _KEPT])
    return hashlib.sha256(everything.encode()).hexdigest()


def _program_folder(benchmark: str) -> str:
    if benchmark == CONFORMANCE_IMAGE:
        return CONFORMANCE_IMAGE
    return FOOTPRINT.rstrip("-") if benchmark.startswith(FOOTPRINT) else f"benchmarks/{benchmark}"


def _files(firmware: Path, parts: list[str]) -> Iterator[Path]:
    for part in parts:
        path = firmware / part
        yield from (
            (each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path] if path.is_file() else []
        )
