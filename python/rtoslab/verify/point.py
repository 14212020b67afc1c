"""Verifies one stored point: its seal, its name, its manifest, and its result computed again from the raw data."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rtoslab.base import RtoslabError, build_folder, sha256_of_file
from rtoslab.catalogue import Catalogue
from rtoslab.conformance import ConformanceVerdict
from rtoslab.images import IMAGE
from rtoslab.measure import decode_and_judge_output, result_fields_from_image
from rtoslab.records import ExpectedImageIdentity, find_unexpected_files, read_and_verify_sealed_folder
from rtoslab.results import FailedMeasurement, MeasuredPoint, NotApplicableMeasurement
from rtoslab.store import (
    CONFORMANCE_FILE,
    EVIDENCE_FILE,
    MANIFEST,
    RESULT,
    UART,
    AnyResult,
    decode_evidence_file,
    flatten_nested_json,
    manifest_hash,
    parse_measurement_point_files,
    point_folder_name,
)
from rtoslab.targets import RunOutput, catalogue_with_kernel

MOST_DIFFERENCES = 5
"""So many differences of a point are named. Of the others only the number is."""
_COUNTED_LATER: Final = ".instructions"
"""The end of the key of a value that older points do not have."""


@dataclass(frozen=True, slots=True)
class VerifiedPoint:
    """The result of a check of one stored point or sweep: the differences from its raw data."""

    folder: Path
    differences: tuple[str, ...]
    """Sentences on stored values that do not follow from the raw data. Empty: all agree."""
    remarks: tuple[str, ...] = ()
    """Values that could not be computed again, with the reason."""


def verify_stored_point(catalogue: Catalogue, folder: Path) -> VerifiedPoint:
    """Checks a stored point against its raw data. It never raises an error for the folder's content, but returns it."""
    try:
        files = read_and_verify_sealed_folder(folder)
        result, manifest = parse_measurement_point_files(files)
    except RtoslabError as cause:
        return VerifiedPoint(folder, (str(cause),))
    except ValueError as cause:
        return VerifiedPoint(folder, (f"{folder / RESULT} is not a result of this version ({type(cause).__name__}).",))
    remarks = [f"{name} is not one of the point's files." for name in find_unexpected_files(folder, files)]
    differences = list(_manifest_identity_contradictions(folder.name, result, manifest))
    try:
        differences += _conformance_differences(files, manifest)
        if not isinstance(result, NotApplicableMeasurement) and UART in files:
            again, remark = _recompute_result_from_raw_data(catalogue, files, result, manifest)
            differences += list(_differences_from_recomputed_result(result, again))
            remarks += remark
    except (RtoslabError, KeyError, ValueError, TypeError) as cause:
        differences.append(f"the point could not be computed again: {cause}")
    return VerifiedPoint(folder, tuple(differences), tuple(remarks))


def _manifest_identity_contradictions(name: str, result: AnyResult, manifest: Mapping[str, Any]) -> Iterator[str]:
    """Yields a sentence for each part of a point's folder name and identity that its manifest contradicts."""
    if isinstance(result, NotApplicableMeasurement):
        if name != point_folder_name(result.point, "na"):
            yield f"the folder's name is not that of the point in {RESULT}."
        return
    run_id = manifest_hash(dict(manifest))[:16]
    if result.run_id != run_id:
        yield f"{RESULT} has the run id {result.run_id}, but the hash of {MANIFEST} gives {run_id}."
    if name != point_folder_name(result.point, result.run_id):
        yield f"the folder's name is not that of the point in {RESULT}."
    build = manifest.get("build", {})
    axes = {"benchmark": "bench", "kernel": "kernel", "board": "board", "cores": "cores", "window_ms": "window_ms"}
    for axis, key in axes.items():
        if getattr(result.point, axis) != build.get(key):
            yield f"{RESULT} says {axis} is {getattr(result.point, axis)!r}, {MANIFEST} {build.get(key)!r}."


