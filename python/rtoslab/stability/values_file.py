"""`reference/stability/<paper>.ndjson`: the values that a paper's statements need, in every build and placement.

Each line is a JSON object. The first has the factors, the builds and the rows of each build. Then come the rows, each
with its values by placement. The last line is the SHA-256 of all others. Verdicts are not stored. They are computed
from the values when the file is read."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rtoslab.analyses import MeasuredValue
from rtoslab.base import AlteredFileError, make_folder, write_file_atomically
from rtoslab.intake import STORED_BYTES, parse_json_object, read_text
from rtoslab.reference import (
    StoredPointValues,
    json_lines_with_digest,
    stored_row_as_json,
    stored_row_from_json,
    verify_and_strip_digest_line,
)
from rtoslab.stability.builds import BuildVariationFactor, KernelBuild

FORMAT: Final = 1


@dataclass(frozen=True)
class PaperClaimStabilityFile:
    """The content of a stability file: the values that a paper's statements need, in every build."""

    paper: str
    placements: int
    factors: tuple[BuildVariationFactor, ...]
    builds: tuple[KernelBuild, ...]
    rows_by_build: tuple[tuple[int, ...], ...]
    """The numbers of each build's rows."""
    rows: tuple[StoredPointValues, ...]
    made_by: Mapping[str, str]
    """The version of rtoslab, its commit, the digest of the virtual board's sources, the compiler."""

    @property
    def port_contract_deviations_by_kernel(self) -> dict[str, dict[str, str]]:
        """Returns each kernel's declared deviations from the port contract, by kernel."""
        by_kernel: dict[str, dict[str, str]] = {}
        for row in self.rows:
            if row.deviations:
                by_kernel.setdefault(row.kernel, {}).update(row.deviations)
        return by_kernel

    def measured_values_of_build(self, build: int) -> list[MeasuredValue]:
        """Returns all measured values of the build with this number."""
        return [value for number in self.rows_by_build[build] for value in self.rows[number].values]


def stability_file_path(root: Path, paper: str) -> Path:
    """Returns the path of the file with a paper's values in all builds."""
    return root / "reference" / "stability" / f"{paper}.ndjson"


def write_stability_file(path: Path, stored: PaperClaimStabilityFile) -> None:
    """Writes a stability file with its seal. Raises StoreError if the disk refuses it."""
    head = {
        "format": FORMAT,
        "paper": stored.paper,
        "placements": stored.placements,
        "factors": [[factor.name, list(factor.levels)] for factor in stored.factors],
        "builds": [list(build.levels) for build in stored.builds],
        "members": [list(member) for member in stored.rows_by_build],
        "made_by": dict(stored.made_by),
    }
    make_folder(path.parent)
    write_file_atomically(
        path, json_lines_with_digest([head, *(stored_row_as_json(row) for row in stored.rows)]), "the values of builds"
    )


def read_stability_file(path: Path) -> PaperClaimStabilityFile:
    """Returns the content of a stability file. Raises AlteredFileError naming it if it is damaged or of another
    format."""
    text = read_text(path, "the values of builds", AlteredFileError, STORED_BYTES)
    try:
        head, *rows = (parse_json_object(line) for line in verify_and_strip_digest_line(text))
        return _parse_stability_file(path, head, rows)
    except (ValueError, LookupError, TypeError, AttributeError) as cause:
        why = cause if type(cause) is ValueError else type(cause).__name__
        raise AlteredFileError(
            f"{path} cannot be read as values of builds ({why}); restore the file, or measure the values again "
            f"with `rtoslab stability {path.stem} --measure`."
        ) from None


def _parse_stability_file(
    path: Path, head: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]
) -> PaperClaimStabilityFile:
    """Returns the content of a parsed stability file. Raises ValueError if it contradicts itself."""
    if (head["format"], head["paper"]) != (FORMAT, path.stem):
        raise ValueError("its format or paper is another one")
    stored = tuple(stored_row_from_json(f"row {number}", line) for number, line in enumerate(rows))
    members = tuple(tuple(int(number) for number in item) for item in head["members"])
    builds = tuple(KernelBuild(tuple(map(str, item))) for item in head["builds"])
    factors = tuple(BuildVariationFactor(str(name), tuple(map(str, levels))) for name, levels in head["factors"])
    if len(members) != len(builds) or any(not 0 <= item < len(stored) for build in members for item in build):
        raise ValueError("its builds refer to missing rows")
    if any(len(item.levels) != len(factors) for item in builds):
        raise ValueError("its builds have factors that are not declared")
    made_with = {str(key): str(value) for key, value in head["made_by"].items()}
    return PaperClaimStabilityFile(
        str(head["paper"]), int(head["placements"]), factors, builds, members, stored, made_with
    )
