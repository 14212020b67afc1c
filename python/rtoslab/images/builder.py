"""Stage 2: a point gives an image and its build record, in a folder named by the content that made it.

The folder's name is a hash of everything that goes in (firmware sources, kernel lock, options, compiler), so the same
point is built once, and the image carries that hash and the run id into its own output. The outputs are sealed: an
image that changed since is not run."""

import difflib
import errno
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rtoslab.base import (
    AlteredFileError,
    BuildError,
    RefusedError,
    build_folder,
    clear_expired_file_contents_cache,
    cross_compiler_tool_name,
    exclusive_lock,
    listing_of_file_hashes,
    make_disk_error,
    tools,
)
from rtoslab.catalogue import Catalogue, SourceTree
from rtoslab.images.compilation import with_firmware_path
from rtoslab.images.compile_steps import BuildStepsResult, StepFailedError, run_build_steps
from rtoslab.images.compiler_calls import (
    compact_compiler_calls,
    contradicting_definitions,
    files_at_other_optimisation_levels,
    folder_names_by_path,
)
from rtoslab.images.configuring import configure_image_build
from rtoslab.images.image_inputs import (
    CALLGRAPH,
    CORE1_IMAGE,
    IMAGE,
    INFO,
    LOG,
    STORED_FILES,
    image_inputs_digest,
    image_request_digest,
    measurement_point_of_embedded_image,
    path_of_build_input_list_file,
    source_tree_of_point,
)
from rtoslab.images.inserted_code import files_with_own_optimisation_level, hook_macro_code, read_source_contents
from rtoslab.images.object_cache import ObjectFileCache, compiler_identity
from rtoslab.plan import PlannedPoint
from rtoslab.records import SEAL_FILE, ExpectedImageIdentity, add_file_listing_digests, read_and_verify_sealed_folder
from rtoslab.trees import (
    find_repositories,
    linked_libraries_digest,
    store_build_inputs_from_kernel_tree,
    tree_files_of_build,
)

TREE_BUILD_ATTEMPTS = 4
"""Builds before a tree that changes meanwhile is refused. The first build only finds out which files are read."""

SHARED_FOLDERS = ("ccache", "configured", "facts")
"""Caches beside the images: compiled objects (in ccache), CMake's findings, facts of TOML files."""

CONFIG_MACROS = "config_macros.txt"
"""In a build's folder: the macros of the kernel's configuration, as the preprocessor lists them."""

LOW_SPACE_BYTES = 4 << 20
"""A failed build with less free space than this failed because the disk is full."""
_LOG_SENTENCE = " The complete log is "
"""Begins the last sentence of a failed build's message."""
_NO_SETTING = re.compile(r"has no setting `(\w+)` that may be changed; known: ([^.]*)\.")
_FAULTS = (
    re.compile(r'static assertion failed: "([^"\n]*)"'),
    re.compile(r"/ld: (region [^\n]* overflowed by [^\n]*)"),
    re.compile(r"^((?!collect2)[^\n]*(?:error: |undefined reference)[^\n]*)$", re.MULTILINE),
    re.compile(r"/ld: ([^\n]*)"),
)
"""Patterns of a failed build's error, the most specific first: a linker's last line says nothing."""
_REFUSAL = re.compile(r"CMake Error at [^\n]*:\n((?:  [^\n]+\n)+)")


@dataclass(frozen=True, slots=True)
class BuiltImage:
    """A built firmware image: its folder, digest and build record."""

    folder: Path
    expected: ExpectedImageIdentity
    """The identity that the image will send."""
    elf_sha256: str
    info: dict[str, Any]
    """build-info.json: compiler, flags, kernel package and checksum, every configuration value, source checksums."""

    @property
    def elf_path(self) -> Path:
        """Returns the path of the ELF file."""
        return self.folder / IMAGE


def build_measurement_point_image(catalogue: Catalogue, point: PlannedPoint) -> BuiltImage:
    """Returns a point's firmware image, built now or earlier. Raises ToolMissingError, BuildError, StoreError."""
    require_build_programs()
    digest = image_inputs_digest(catalogue, point)
    if not is_image_built(catalogue.root, point, digest):
        first = _image_folder(catalogue.root, point, digest)
        with exclusive_lock(first.with_name(f".{first.name}.lock")):  # points of one image may be measured side by side
            clear_expired_file_contents_cache()
            digest = image_inputs_digest(catalogue, point)  # by now it may be known what is read of a tree
            if not is_image_built(catalogue.root, point, digest):
                digest = _build_and_store_image(catalogue, point, digest)
        clear_expired_file_contents_cache()
    folder = _image_folder(catalogue.root, point, digest)
    try:
        files = read_and_verify_sealed_folder(folder)
        info = json.loads(files[INFO])
        sha256 = hashlib.sha256(files[IMAGE]).hexdigest()
    except AlteredFileError as cause:
        raise BuildError(str(cause)) from None
    return BuiltImage(folder, expected_image_identity(digest), sha256, info)


