"""A baseline: the figures of some points and what made them, as a small text file fit for git.

baselines/NAME.toml     [manifest] what all points share, [rules] see `rules`,
                        [[point]] axes, figures and executed functions

It is sealed: figures that a hand changed would be a regression without a cause, or hide one.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from pydantic import Field

from rtoslab.analyses import NamedMetricValue, unit_of_measured_value
from rtoslab.base import (
    PlanError,
    StrictFileSchemaModel,
    digest_of_values,
    make_folder,
    toml_lines,
    toml_value,
    write_file_atomically,
)
from rtoslab.catalogue import read_validated_toml
from rtoslab.compare.brief_manifest import shorten_manifest_for_baseline
from rtoslab.compare.executions import ExecutedFunction
from rtoslab.compare.rules import parse_growth_limits
from rtoslab.compare.sides import ComparedMeasurementSet, MeasuredPointValues
from rtoslab.intake import require_file_name
from rtoslab.results import PointId

FORMAT = 2
UNSEALED: Final = 1
"""The format of baselines without a seal."""


class BaselineMeasurementPoint(StrictFileSchemaModel):
    """One measured point of a baseline with its figures, and what they depend on."""

    benchmark: str
    kernel: str
    board: str
    cores: int
    window_ms: int
    config: dict[str, str] = Field(default_factory=dict)
    manifest: dict[str, str] = Field(default_factory=dict)
    """The entries that differ from the baseline's manifest."""
    code: str = ""
    """The code of the functions that the window executed, whatever their places. Empty where nobody watched."""
    places: str = ""
    """The digest of their places."""
    state: dict[str, str | int] = Field(default_factory=dict)
    """The state of the board and the kernel's data as the window opened. Empty where it was not read."""
    waits: dict[str, float] = Field(default_factory=dict)
    """Cycles per count that were not executing ones."""
    functions: dict[str, tuple[str, float, float] | tuple[str, float]] = Field(default_factory=dict)
    """Executed functions: digest of the code, calls and, where they were counted, instructions, per count or sample."""
    metrics: dict[str, float]

    @property
    def point_id(self) -> PointId:
        """Returns the identity of the point. Its title is the benchmark's id, because a baseline has no titles."""
        axes = {"benchmark", "kernel", "board", "cores", "window_ms", "config"}
        return PointId(title=self.benchmark, **self.model_dump(include=axes))


class Baseline(StrictFileSchemaModel):
    """The content of `baselines/<name>.toml`: stored figures that later runs are compared with."""

    format: int = FORMAT
    seal: str = ""
    """Digest of all but the rules, which people may edit."""
    exact: bool = True
    """From virtual boards. False if any figure is a real board's."""
    manifest: dict[str, str] = Field(default_factory=dict)
    rules: dict[str, str] = Field(default_factory=dict)
    point: tuple[BaselineMeasurementPoint, ...]

    @property
    def content_digest(self) -> str:
        """Returns the digest of the baseline's present content. It must equal `seal`, or the file was edited."""
        return digest_of_values(self.model_dump(mode="json", exclude={"rules", "seal"}))


def baseline_path(folder: Path, name: str) -> Path:
    """Returns the path of the baseline with this name in a folder's `baselines`. A name that ends in .toml is the path
    itself. Raises PlanError for an unsuitable name."""
    if name.endswith(".toml"):
        return Path(name)
    return folder / "baselines" / f"{require_file_name(name, 'The baseline', PlanError)}.toml"


def find_regression_baseline_file(root: Path, name: str) -> Path:
    """Returns the path of a baseline (stored figures) in the working directory, or else in the checkout. Raises
    PlanError."""
    here = baseline_path(Path.cwd(), name)
    return here if here.is_file() else baseline_path(root, name)


def read_regression_baseline_file(path: Path) -> Baseline:
    """Returns the baseline of a file (stored figures) after a check of its seal. Raises CatalogueError naming file and
    key, PlanError for an invalid rule or edited figures."""
    baseline = read_baseline_without_seal_check(path)
    again = f"`rtoslab gate --store --baseline {path.stem}` measures its points and writes it again"
    if not baseline.seal:
        raise PlanError(f"{path} has no seal, so it was written by an earlier version or by hand; {again}.")
    if baseline.seal != baseline.content_digest:
        raise PlanError(f"{path} was edited outside its table [rules], the only part that may be edited; {again}.")
    return baseline


def read_baseline_without_seal_check(path: Path) -> Baseline:
    """Returns the baseline of a file without a check of its seal, to measure its points again. Raises CatalogueError,
    PlanError."""
    baseline = read_validated_toml(path, Baseline)
    for rule in baseline.rules.values():
        parse_growth_limits(rule)
    if baseline.format not in {UNSEALED, FORMAT}:
        raise PlanError(
            f"{path} has format {baseline.format}, but this version reads format {FORMAT}; write the baseline again."
        )
    return baseline


