"""One point through all stages: build, conform, run, decode, prove, store. Every way it can fail becomes a result.

Errors of the environment (no compiler, full disk) are raised. Errors of the point are results, because the other
points of the experiment are still worth having.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from rtoslab.base import (
    AlteredFileError,
    BuildError,
    ConformanceError,
    RefusedError,
    RunError,
    SettingError,
    StoreError,
    UnknownNameError,
    file_contents_cache,
    to_canonical_json,
)
from rtoslab.catalogue import Catalogue
from rtoslab.conformance import ConformanceVerdict, check_port_conformance
from rtoslab.images import LOG, BuiltImage, build_measurement_point_image
from rtoslab.measure.evaluation import decode_and_judge_output, make_failed_measurement
from rtoslab.measure.identity import identity_of_point
from rtoslab.measure.pair_images import DualKernelImagePair, build_pair_images
from rtoslab.measure.point_result import point_folder_files
from rtoslab.measure.virtual_job import make_virtual_benchmark_job
from rtoslab.plan import PlannedPoint
from rtoslab.records import require_files_match_seal
from rtoslab.results import FailedMeasurement, MeasuredPoint, NotApplicableMeasurement, PointId
from rtoslab.store import (
    CONFORMANCE_FILE,
    AnyResult,
    ResultCache,
    RunDirectory,
    add_digests_to_point_files,
    failed_result_for_altered_files,
    make_measurement_manifest,
    manifest_hash,
    measurement_result_cache_key,
    parse_measurement_point_files,
    point_folder_name,
    real_board_manifest_part,
    store_point_files,
    virtual_board_manifest_entries,
)
from rtoslab.targets import Progress, RunOutput, VirtualBoardMachine, run_virtual_benchmark

Runner = Callable[[BuiltImage, Progress], RunOutput]


@dataclass(frozen=True, slots=True)
class MeasurementPointOutcome:
    """The result of a point in this call, and whether it was measured, cached or already stored."""

    result: AnyResult
    folder: Path
    fresh: bool
    """False if the result was already in the run directory."""
    cached: bool = False
    """Whether the result was measured before under the same manifest and taken from the cache."""
    note: str = ""
    """A message to the user beside the result. May be empty."""


@dataclass(frozen=True, slots=True)
class MeasureOptions:
    """Options of a measurement: whether to measure known points again, and to skip refused ones."""

    again: bool = False
    """Measure even if the result is known. Raises StoreError if the bytes differ."""
    skip_refused: bool = False
    """A combination that the firmware's build files refuse is n/a with their reason, not a failure."""


def measure_and_store_point(
    catalogue: Catalogue,
    point: PlannedPoint,
    run: RunDirectory,
    progress: Progress = lambda *_: None,
    runner: Runner | None = None,
    options: MeasureOptions = MeasureOptions(),
) -> MeasurementPointOutcome:
    """Builds, runs, proves and stores one point. A point that the run directory or the cache already has is not run
    again. `runner` replaces the virtual board, and then nothing is cached."""
    identity = identity_of_point(catalogue, point)
    if point.not_applicable is not None:
        missing = NotApplicableMeasurement(run_id="0" * 16, point=identity, reason=point.not_applicable)
        return _store_unmeasured_result(run, identity, missing, {}, {})
    progress("building", 0.0)
    try:
        with file_contents_cache():
            built = build_measurement_point_image(catalogue, point)
            conformance = check_port_conformance(catalogue, point, progress)
            pair = build_pair_images(catalogue, point, built)
    except BuildError as cause:
        if options.skip_refused and isinstance(cause, RefusedError):
            missing = NotApplicableMeasurement(run_id="0" * 16, point=identity, reason=cause.reason)
            return _store_unmeasured_result(run, identity, missing, {}, {})
        failed = FailedMeasurement(
            run_id="0" * 16, point=identity, stage="build", error=type(cause).__name__, message=str(cause)
        )
        return MeasurementPointOutcome(
            failed, run.path, fresh=True
        )  # not stored: the next try may find the cause mended
    board = catalogue.find_board(point.board).facts
    target = real_board_manifest_part(board) if runner else virtual_board_manifest_entries(catalogue.root, point, board)
    manifest = make_measurement_manifest(point, board, built, target, conformance.outcomes_by_conformance_check())
    if pair is not None:
        manifest["beside"] = pair.record
    run_id = manifest_hash(manifest)[:16]
    folder = point_folder_name(identity, run_id)
    place = run.point_path(folder)
    try:
        if run.contains_point(folder) and not options.again:
            return MeasurementPointOutcome(run.read_measured_point(folder).result, place, fresh=False)
        return _load_or_measure_point(
            catalogue,
            point,
            run,
            _PreparedMeasurementPoint(identity, run_id, built, conformance, manifest, pair),
            progress,
            runner,
            options,
        )
    except AlteredFileError as cause:
        return MeasurementPointOutcome(failed_result_for_altered_files(identity, cause), place, fresh=False)


@dataclass(frozen=True, slots=True)
class _PreparedMeasurementPoint:
    """A point that is ready to run: its image was built and its kernel's port passed the conformance suite."""

    identity: PointId
    run_id: str
    built: BuiltImage
    conformance: ConformanceVerdict
    manifest: dict[str, object]
    pair: DualKernelImagePair | None

    @property
    def folder_name(self) -> str:
        """Returns the name of the folder in which the point is stored."""
        return point_folder_name(self.identity, self.run_id)