def compile_image_into(
    catalogue: Catalogue, point: PlannedPoint, expected: ExpectedImageIdentity, folder: Path
) -> tuple[Path, frozenset[str]]:
    """Compiles a point's image in an empty folder beside the built images, with an identity of the caller's choice.
    Returns the path of the ELF file and the names of its source files. Raises ToolMissingError, BuildError,
    RefusedError.

    Nothing is stored: use it to compare images of two checkouts, which differ in their identities otherwise.
    """
    require_build_programs()
    sources: frozenset[str] = frozenset()
    embedded = measurement_point_of_embedded_image(point)
    if embedded is not None:
        inner = folder / "core1"
        inner.mkdir()
        core1_image, core1_sources = compile_image_into(catalogue, embedded, expected, inner)
        shutil.copyfile(core1_image, folder / CORE1_IMAGE)
        sources |= core1_sources
    _configure_and_compile(catalogue, point, expected, folder)
    return folder / IMAGE, sources | json.loads((folder / INFO).read_bytes())["sources"].keys()


def link_build_caches_into_checkout(root: Path, other_root: Path) -> None:
    """Links the build caches of the checkout `root` into another checkout's build folder, so that the other one reuses
    compiled objects."""
    here, target = build_folder(root), build_folder(other_root)
    for name in SHARED_FOLDERS if here != target else ():
        (here / name).mkdir(parents=True, exist_ok=True)
        target.mkdir(parents=True, exist_ok=True)
        (target / name).symlink_to(here / name)


def expected_image_identity(digest: str) -> ExpectedImageIdentity:
    """Returns the identity (run and manifest) that an image will report. `digest`: that of the image's inputs."""
    return ExpectedImageIdentity(run=digest[:16], manifest=int(digest[:8], 16))


def planned_image_path(catalogue: Catalogue, point: PlannedPoint) -> Path:
    """Returns the path of a point's image, whether it is built or not."""
    return _image_folder(catalogue.root, point, image_inputs_digest(catalogue, point)) / IMAGE


def require_build_programs() -> None:
    """Raises ToolMissingError for the first program that every build needs and that is not installed."""
    for name in ("cmake", "ninja", cross_compiler_tool_name("gcc"), "cargo"):
        tools.find_build_program(name)


def is_image_built(root: Path, point: PlannedPoint, digest: str) -> bool:
    """Whether a point's image exists. `digest`: its `image_inputs_digest`. `build_measurement_point_image` also checks
    its seal."""
    return (_image_folder(root, point, digest) / SEAL_FILE).is_file()


def _image_folder(root: Path, point: PlannedPoint, digest: str) -> Path:
    """Returns the folder of a point's image, whether it is built or not. `digest`: that of its inputs."""
    return build_folder(root) / f"{point.benchmark}-{point.kernel}-{point.board}-{point.cores}c-{digest[:16]}"


def _build_and_store_image(catalogue: Catalogue, point: PlannedPoint, digest: str) -> str:
    """Builds an image and stores it with a seal. Returns the digest of its inputs.
    The digest differs from the given one if a tree is read for the first time or was edited meanwhile.
    """
    parent = build_folder(catalogue.root)
    try:
        parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=".build-", dir=parent))
    except OSError as cause:
        raise make_disk_error("make a build folder in", parent, cause) from None
    folder = _image_folder(catalogue.root, point, digest)
    try:
        embedded = measurement_point_of_embedded_image(point)
        if embedded is not None:
            shutil.copyfile(build_measurement_point_image(catalogue, embedded).elf_path, work / CORE1_IMAGE)
        digest = _build_until_stable(catalogue, point, digest, work)
        folder = _image_folder(catalogue.root, point, digest)
        staging = Path(tempfile.mkdtemp(prefix=".done-", dir=parent))
        _join_call_graph_files(work, catalogue.root / "firmware")
        outputs = {name: (work / name).read_bytes() for name in STORED_FILES if (work / name).is_file()}
        for name, content in add_file_listing_digests(folder.name, outputs).items():
            (staging / name).write_bytes(content)
        try:
            if folder.exists() and not (folder / SEAL_FILE).exists():
                shutil.rmtree(folder)  # nothing shows that it is whole
            staging.chmod(0o755)
            staging.rename(folder)
        except OSError:
            shutil.rmtree(staging, ignore_errors=True)
            if not (folder / SEAL_FILE).is_file():  # otherwise another run finished the same image first
                raise
    except OSError as cause:
        raise make_disk_error("write the build", folder, cause) from None
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return digest