def with_shortened_manifests(side: ComparedMeasurementSet) -> ComparedMeasurementSet:
    """Returns one side of a comparison with its manifests shortened to what a baseline stores."""
    return ComparedMeasurementSet(
        side.name,
        [replace(figure, manifest=shorten_manifest_for_baseline(figure.manifest)) for figure in side.figures],
    )


def baseline_as_comparison_side(baseline: Baseline, name: str) -> ComparedMeasurementSet:
    """Returns a baseline as one side of a comparison, under this name."""
    return ComparedMeasurementSet(
        name,
        [
            MeasuredPointValues(
                point.point_id,
                {
                    key: NamedMetricValue(key, unit_of_measured_value(key), value)
                    for key, value in point.metrics.items()
                },
                baseline.exact,
                {**baseline.manifest, **point.manifest},
                code=point.code,
                places=point.places,
                functions={name: _parse_executed_function(*row) for name, row in point.functions.items()},
                state=point.state,
                waits=point.waits,
            )
            for point in baseline.point
        ],
    )


def _parse_executed_function(code: str, calls: float, instructions: float | None = None) -> ExecutedFunction:
    """Returns a function's entry in a baseline as an `ExecutedFunction`."""
    return ExecutedFunction(code, instructions, calls)


def _function_row_of_baseline(function: ExecutedFunction) -> tuple[str, float, float] | tuple[str, float]:
    """Returns an executed function as its entry in a baseline."""
    plain = (function.code, _round_to_six_digits(function.calls))
    return plain if function.instructions is None else (*plain, _round_to_six_digits(function.instructions))


def _round_to_six_digits(value: float) -> float:
    """Returns a number rounded to six digits. Further digits change with the end of the measurement window."""
    return float(f"{value:.6g}")


def make_regression_baseline(side: ComparedMeasurementSet, rules: Mapping[str, str]) -> Baseline:
    """Makes a baseline (figures to store) of one side of a comparison, with these limits. Raises PlanError if a point
    has no figure."""
    lost = [figure for figure in side.figures if figure.missing_reason]
    if lost:
        point, why = lost[0].point, lost[0].missing_reason
        raise PlanError(
            f"{point.benchmark} {point.kernel} {point.board} has no figure ({why}); a baseline needs measured points."
        )
    briefs = [shorten_manifest_for_baseline(figure.manifest) for figure in side.figures]
    shared = {key: value for key, value in briefs[0].items() if all(brief[key] == value for brief in briefs)}
    points = tuple(
        BaselineMeasurementPoint(
            **pair.point.model_dump(exclude={"title"}),
            manifest={key: value for key, value in brief.items() if key not in shared},
            code=pair.code,
            places=pair.places,
            state=dict(pair.state),
            waits={name: _round_to_six_digits(cycles) for name, cycles in pair.waits.items()},
            functions={name: _function_row_of_baseline(function) for name, function in sorted(pair.functions.items())},
            metrics={key: metric.value for key, metric in pair.metrics.items()},
        )
        for pair, brief in zip(side.figures, briefs, strict=True)
    )
    exact = all(figure.is_exact for figure in side.figures)
    baseline = Baseline(exact=exact, manifest=shared, rules=dict(rules), point=points)
    return baseline.model_copy(update={"seal": baseline.content_digest})


def write_baseline(baseline: Baseline, path: Path) -> None:
    """Writes a baseline as TOML. The same figures give the same bytes. Raises StoreError if the disk refuses it."""
    lines = [
        "# Figures that `rtoslab gate` compares with new ones; `rtoslab gate --store` writes this file. Edit only",
        "# [rules]: how much worse a figure may become, by its name.",
        f"format = {FORMAT}",
        f"seal = {toml_value(baseline.seal)}",
        f"exact = {str(baseline.exact).lower()}",
    ]
    for title, table in (("manifest", baseline.manifest), ("rules", baseline.rules)):
        lines += ["", f"[{title}]", *toml_lines(table)] if table or title == "rules" else []
    for point in baseline.point:
        axes = point.model_dump(include={"benchmark", "kernel", "board", "cores", "window_ms"})
        lines += ["", "[[point]]", *toml_lines(axes)]
        inline: dict[str, Mapping[str, Any]] = {
            "config": point.config,
            "manifest": point.manifest,
            "state": point.state,
            "waits": point.waits,
        }
        lines += [f"{title} = {{ {', '.join(toml_lines(rows))} }}" for title, rows in inline.items() if rows]
        digests = {"code": point.code, "places": point.places}
        lines += toml_lines({name: digest for name, digest in digests.items() if digest})
        lines += ["[point.metrics]", *toml_lines(point.metrics)]
        lines += ["[point.functions]", *toml_lines(point.functions)] if point.functions else []
    make_folder(path.parent)
    write_file_atomically(path, "\n".join(lines) + "\n", "the baseline")
