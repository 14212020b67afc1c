"""Stores the values of one point in all its placements as a line of JSON: figures without samples, evidence and
manifest.

A whole reference point takes some 13 kB, and a row 1 kB. The proofs need a new measurement of the point."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rtoslab.analyses import CodePlacementValueRange, MeasuredValue, point_values_by_code_placement, values_of_points
from rtoslab.images import build_error_without_log_path
from rtoslab.results import MeasuredPoint, PointId
from rtoslab.store import StoredMeasurementPoint


@dataclass(frozen=True)
class StoredPointValues:
    """The figures of one point in all its placements, without samples."""

    stands_for: PointId
    """The point whose values the row represents."""
    kernel: str
    """The id of the tree or kernel that was measured."""
    version: str
    values: tuple[MeasuredValue, ...]
    reason: str = ""
    """The reason why there are no values."""
    deviations: Mapping[str, str] = field(default_factory=dict)
    """The checks of the port contract that the kernel fails as declared, with the observation."""
    single_placement: bool = False
    """Whether it was measured in one placement only, though the placement may change its figures."""


def make_stored_row_of_code_placements(
    represented_point: PointId, kernel: str, points: Sequence[StoredMeasurementPoint], reason: str
) -> StoredPointValues:
    """Returns the row with a point's values in its measured placements. If none was measured, the row has the reason.

    `represented_point`: the point whose values they stand for.
    """
    measured = [point.result for point in points if isinstance(point.result, MeasuredPoint)]
    if not measured:
        return StoredPointValues(represented_point, kernel, "", (), build_error_without_log_path(reason))
    build: Any = next(point.manifest.get("build") or {} for point in points if isinstance(point.result, MeasuredPoint))
    version = str(build.get("kernel_version", ""))
    return StoredPointValues(
        represented_point,
        kernel,
        version,
        values_of_point_in_code_placements(measured, represented_point),
        deviations=measured[0].deviations,
    )


def values_of_point_in_code_placements(
    points: Sequence[MeasuredPoint], represented_point: PointId
) -> tuple[MeasuredValue, ...]:
    """Returns the values of one point, which is given in each of its placements, as values of `represented_point`."""
    known = point_values_by_code_placement(points)
    times: Counter[tuple[str, str, str]] = Counter()
    result = []
    for value in values_of_points([points[0]]):
        key = (value.metric, value.stat, value.unit)
        numbers = known.value_in_each_code_placement(value, times[key])
        times[key] += 1
        if numbers:
            result.append(replace_values_by_code_placement(replace(value, point=represented_point), numbers))
    return tuple(result)


def stored_row_as_json(row: StoredPointValues) -> dict[str, Any]:
    """Returns the row as a JSON object."""
    written: dict[str, Any] = {"point": row.stands_for.model_dump(mode="json"), "kernel": row.kernel}
    written |= {"version": row.version} | ({"deviations": dict(row.deviations)} if row.deviations else {})
    if row.reason:
        return written | {"reason": row.reason}
    written |= {"one_of_many": True} if row.single_placement else {}
    first = row.values[0] if row.values else None
    shared = (
        {"clock_hz": first.clock_hz, "params": dict(first.params), "counted": first.benchmark_metric} if first else {}
    )
    numbers = [
        [
            value.metric,
            value.stat,
            value.unit,
            value.n,
            [_without_decimal_point(number) for number in value.placement_band.values],
        ]
        for value in row.values
    ]
    return written | shared | {"values": numbers}


def stored_row_from_json(name: str, line: Mapping[str, Any]) -> StoredPointValues:
    """Returns a row from its JSON object. Its values have `name` as their run id.

    Raises ValueError, LookupError, TypeError.
    """
    point = PointId.model_validate(line["point"])
    reason = str(line.get("reason", ""))
    values = tuple(
        replace_values_by_code_placement(
            MeasuredValue(
                point=point,
                run_id=name,
                clock_hz=int(line["clock_hz"]),
                params={str(key): str(value) for key, value in line["params"].items()},
                benchmark_metric=str(line["counted"]),
                metric=str(metric),
                stat=str(stat),
                value=0.0,
                unit=str(unit),
                n=int(n),
            ),
            [float(number) for number in numbers],
        )
        for metric, stat, unit, n, numbers in line.get("values", ())
    )
    deviations = {str(check): str(saw) for check, saw in line.get("deviations", {}).items()}
    is_single = bool(line.get("one_of_many", False))
    return StoredPointValues(point, str(line["kernel"]), str(line["version"]), values, reason, deviations, is_single)


def replace_values_by_code_placement(value: MeasuredValue, numbers: Sequence[float]) -> MeasuredValue:
    """Returns the value with another number for each placement: their median, and their range if there are several."""
    band = CodePlacementValueRange(tuple(numbers)) if len(numbers) > 1 else None
    return replace(value, value=numbers[0] if band is None else band.median, band=band)


def _without_decimal_point(number: float) -> float:
    """Returns a whole number as an integer, because most are counts of cycles."""
    return int(number) if number == int(number) else number