def _build_until_stable(catalogue: Catalogue, point: PlannedPoint, digest: str, work: Path) -> str:
    """Builds an image in `work`, and again if a source file was changed meanwhile. Returns the digest of its inputs.

    The digest is that of the files that the last build read from a user's source tree.
    """
    tree = source_tree_of_point(catalogue, point)
    for _ in range(TREE_BUILD_ATTEMPTS):
        build = _configure_and_compile(catalogue, point, expected_image_identity(digest), work)
        info = _record_compiler_calls(work, build)
        _require_optimisation_level(point, info["calls"])
        _require_recorded_kernel_config(point, info)
        _require_unmodified_kernel_code(point, work, build)
        if tree is None:
            return digest
        files = tree_files_of_build(build.files_read, tree)
        clear_expired_file_contents_cache()
        store_build_inputs_from_kernel_tree(
            path_of_build_input_list_file(catalogue.root, image_request_digest(catalogue, point)), files
        )
        result = image_inputs_digest(catalogue, point)
        if result == digest:
            _add_source_tree_to_build_record(work / INFO, tree, files)
            return digest
        digest = result
    raise BuildError(
        f"The tree {point.kernel} was changed during each build of {point.label}; try again when nobody changes it."
    )


def _record_compiler_calls(work: Path, build: BuildStepsResult) -> Mapping[str, Any]:
    """Adds the arguments of each compiler call to the build's record (build-info.json). Returns the record."""
    path = work / INFO
    info: dict[str, Any] = json.loads(path.read_bytes())
    folders = _build_record_folder_names_by_path(work)
    links = [line for line in build.commands_besides_compilations if f" -o {IMAGE}" in line]
    info["calls"] = compact_compiler_calls(build.compiler_calls_of_build, links, folders)
    path.write_text(json.dumps(info, indent=2) + "\n", encoding="utf-8")
    return info


def _build_record_folder_names_by_path(work: Path) -> dict[str, str]:
    """Returns the name that a build's record gives to each folder, by the folder's path."""
    return folder_names_by_path((work / "build_info_input.cmake").read_text(encoding="utf-8"))


def _require_optimisation_level(point: PlannedPoint, calls: Mapping[str, Any]) -> None:
    """Raises BuildError if C files were compiled at another optimisation level (`-O2`) than the point's.

    The figure would be that of a mixture, under a name that says one level.
    """
    others = files_at_other_optimisation_levels(calls, point.opt)
    if others:
        raise BuildError(
            f"{point.label} is to be compiled at {point.opt}, but its build files compile {', '.join(others[:3])}; "
            "remove that option, or choose the level of all files by --config opt=."
        )


def _require_recorded_kernel_config(point: PlannedPoint, info: Mapping[str, Any]) -> None:
    """Raises BuildError if files were compiled with another value of a kernel setting than the build's record has.

    The record has the values that the configuration's headers give. A definition for some files would be measured under
    a name that says another value.
    """
    others = contradicting_definitions(info["calls"], info["kernel_config"])
    if others:
        raise BuildError(
            f"{point.label} has files that are compiled with other kernel settings than its headers have: "
            f"{'; '.join(others[:3])}. Change the setting by --config, or in the configuration's header."
        )


def _require_unmodified_kernel_code(point: PlannedPoint, work: Path, build: BuildStepsResult) -> None:
    """Raises BuildError if the files of the port change the code of the kernel's own functions and no option of the
    point says so."""
    folders = _build_record_folder_names_by_path(work)

    def is_in_folder(file: str, *names: str) -> bool:
        """Whether a file is in one of the folders with these names."""
        return any(file.startswith(f"{folder}/") for folder, name in folders.items() if name in names)

    ours = read_source_contents(file for file in build.files_read if is_in_folder(file, "firmware", "port", "build"))
    levels = files_with_own_optimisation_level(ours)
    if levels:
        raise BuildError(
            f"{point.label} is to be compiled at {point.opt}, but {Path(levels[0]).name} asks the compiler for another "
            "optimisation; remove that pragma or attribute, or choose the level of all files by --config opt=."
        )
    macros = (work / CONFIG_MACROS).read_text(encoding="utf-8", errors="replace")
    kernel = [file for file in build.files_read if is_in_folder(file, "kernel")]
    for name, text in hook_macro_code(macros, ours, kernel).items():
        raise BuildError(
            f"{point.label} would measure more than the kernel: its port defines {name} as `{text}`, which puts this "
            "code into the kernel's functions; remove the definition."
        )


