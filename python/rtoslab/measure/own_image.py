"""An image that somebody else built around our runner: any compiler, any IDE, also a kernel we never heard of.

It says itself what it measures, on which kernel and board. It is decoded and proved as far as its symbols allow, and
stored with what it said. The builder is not known here: the image's hash replaces sources and flags."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rtoslab.base import PlanError, StoreError, UnknownNameError, canonical, runs_folder, sha256_of
from rtoslab.catalogue import Catalogue
from rtoslab.images import CONFORMANCE_IMAGE, Build
from rtoslab.intake import Elf, visible
from rtoslab.measure.evaluation import evaluate
from rtoslab.measure.identity import point_id
from rtoslab.measure.pipeline import Outcome
from rtoslab.measure.point_result import evaluation_files
from rtoslab.measure.virtual_job import virtual_job
from rtoslab.plan import Point
from rtoslab.records import DecodedRun
from rtoslab.results import PointId
from rtoslab.store import (
    RunDirectory,
    folder_name,
    make_manifest,
    manifest_hash,
    read_files,
    virtual_target,
)
from rtoslab.targets import ExternalImage, read_external_image, run_virtual, simulator_sources, with_kernel

NOT_EXAMINED = "not examined: the image was built elsewhere"
"""In the place of a conformance verdict."""


def run_image(root: Path, path: Path, board: str, out: Path | None, timing: Mapping[str, int]) -> tuple[Path, Outcome]:
    """Runs an ELF on a virtual board. The run directory and what became of it.

    Raises ImageFileError, RunError for what is no image of our runner, UnknownNameError for a benchmark that is not
    ours, PlanError for the conformance suite, SettingError for another board's image, StoreError.
    """
    known = Catalogue(root)
    image = read_external_image(known, path, board, timing)
    begin = image.introduction.begin
    if begin.bench == CONFORMANCE_IMAGE:
        raise PlanError(f"{path} is the conformance suite; `rtoslab conformance --image` judges it.")
    if begin.bench not in known.benchmarks:
        raise UnknownNameError("benchmark", begin.bench, known.benchmarks)
    catalogue = with_kernel(known, begin.kernel, begin.cores)
    point = _point(catalogue, image.introduction, timing)
    identity = point_id(catalogue, point)
    identity = identity.model_copy(update={"config": {**identity.config, "image": visible(path.stem)}})
    judges = _judges(catalogue, point)
    folder = out or runs_folder() / _own_folder(root, identity, image, judges)
    run = RunDirectory.create(folder, None, [identity])
    return folder, _carry_out(catalogue, point, identity, image, judges, run)


def _judges(catalogue: Catalogue, point: Point) -> dict[str, str]:
    """The files that say what is proved, with their digests: the image does not tell whether its port is known here."""
    files = {
        "benchmark.toml": catalogue.benchmark(point.benchmark).folder / "benchmark.toml",
        "kernel.toml": catalogue.kernel(point.kernel).folder / "kernel.toml",
    }
    return {name: sha256_of(path) for name, path in files.items() if path.is_file()}


def _own_folder(root: Path, identity: PointId, image: ExternalImage, judges: Mapping[str, str]) -> str:
    """The same image, judged alike on the same board, resumes the same directory."""
    inputs = [identity.model_dump(mode="json"), image.sha256, dict(judges), simulator_sources(root)]
    return f"image-{hashlib.sha256(canonical(inputs).encode()).hexdigest()[:12]}"


def _carry_out(
    catalogue: Catalogue,
    point: Point,
    identity: PointId,
    image: ExternalImage,
    judges: dict[str, str],
    run: RunDirectory,
) -> Outcome:
    board = catalogue.board(point.board).facts
    build = Build(
        image.path.parent, image.expected_identity, image.sha256, {**_info(point, image), "judged_by": judges}
    )
    target = virtual_target(catalogue.root, point, board)
    manifest = make_manifest(point, board, build, target, {"digest": "", "checks": {"all": NOT_EXAMINED}})
    run_id = manifest_hash(manifest)[:16]
    name = folder_name(identity, run_id)
    if run.has(name):
        return Outcome(run.read(name).result, run.place(name), fresh=False)
    other = run.other_build(name)
    if other is not None:
        raise StoreError(f"{other} is of another image, virtual board or port; choose another --out to measure again.")
    output = run_virtual(virtual_job(catalogue, point, image.content, image.path.name))
    result = evaluate(catalogue, identity, run_id, output, build.expected)
    whole = evaluation_files(name, result, manifest, output, image.path, {})
    run.put(name, whole)
    return Outcome(read_files(whole)[0], run.place(name), fresh=True)


def _point(catalogue: Catalogue, decoded: DecodedRun, timing: Mapping[str, int]) -> Point:
    """Returns what the image says of itself, as the point that it measures."""
    begin, benchmark = decoded.begin, catalogue.benchmark(decoded.begin.bench).facts
    usual = {name: str(value) for name, value in benchmark.params.items()}
    params = {name: decoded.params[name] for name, value in usual.items() if decoded.params.get(name, value) != value}
    latency = benchmark.kind == "latency"
    samples = decoded.params.get("samples", "")
    return Point(
        benchmark=begin.bench,
        kernel=begin.kernel,
        board=begin.board,
        cores=begin.cores,
        window_ms=begin.window_us // 1000,
        clock_hz=begin.clock_hz if begin.clock_hz != catalogue.board(begin.board).facts.clock.sys_hz else None,
        params=params,
        timing=dict(sorted(timing.items())),
        instrument=decoded.params.get("instrument", "counter") if latency else None,
        samples=int(samples) if latency and samples.isdecimal() else None,
    )


def _info(point: Point, image: ExternalImage) -> dict[str, Any]:
    """Returns the image's own statements and its compiler, in the place of a build's record."""
    begin = image.introduction.begin
    return {
        "format": 1,
        "bench": begin.bench,
        "kernel": begin.kernel,
        "board": begin.board,
        "cores": begin.cores,
        "clock_hz": begin.clock_hz,
        "window_ms": point.window_ms,
        "run_id": begin.run,
        "manifest": f"{begin.manifest:#010x}",
        "params": dict(sorted(image.introduction.params.items())),
        "compiler": {"banner": _compilers(image.content)},
        "built_elsewhere": True,
    }


def _compilers(content: bytes) -> str:
    """Returns what compilers left in the image's notes. Empty if they were taken out."""
    try:
        elf = Elf(content)
        section = elf.section(".comment")
        texts = set(elf.contents(section).split(b"\0")) - {b""} if section else set()
    except ValueError:
        return ""
    return "; ".join(sorted(text.decode("ascii", "replace") for text in texts))
