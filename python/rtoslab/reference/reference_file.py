"""`reference/<paper>/<kernel>.jsonl`: the points of a paper with one kernel, measured here once and stored with the
code.

One JSON object a line: what all points share, then each point in the linker's own order (its result with distributions
in place of samples, and its own part of the manifest), then the values of points that were measured in further
placements, then the sizes of minimal programs (each with its whole manifest), last the SHA-256 of the lines before. No
image, no raw sample, no path of a machine."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from rtoslab.analyses import (
    ValuesByCodePlacement,
    code_placement_number_text,
    group_measurements_over_code_placements,
    point_values_by_code_placement,
)
from rtoslab.base import AlteredFileError, StoreError, make_folder, write_file_atomically
from rtoslab.intake import SERIAL_VALUES, STORED_BYTES, parse_json_object, read_text
from rtoslab.reference.distributions import (
    count_distribution_values,
    expand_sample_distribution,
    samples_to_distribution,
)
from rtoslab.reference.sealed_lines import json_lines_with_digest, verify_and_strip_digest_line
from rtoslab.reference.shared_parts import (
    common_keys_and_values,
    merge_object_with_common_part,
    remove_shared_mapping_entries,
)
from rtoslab.results import BuildOnlyProgramSize, MeasuredPoint, NotApplicableMeasurement, PointId, ResultFile
from rtoslab.store import StoredMeasurementPoint

FOLDER: Final = "reference"
FORMAT: Final = 1
_WEIGHT: Final = "weight"
_PLACED: Final = "placed"


@dataclass(frozen=True, slots=True)
class StoredProgramSize:
    """The size of a kernel's program as a reference file stores it, and how it was built."""

    path: Path
    weight: BuildOnlyProgramSize
    manifest: dict[str, object]


@dataclass(frozen=True, slots=True)
class ReferenceResultsFile:
    """The content of a reference file: a paper's points with one kernel, and the sizes of its programs."""

    path: Path
    paper: str
    kernel: str
    points: tuple[StoredMeasurementPoint, ...]
    weights: tuple[StoredProgramSize, ...] = ()
    placed: tuple[ValuesByCodePlacement, ...] = ()
    """The values of its points in all their placements. The first is the one of `points`."""


def reference_file_path(root: Path, paper: str, kernel: str) -> Path:
    """Returns the path of the reference file that has a paper's points with one kernel."""
    return root / FOLDER / paper / f"{kernel}.jsonl"


def reference_file_paths(root: Path, paper: str = "*") -> list[Path]:
    """Returns the paths of all reference files of a paper (by default, of all papers)."""
    return sorted((root / FOLDER).glob(f"{paper}/*.jsonl"))


def write_reference_file(
    path: Path, points: Sequence[StoredMeasurementPoint], weights: Sequence[StoredProgramSize] = ()
) -> None:
    """Writes a reference file with the points that were measured or do not apply. Failed ones are left out.

    Raises StoreError. A point in several placements is written in the first, with its values in all. One that failed in
    the first placement is left out, whatever the others' results are.
    """
    own = [point for point in points if code_placement_number_text(point.result.point) == "0"]
    measured = [
        stored_point
        for stored_point in own
        if isinstance(stored_point.result, MeasuredPoint | NotApplicableMeasurement)
    ]
    groups = group_measurements_over_code_placements(
        point.result for point in points if isinstance(point.result, MeasuredPoint)
    )
    placed = [
        point_values_by_code_placement(group)
        for group in groups
        if len(group) > 1 and code_placement_number_text(group[0].point) == "0"
    ]
    if not any(isinstance(stored_point.result, MeasuredPoint) for stored_point in measured):
        raise StoreError(f"No point was measured, so {path.name} was not written; `rtoslab run` shows the reason.")
    common = common_keys_and_values(
        [stored_point.manifest for stored_point in measured if isinstance(stored_point.result, MeasuredPoint)]
    )
    objects = [
        {"format": FORMAT, "paper": path.parent.name, "kernel": path.stem, "manifest": common},
        *(_reference_point_as_json(stored_point, common) for stored_point in measured),
        *(_values_as_json(values) for values in placed),
        *({_WEIGHT: weight.weight.model_dump(mode="json"), "manifest": weight.manifest} for weight in weights),
    ]
    make_folder(path.parent)
    write_file_atomically(path, json_lines_with_digest(objects), "the reference results")