def _add_source_tree_to_build_record(path: Path, tree: SourceTree, files: tuple[str, ...]) -> None:
    """Adds the origin of a source tree, and a digest of the files read from it, to a build's record. `path`: the
    record."""
    info = json.loads(path.read_bytes())
    root = Path(tree.path)
    info["tree"] = {
        "repositories": [asdict(repository) for repository in find_repositories(tree)],
        "files_read": len(files),
        "sha256": hashlib.sha256(listing_of_file_hashes(root, [root / file for file in files]).encode()).hexdigest(),
        **({"linked_sha256": linked_libraries_digest(tree)} if tree.linked else {}),
    }
    path.write_text(json.dumps(info, indent=2) + "\n", encoding="utf-8")


def _join_call_graph_files(work: Path, firmware: Path) -> None:
    """Joins the call graph files (.ci) that the compiler wrote for the objects in `work` into one file."""
    parts = [path.read_text(encoding="utf-8", errors="replace") for path in sorted(work.rglob("*.ci"))]
    if parts:
        (work / CALLGRAPH).write_text(with_firmware_path("".join(parts), str(firmware)), encoding="utf-8")


def _configure_and_compile(
    catalogue: Catalogue, point: PlannedPoint, expected: ExpectedImageIdentity, work: Path
) -> BuildStepsResult:
    """Configures and compiles an image in `work`. Raises BuildError with the reason from the log."""
    identity = compiler_identity(point.compiler == "clang")
    objects = ObjectFileCache(work, catalogue.root / "firmware", work.parent / "ccache", identity)
    is_configured = False
    with (work / LOG).open("w+", encoding="utf-8", errors="replace") as log:
        try:
            is_configured = configure_image_build(catalogue, point, expected, work, work.parent / "configured", log)
            log.seek(0, os.SEEK_END)
            if is_configured:
                return run_build_steps(work, objects, log)
        except StepFailedError:
            pass
        log.seek(0)
        text = log.read()
    if _failed_by_full_disk(text, work):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    log_path = _store_failed_build_log(text, work.parent, point)
    message = f"Building {point.label} failed: {build_failure_reason(text)}{_LOG_SENTENCE}{log_path}."
    if not is_configured and _REFUSAL.search(text):
        raise RefusedError(message, build_failure_reason(text).rstrip("."))
    raise BuildError(message)


def _failed_by_full_disk(text: str, work: Path) -> bool:
    """Whether a build failed because the disk is full. `text`: the log, in which not every tool says so."""
    return os.strerror(errno.ENOSPC) in text or shutil.disk_usage(work).free < LOW_SPACE_BYTES


def _store_failed_build_log(text: str, folder: Path, point: PlannedPoint) -> Path:
    """Writes the log of a failed build to `folder`. Returns the log's path."""
    path = folder / f"failed-{point.benchmark}-{point.kernel}-{point.board}-{point.cores}c.log"
    path.write_text(text, encoding="utf-8")
    return path


def build_error_without_log_path(message: str) -> str:
    """Returns the message of a failed build without the path of its log, which exists on this machine alone."""
    return message.partition(_LOG_SENTENCE)[0]


def build_failure_reason(log: str) -> str:
    """Returns why a build failed, from its log: CMake's refusal, the first compiler error or the linker's reason, as a
    sentence."""
    refusal = _REFUSAL.search(log)
    if refusal:
        return _NO_SETTING.sub(_suggest_known_setting, " ".join(refusal.group(1).split()))
    reasons = (match.group(1).strip() for pattern in _FAULTS if (match := pattern.search(log)))
    return next(reasons, "the last step returned an error") + "."


def _suggest_known_setting(refused: re.Match[str]) -> str:
    """Returns what CMake says of an unknown setting, with the most similar known setting in place of the list of
    all."""
    near = difflib.get_close_matches(refused.group(1), refused.group(2).split(", "), n=1, cutoff=0.5)
    return f"has no setting `{refused.group(1)}`; did you mean `{near[0]}`?" if near else refused.group(0)