def _load_or_measure_point(
    catalogue: Catalogue,
    point: PlannedPoint,
    run: RunDirectory,
    job: _PreparedMeasurementPoint,
    progress: Progress,
    runner: Runner | None,
    options: MeasureOptions,
) -> MeasurementPointOutcome:
    """Takes a point from the cache or measures it, and stores it in the run directory. Raises StoreError."""
    other = run.find_measurement_with_other_manifest(job.folder_name)
    if other is not None:
        raise StoreError(
            f"{other} was measured with another build or virtual board; choose another --out to measure again."
        )
    if runner is not None:
        return _store_measurement_point_files(
            run, job.folder_name, _run_benchmark_and_check_proofs(catalogue, job, progress, runner), cached=False
        )
    results, key = (
        ResultCache.open_cache_of_checkout(catalogue.root),
        measurement_result_cache_key(job.manifest, job.identity),
    )
    with results.exclusive_lock(key):
        known, note = _find_cached_measurement_files(results, key, job.folder_name)
        if known is not None and not options.again:
            return replace(_store_measurement_point_files(run, job.folder_name, known, cached=True), note=note)
        files = _run_benchmark_and_check_proofs(
            catalogue, job, progress, _virtual_board_runner(catalogue, point, job.pair)
        )
        outcome = _store_measurement_point_files(run, job.folder_name, files, cached=False)
        store_point_files(results, key, files)
    return replace(outcome, note=note)


def _find_cached_measurement_files(results: ResultCache, key: str, folder: str) -> tuple[dict[str, bytes] | None, str]:
    """Returns the files of a cached point or None, and a note for the user. Damaged files are removed, and the note
    says so."""
    try:
        files = results.read_point_files(key)
        if files is not None:
            require_files_match_seal(folder, files, results.point_path(key))
            parse_measurement_point_files(files)
    except (AlteredFileError, ValueError) as cause:
        why = str(cause) if isinstance(cause, AlteredFileError) else f"{results.point_path(key)} is damaged."
        results.remove_point(key)
        return None, f"{why.partition(';')[0].rstrip('.')}: the point was measured again."
    return files, ""


def _run_benchmark_and_check_proofs(
    catalogue: Catalogue, job: _PreparedMeasurementPoint, progress: Progress, runner: Runner
) -> dict[str, bytes]:
    """Runs and proves a point and returns its files."""
    files = {
        LOG: (job.built.folder / LOG).read_bytes(),
        CONFORMANCE_FILE: to_canonical_json(job.conformance.model_dump(mode="json")).encode(),
    }
    try:
        job.conformance.require_port_conforms()
    except ConformanceError as cause:
        return add_digests_to_point_files(
            job.folder_name,
            make_failed_measurement(job.identity, job.run_id, "conformance", cause),
            job.manifest,
            files,
        )
    output = runner(job.built, progress)
    progress("decoding", 1.0)
    result = decode_and_judge_output(catalogue, job.identity, job.run_id, output, job.built.expected)
    if isinstance(result, MeasuredPoint):
        result = result.model_copy(update={"deviations": job.conformance.contract_deviation_reasons})
    return point_folder_files(job.folder_name, result, job.manifest, output, job.built.elf_path, files)


def _store_measurement_point_files(
    run: RunDirectory, folder: str, files: dict[str, bytes], *, cached: bool
) -> MeasurementPointOutcome:
    """Stores a point's files in the run directory. Raises StoreError if others are stored."""
    fresh = store_point_files(run, folder, files)
    return MeasurementPointOutcome(
        parse_measurement_point_files(files)[0], run.point_path(folder), fresh=fresh, cached=cached
    )


def _virtual_board_runner(
    catalogue: Catalogue,
    point: PlannedPoint,
    pair: DualKernelImagePair | None,
    machine: VirtualBoardMachine | None = None,
) -> Runner:
    """Returns a function that runs an image on the virtual board. A failed run gives an output with the failure."""

    def run_image_on_virtual_board(built: BuiltImage, progress: Progress) -> RunOutput:
        """Runs an image on the virtual board and returns its output."""
        beside = pair.bytes_of_both_images() if pair is not None else None
        job = make_virtual_benchmark_job(catalogue, point, built.elf_path.read_bytes(), built.elf_path.name, beside)
        try:
            return run_virtual_benchmark(job, progress, machine)
        except (SettingError, UnknownNameError):
            raise
        except RunError as cause:
            return RunOutput(b"", failure=str(cause))

    return run_image_on_virtual_board


def _store_unmeasured_result(
    run: RunDirectory,
    identity: PointId,
    result: AnyResult,
    manifest: dict[str, object],
    files: dict[str, bytes],
    run_id: str = "na",
) -> MeasurementPointOutcome:
    """Stores the result of a point that was not measured."""
    name = point_folder_name(identity, run_id)
    if run.contains_point(name):
        return MeasurementPointOutcome(result, run.point_path(name), fresh=False)
    return MeasurementPointOutcome(
        result, run.add_measurement_point_to_store(name, result, manifest, files), fresh=True
    )