def _conformance_differences(files: Mapping[str, bytes], manifest: Mapping[str, Any]) -> list[str]:
    """Returns a sentence if the stored conformance verdict is not the one in the manifest."""
    if CONFORMANCE_FILE not in files:
        return []
    verdict = ConformanceVerdict.model_validate_json(files[CONFORMANCE_FILE])
    if verdict.outcomes_by_conformance_check() != manifest.get("conformance"):
        return [f"{CONFORMANCE_FILE} contradicts the conformance results in {MANIFEST}."]
    return []


def _recompute_result_from_raw_data(
    catalogue: Catalogue,
    files: Mapping[str, bytes],
    result: MeasuredPoint | FailedMeasurement,
    manifest: Mapping[str, Any],
) -> tuple[AnyResult, list[str]]:
    """Computes a stored result again from its raw data. Returns it, and remarks on values that could not be
    computed."""
    build = manifest["build"]
    expected = ExpectedImageIdentity(run=build["run_id"], manifest=int(build["manifest"], 16))
    remarks = []
    if EVIDENCE_FILE in files:
        output = decode_evidence_file(files[EVIDENCE_FILE], files[UART])
    else:
        output = RunOutput(files[UART])
        if manifest["target"]["kind"] == "virtual":
            raise ValueError(f"{EVIDENCE_FILE} is missing, so the proofs cannot be checked.")
    if build.get("built_elsewhere"):
        catalogue = catalogue_with_kernel(catalogue, result.point.kernel, result.point.cores)
    again = decode_and_judge_output(catalogue, result.point, result.run_id, output, expected)
    if isinstance(again, MeasuredPoint) and isinstance(result, MeasuredPoint):
        image = _find_stored_image(catalogue, manifest)
        if image is None:
            remarks.append("the image's size and code were not checked, because no image with this hash is stored.")
        fields = {"image": result.image, "code": result.code}
        again = again.model_copy(update=fields if image is None else result_fields_from_image(again, image))
        if CONFORMANCE_FILE in files:
            verdict = ConformanceVerdict.model_validate_json(files[CONFORMANCE_FILE])
            again = again.model_copy(update={"deviations": verdict.contract_deviation_reasons})
    return again, remarks


def _find_stored_image(catalogue: Catalogue, manifest: Mapping[str, Any]) -> Path | None:
    """Returns the path of the image that was run. None if it does not exist here any more."""
    run_id, stated = manifest["build"]["run_id"], manifest["elf_sha256"]
    folders = build_folder(catalogue.root).glob(f"*-{run_id}")
    images = (folder / IMAGE for folder in folders if (folder / IMAGE).is_file())
    return next((image for image in images if sha256_of_file(image) == stated), None)


def _differences_from_recomputed_result(stored: AnyResult, again: AnyResult) -> list[str]:
    """Returns a sentence for each value that differs between the stored result and the one computed again."""
    if stored.status != again.status:
        why = f": {again.message}" if isinstance(again, FailedMeasurement) else ""
        return [f"{RESULT} says {stored.status}, but computed again the point is {again.status}{why}"]
    one, two = (_flatten_values(result.model_dump(mode="json")) for result in (stored, again))
    differences = [
        f"{key} is stored as {one.get(key, 'nothing')}, computed {two.get(key, 'nothing')}."
        for key in sorted({*one, *two})
        if one.get(key) != two.get(key) and not (one.get(key) == "null" and key.endswith(_COUNTED_LATER))
    ]
    more = len(differences) - MOST_DIFFERENCES
    return differences if more <= 0 else [*differences[:MOST_DIFFERENCES], f"and {more:,} more values."]


def _flatten_values(value: Any) -> dict[str, str]:
    """Returns all values in a nested value by keys such as `a.b.0`. Items of lists have their index as key."""
    return flatten_nested_json(_replace_lists_by_index_mappings(value))


def _replace_lists_by_index_mappings(value: Any) -> Any:
    """Returns the value with each list as a mapping from index to item."""
    if isinstance(value, dict):
        return {str(key): _replace_lists_by_index_mappings(item) for key, item in value.items()}
    if isinstance(value, list):
        return {str(place): _replace_lists_by_index_mappings(item) for place, item in enumerate(value)} or []
    return value