def read_reference_file(path: Path, like_points: Collection[PointId] | None = None) -> ReferenceResultsFile:
    """Returns the content of a reference file.

    Raises AlteredFileError, which names the file, if it was altered or is of another version. `like_points`: read only
    points with a benchmark and board of these, and no sizes of programs. All references together take seconds to read,
    most of it for samples of points that nobody asked for.
    """
    text = read_text(path, "the reference results", AlteredFileError, STORED_BYTES)
    try:
        head, *lines = verify_and_strip_digest_line(text)
        header = _parse_header(path, head)
        parsed = list(
            _parse_reference_file_lines(
                lines if like_points is None else _candidate_reference_file_lines(like_points, lines)
            )
        )
        points = tuple(
            _reference_measurement_from_json(path, point, header["manifest"]) for point in parsed if "result" in point
        )
        placed = tuple(_code_placement_values_from_json(point[_PLACED]) for point in parsed if _PLACED in point)
        weights = tuple(_program_size_from_json(path, point) for point in parsed if _WEIGHT in point)
    except (ValueError, LookupError, TypeError, AttributeError) as cause:
        why = cause if type(cause) is ValueError else type(cause).__name__
        raise AlteredFileError(
            f"{path} cannot be read as reference results ({why}); restore the file, or measure the results again "
            f"with `rtoslab kernel reference refresh {path.parent.name}`."
        ) from None
    return ReferenceResultsFile(path, header["paper"], header["kernel"], points, weights, placed)


def _candidate_reference_file_lines(points: Collection[PointId], lines: Iterable[str]) -> list[str]:
    """Returns the lines of a reference file that may contain one of these points."""
    prefixes = {
        tuple(f'"{key}":{json.dumps(getattr(point_id, key))}' for key in ("benchmark", "board")) for point_id in points
    }
    return [line for line in lines if any(all(part in line for part in parts) for parts in prefixes)]


def _parse_reference_file_lines(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yields the JSON object in each of these lines of a reference file.

    Raises ValueError for more samples than a record stream may have.
    """
    left = SERIAL_VALUES
    for line in lines:
        parsed = parse_json_object(line)
        left -= sum(count_distribution_values(series) for series in parsed.get("result", {}).get("series", ()))
        if left < 0:
            raise ValueError(f"its distributions have more than {SERIAL_VALUES:,} values")
        yield parsed


def _parse_header(path: Path, line: str) -> dict[str, Any]:
    """Returns the JSON object in the first line of a reference file. Raises ValueError if it is not what the path
    says."""
    header = parse_json_object(line)
    if (header["format"], header["paper"], header["kernel"]) != (FORMAT, path.parent.name, path.stem):
        raise ValueError("its format, paper or kernel is another one")
    return header


def with_kernel_name(point: StoredMeasurementPoint, kernel: str) -> StoredMeasurementPoint:
    """Returns the point with another name for its kernel."""
    identity = point.result.point.model_copy(update={"kernel": kernel})
    return replace(point, result=point.result.model_copy(update={"point": identity}))


def _reference_point_as_json(point: StoredMeasurementPoint, common: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a point as a JSON object for a reference file. `common`: what the manifests of all points share."""
    result = point.result
    dumped = result.model_dump(mode="json", exclude={"series", "code"})
    if isinstance(result, MeasuredPoint) and result.series:
        dumped["series"] = [samples_to_distribution(samples) for samples in result.series]
    return {
        "result": dumped,
        "manifest": remove_shared_mapping_entries(point.manifest, common) if isinstance(result, MeasuredPoint) else {},
    }


def _reference_measurement_from_json(
    path: Path, line: Mapping[str, Any], common: Mapping[str, Any]
) -> StoredMeasurementPoint:
    """Returns the point in a line of a reference file. `common`: what the manifests of all points share."""
    stored = line["result"]
    if "series" in stored:
        stored["series"] = [expand_sample_distribution(series) for series in stored["series"]]
    result = ResultFile.model_validate({"result": stored}).result
    manifest = merge_object_with_common_part(common, line["manifest"]) if isinstance(result, MeasuredPoint) else {}
    return StoredMeasurementPoint(path, result, manifest)


def _values_as_json(placed: ValuesByCodePlacement) -> dict[str, Any]:
    """Returns the values of a point in all placements as a JSON object."""
    values = [[*name, list(numbers)] for name, numbers in placed.by_name.items()]
    return {_PLACED: {"run_id": placed.run_id, "values": values}}


def _code_placement_values_from_json(line: Mapping[str, Any]) -> ValuesByCodePlacement:
    """Returns the values of a point in all placements from their JSON object."""
    by_name = {
        (str(metric), str(stat), str(unit), int(occurrence)): tuple(float(number) for number in numbers)
        for metric, stat, unit, occurrence, numbers in line["values"]
    }
    return ValuesByCodePlacement(str(line["run_id"]), by_name)


def _program_size_from_json(path: Path, line: Mapping[str, Any]) -> StoredProgramSize:
    """Returns the size of a program from a line of a reference file."""
    return StoredProgramSize(path, BuildOnlyProgramSize.model_validate(line[_WEIGHT]), line["manifest"])
