"""Measures an image that somebody else built around our runner: any compiler, any IDE, also an unknown kernel.

The image itself says what it measures, on which kernel and board. It is decoded and proved as far as its symbols
allow. Its hash
replaces sources and flags, for the build is not known here."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rtoslab.base import PlanError, StoreError, UnknownNameError, default_runs_folder, sha256_of_file, to_canonical_json
from rtoslab.catalogue import Catalogue
from rtoslab.images import CONFORMANCE_IMAGE, BuiltImage
from rtoslab.intake import compilers_named_in_image, escape_unprintable
from rtoslab.measure.evaluation import decode_and_judge_output
from rtoslab.measure.identity import identity_of_point
from rtoslab.measure.pipeline import MeasurementPointOutcome
from rtoslab.measure.point_result import point_folder_files
from rtoslab.measure.virtual_job import make_virtual_benchmark_job
from rtoslab.plan import PlannedPoint
from rtoslab.records import DecodedRun
from rtoslab.results import PointId
from rtoslab.store import (
    RunDirectory,
    make_measurement_manifest,
    manifest_hash,
    parse_measurement_point_files,
    point_folder_name,
    virtual_board_manifest_entries,
)
from rtoslab.targets import (
    ExternalImage,
    catalogue_with_kernel,
    read_external_image,
    run_virtual_benchmark,
    simulator_sources_digest,
)

NOT_EXAMINED = "not examined: the image was built elsewhere"
"""In the place of a conformance verdict."""


def measure_user_elf_image(
    root: Path, path: Path, board: str, out: Path | None, timing: Mapping[str, int]
) -> tuple[Path, MeasurementPointOutcome]:
    """Runs a user's ELF file that contains rtoslab's runner on a virtual board, and stores the measured point."""
    known = Catalogue(root)
    image = read_external_image(known, path, board, timing)
    begin = image.introduction.begin
    if begin.bench == CONFORMANCE_IMAGE:
        raise PlanError(f"{path} is the conformance suite; run it with `rtoslab kernel conformance --image`.")
    if begin.bench not in known.benchmarks:
        raise UnknownNameError("benchmark", begin.bench, known.benchmarks)
    catalogue = catalogue_with_kernel(known, begin.kernel, begin.cores)
    point = _measurement_point_of_user_image(catalogue, image.introduction, timing)
    identity = identity_of_point(catalogue, point)
    identity = identity.model_copy(update={"config": {**identity.config, "image": escape_unprintable(path.stem)}})
    rule_files = _proof_rule_file_digests(catalogue, point)
    folder = out or default_runs_folder() / _run_folder_name(root, identity, image, rule_files)
    run = RunDirectory.create_run_directory(folder, None, [identity])
    return folder, _measure_and_store_user_image(catalogue, point, identity, image, rule_files, run)


def _proof_rule_file_digests(catalogue: Catalogue, point: PlannedPoint) -> dict[str, str]:
    """Returns the SHA-256 of the files that say what is proved about an image, by name."""
    files = {
        "benchmark.toml": catalogue.find_benchmark(point.benchmark).folder / "benchmark.toml",
        "kernel.toml": catalogue.find_kernel(point.kernel).folder / "kernel.toml",
    }
    return {name: sha256_of_file(path) for name, path in files.items() if path.is_file()}


def _run_folder_name(root: Path, identity: PointId, image: ExternalImage, rule_files: Mapping[str, str]) -> str:
    """Returns the name of the run directory for a user's image. The same image, board and rules give the same name."""
    inputs = [identity.model_dump(mode="json"), image.file_sha256, dict(rule_files), simulator_sources_digest(root)]
    return f"image-{hashlib.sha256(to_canonical_json(inputs).encode()).hexdigest()[:12]}"


def _measure_and_store_user_image(
    catalogue: Catalogue,
    point: PlannedPoint,
    identity: PointId,
    image: ExternalImage,
    rule_files: dict[str, str],
    run: RunDirectory,
) -> MeasurementPointOutcome:
    """Measures a user's image, or returns the stored point if there is one."""
    board = catalogue.find_board(point.board).facts
    build = BuiltImage(
        image.path.parent,
        image.image_identity_expected_in_records,
        image.file_sha256,
        {**_make_build_record_of_user_image(point, image), "judged_by": rule_files},
    )
    target = virtual_board_manifest_entries(catalogue.root, point, board)
    manifest = make_measurement_manifest(point, board, build, target, {"digest": "", "checks": {"all": NOT_EXAMINED}})
    run_id = manifest_hash(manifest)[:16]
    name = point_folder_name(identity, run_id)
    if run.contains_point(name):
        return MeasurementPointOutcome(run.read_measured_point(name).result, run.point_path(name), fresh=False)
    other = run.find_measurement_with_other_manifest(name)
    if other is not None:
        raise StoreError(
            f"{other} was measured with another image, virtual board or port; choose another --out to measure again."
        )
    output = run_virtual_benchmark(make_virtual_benchmark_job(catalogue, point, image.content, image.path.name))
    if output.observed is not None:
        output.observed.compiler = ""  # its options are unknown, and so is the length of the code
    result = decode_and_judge_output(catalogue, identity, run_id, output, build.expected)
    whole = point_folder_files(name, result, manifest, output, image.path, {})
    run.store_point_files(name, whole)
    return MeasurementPointOutcome(parse_measurement_point_files(whole)[0], run.point_path(name), fresh=True)


def _measurement_point_of_user_image(
    catalogue: Catalogue, decoded: DecodedRun, timing: Mapping[str, int]
) -> PlannedPoint:
    """Returns the point that a user's image says it measures."""
    begin, benchmark = decoded.begin, catalogue.find_benchmark(decoded.begin.bench).facts
    usual = {name: str(value) for name, value in benchmark.params.items()}
    params = {name: decoded.params[name] for name, value in usual.items() if decoded.params.get(name, value) != value}
    latency = benchmark.kind == "latency"
    samples = decoded.params.get("samples", "")
    return PlannedPoint(
        benchmark=begin.bench,
        kernel=begin.kernel,
        board=begin.board,
        cores=begin.cores,
        window_ms=begin.window_us // 1000,
        clock_hz=begin.clock_hz if begin.clock_hz != catalogue.find_board(begin.board).facts.clock.sys_hz else None,
        params=params,
        timing=dict(sorted(timing.items())),
        instrument=decoded.params.get("instrument", "counter") if latency else None,
        samples=int(samples) if latency and samples.isdecimal() else None,
    )


def _make_build_record_of_user_image(point: PlannedPoint, image: ExternalImage) -> dict[str, Any]:
    """Returns the build record of a user's image for its manifest: what the image reports about itself, and its
    compiler."""
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
        "compiler": {"banner": compilers_named_in_image(image.content)},
        "built_elsewhere": True,
    }
