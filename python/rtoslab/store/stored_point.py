"""One point as the sealed files of its folder: its name, and how it is written and read."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rtoslab.base import AlteredFileError, to_canonical_json
from rtoslab.intake import parse_json_object
from rtoslab.records import add_file_listing_digests, read_and_verify_sealed_folder
from rtoslab.results import (
    COLUMNS,
    SAMPLES_FILE,
    FailedMeasurement,
    MeasuredPoint,
    NotApplicableMeasurement,
    PointId,
    ResultFile,
    encode_sample_file,
    join_latency_series_with_samples,
)
from rtoslab.store.folder_names import measurement_folder_name_prefix

RESULT = "result.json"
MANIFEST = "manifest.json"
UART = "uart.txt"
CONFORMANCE_FILE = "conformance.json"

AnyResult = MeasuredPoint | FailedMeasurement | NotApplicableMeasurement


@dataclass(frozen=True, slots=True)
class StoredMeasurementPoint:
    """A point that was read from its folder."""

    folder: Path
    result: AnyResult
    manifest: dict[str, object]


def point_folder_name_start(identity: PointId) -> str:
    """Returns the beginning of a point's folder name: benchmark, kernel, board and cores, then a hash of the whole
    identity."""
    digest = hashlib.sha256(identity.model_dump_json().encode()).hexdigest()[:6]
    named = measurement_folder_name_prefix(identity.benchmark, identity.kernel, identity.board, identity.cores)
    return f"{named}-{digest}"


def point_folder_name(identity: PointId, run_id: str) -> str:
    """Returns the name of a point's folder: its benchmark, kernel, board and cores, then the run id (a hash of its
    manifest)."""
    return f"{point_folder_name_start(identity)}-{run_id}"


def failed_result_for_altered_files(identity: PointId, cause: AlteredFileError) -> FailedMeasurement:
    """Returns the failed result that stands for a point whose files were altered."""
    return FailedMeasurement(
        run_id="0" * 16, point=identity, stage="store", error=AlteredFileError.__name__, message=str(cause)
    )


def add_digests_to_point_files(
    name: str, result: AnyResult, manifest: Mapping[str, object], files: Mapping[str, bytes]
) -> dict[str, bytes]:
    """Returns a point as the sealed files of the folder `name`: `files`, and those with the result and its manifest."""
    contents = {MANIFEST: to_canonical_json(dict(manifest)).encode(), **files}
    series = result.series if isinstance(result, MeasuredPoint) else ()
    if series:
        contents[SAMPLES_FILE] = encode_sample_file(series)
    apart = {"series": {"__all__": set(COLUMNS)}} if series else {"series"}
    contents[RESULT] = to_canonical_json(result.model_dump(mode="json", exclude=apart)).encode()
    return add_file_listing_digests(name, contents)


def parse_measurement_point_files(files: Mapping[str, bytes]) -> tuple[AnyResult, dict[str, object]]:
    """Returns the result and the manifest from a point's files, whose seal was checked. Raises ValueError for files of
    another version of rtoslab."""
    try:
        stored, manifest = parse_json_object(files[RESULT]), parse_json_object(files[MANIFEST])
        if stored.get("series"):
            stored["series"] = join_latency_series_with_samples(stored["series"], files[SAMPLES_FILE])
        return ResultFile.model_validate({"result": stored}).result, manifest
    except (KeyError, TypeError, AttributeError) as cause:
        raise ValueError(f"not a point of this version ({type(cause).__name__})") from None


def read_point_folder(folder: Path) -> StoredMeasurementPoint:
    """Returns one finished point from its folder, after a check of every file. Raises AlteredFileError, which names the
    file."""
    try:
        result, manifest = parse_measurement_point_files(read_and_verify_sealed_folder(folder))
    except ValueError as cause:
        raise AlteredFileError(
            f"{folder / RESULT} is not a result of this version ({type(cause).__name__}); delete the folder "
            f"{folder} and run again."
        ) from None
    return StoredMeasurementPoint(folder, result, manifest)
