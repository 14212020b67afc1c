"""`reference/stability/<paper>.ndjson`: the values that a paper's statements need, in every build and placement.

Each line is a JSON object. The first has the factors, the builds and the rows of each build. Then come the rows, each
with its values by placement. The last line is the SHA-256 of all others. Verdicts are not kept. They are computed from
the values when the file is read.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from rtoslab.analyses import Band, PlacedValues, Value, placed_values, values
from rtoslab.base import AlteredError, make_folder, write_whole
from rtoslab.intake import STORED_BYTES, parse_object, read_text
from rtoslab.reference import seal_lines, unseal_lines
from rtoslab.results import Measured, PointId
from rtoslab.stability.builds import Build, Factor

FORMAT: Final = 1


@dataclass(frozen=True)
class StoredRow:
    """One point of the suites in one configuration, with its values by placement."""

    stands_for: PointId
    kernel: str
    """The id of the tree or kernel that was measured, and its version."""
    version: str
    values: tuple[Value, ...]
    reason: str = ""
    """Why there are no values."""
    deviations: Mapping[str, str] = field(default_factory=dict)
    """The checks of the port contract that the kernel fails as declared, and what was seen."""


@dataclass(frozen=True)
class StoredStability:
    """One file."""

    paper: str
    placements: int
    factors: tuple[Factor, ...]
    builds: tuple[Build, ...]
    members: tuple[tuple[int, ...], ...]
    """For each build the numbers of its rows."""
    rows: tuple[StoredRow, ...]
    made_by: Mapping[str, str]
    """Version of rtoslab, its commit, the digest of the virtual board's sources, the compiler."""

    @property
    def deviations(self) -> dict[str, dict[str, str]]:
        """By kernel, what it does against the port contract as it declares."""
        found: dict[str, dict[str, str]] = {}
        for row in self.rows:
            if row.deviations:
                found.setdefault(row.kernel, {}).update(row.deviations)
        return found

    def values(self, build: int) -> list[Value]:
        """Returns all values of one build."""
        return [value for number in self.members[build] for value in self.rows[number].values]


def stability_path(root: Path, paper: str) -> Path:
    """Returns the path of the values of a paper's builds."""
    return root / "reference" / "stability" / f"{paper}.ndjson"


def row_values(points: Sequence[Measured], stands_for: PointId) -> tuple[Value, ...]:
    """Returns the values of one point, which is given in each of its placements, as values of another point."""
    known = placed_values(points)
    return _with_numbers(points[0], stands_for, known)


def _with_numbers(first: Measured, stands_for: PointId, known: PlacedValues) -> tuple[Value, ...]:
    times: Counter[tuple[str, str, str]] = Counter()
    found = []
    for each in values([first]):
        key = (each.metric, each.stat, each.unit)
        numbers = known.of(each, times[key])
        times[key] += 1
        if numbers:
            found.append(_placed(replace(each, point=stands_for), numbers))
    return tuple(found)


def _placed(value: Value, numbers: Sequence[float]) -> Value:
    band = Band(tuple(numbers)) if len(numbers) > 1 else None
    return replace(value, value=numbers[0] if band is None else band.median, band=band)


def write_stability(path: Path, stored: StoredStability) -> None:
    """Writes one file, sealed. Raises StoreError if the disk refuses it."""
    head = {
        "format": FORMAT,
        "paper": stored.paper,
        "placements": stored.placements,
        "factors": [[each.name, list(each.levels)] for each in stored.factors],
        "builds": [list(each.levels) for each in stored.builds],
        "members": [list(each) for each in stored.members],
        "made_by": dict(stored.made_by),
    }
    make_folder(path.parent)
    write_whole(path, seal_lines([head, *(_row_json(each) for each in stored.rows)]), "the values of builds")


def read_stability(path: Path) -> StoredStability:
    """Returns one file. Raises AlteredError naming it if it is not what was written, or of another format."""
    text = read_text(path, "the values of builds", AlteredError, STORED_BYTES)
    try:
        head, *rows = (parse_object(each) for each in unseal_lines(text))
        return _stored(path, head, rows)
    except (ValueError, LookupError, TypeError, AttributeError) as cause:
        why = cause if type(cause) is ValueError else type(cause).__name__
        raise AlteredError(
            f"{path} holds no values of builds that can be read ({why}); restore it, or measure them again with "
            f"`rtoslab stability {path.stem} --measure`."
        ) from None


def _stored(path: Path, head: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]) -> StoredStability:
    if (head["format"], head["paper"]) != (FORMAT, path.stem):
        raise ValueError("it says another format or paper")
    stored = tuple(_row(number, each) for number, each in enumerate(rows))
    members = tuple(tuple(int(number) for number in each) for each in head["members"])
    builds = tuple(Build(tuple(map(str, each))) for each in head["builds"])
    factors = tuple(Factor(str(name), tuple(map(str, levels))) for name, levels in head["factors"])
    if len(members) != len(builds) or any(not 0 <= each < len(stored) for build in members for each in build):
        raise ValueError("its builds name rows that it does not have")
    if any(len(each.levels) != len(factors) for each in builds):
        raise ValueError("its builds have other factors than it names")
    made_by = {str(key): str(value) for key, value in head["made_by"].items()}
    return StoredStability(str(head["paper"]), int(head["placements"]), factors, builds, members, stored, made_by)


def _row_json(row: StoredRow) -> dict[str, Any]:
    told: dict[str, Any] = {"point": row.stands_for.model_dump(mode="json"), "kernel": row.kernel}
    told |= {"version": row.version} | ({"deviations": dict(row.deviations)} if row.deviations else {})
    if row.reason:
        return told | {"reason": row.reason}
    first = row.values[0] if row.values else None
    shared = {"clock_hz": first.clock_hz, "params": dict(first.params), "counted": first.counted} if first else {}
    numbers = [
        [each.metric, each.stat, each.unit, each.n, [_plain(one) for one in each.placed.values]] for each in row.values
    ]
    return told | shared | {"values": numbers}


def _row(number: int, line: Mapping[str, Any]) -> StoredRow:
    point = PointId.model_validate(line["point"])
    reason = str(line.get("reason", ""))
    found = tuple(
        _placed(
            Value(
                point=point,
                run_id=f"row {number}",
                clock_hz=int(line["clock_hz"]),
                params={str(key): str(value) for key, value in line["params"].items()},
                counted=str(line["counted"]),
                metric=str(metric),
                stat=str(stat),
                value=0.0,
                unit=str(unit),
                n=int(n),
            ),
            [float(each) for each in numbers],
        )
        for metric, stat, unit, n, numbers in line.get("values", ())
    )
    deviations = {str(check): str(saw) for check, saw in line.get("deviations", {}).items()}
    return StoredRow(point, str(line["kernel"]), str(line["version"]), found, reason, deviations)


def _plain(number: float) -> float:
    """A whole number without its decimal point: most are counts of cycles."""
    return int(number) if number == int(number) else number
