"""A baseline: the figures of some points and what made them, as a small text file fit for git.

baselines/NAME.toml     [manifest] what all points share, [rules] see `rules`, [[point]] axes and figures
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from pydantic import Field

from rtoslab.analyses import Metric, unit_of
from rtoslab.base import PlanError, Strict, make_folder, toml_rows, toml_value, write_whole
from rtoslab.catalogue import read_toml
from rtoslab.compare.rules import parse_limits
from rtoslab.compare.sides import Figures, Side
from rtoslab.intake import file_name
from rtoslab.results import PointId

FORMAT = 1
COMPILER = "compiler"
VIRTUAL_BOARD = "virtual board"
_SAID = {
    COMPILER: ("build.compiler.banner",),
    "newlib": ("build.compiler.newlib",),
    "flags": ("build.flags",),
    "kernel": ("build.kernel_version",),
    "kernel package": ("build.kernel_package.sha256",),
    VIRTUAL_BOARD: ("target.sources_sha256",),
}
"""What a baseline keeps of a manifest as it is (hashes shortened); the rest goes into one hash each, below."""
_HASHED = {
    "configuration": (
        "build.kernel_config.",
        "build.params.",
        "build.clock",
        "build.features.",
        "build.data",
        "build.code",
    ),
    "firmware sources": ("build.sources.",),
    "timing rules": ("target.settings.",),
}
_SHORT = 12


class BaselinePoint(Strict):
    """One point."""

    benchmark: str
    kernel: str
    board: str
    cores: int
    window_ms: int
    config: dict[str, str] = Field(default_factory=dict)
    manifest: dict[str, str] = Field(default_factory=dict)
    """What differs from the baseline's."""
    code: str = ""
    """Of the functions that the window executed, whatever their places; empty where nobody watched."""
    metrics: dict[str, float]

    @property
    def point(self) -> PointId:
        """Its axes; a baseline keeps no titles."""
        return PointId(title=self.benchmark, **self.model_dump(exclude={"manifest", "metrics", "code"}))


class Baseline(Strict):
    """`baselines/<name>.toml`."""

    format: int = FORMAT
    exact: bool = True
    """From virtual boards; false if any figure is a real board's."""
    manifest: dict[str, str] = Field(default_factory=dict)
    rules: dict[str, str] = Field(default_factory=dict)
    point: tuple[BaselinePoint, ...]


def baseline_path(folder: Path, name: str) -> Path:
    """A name's file in a folder's `baselines`, or the file itself where a path that ends in .toml is given.

    Raises PlanError for any other name.
    """
    if name.endswith(".toml"):
        return Path(name)
    return folder / "baselines" / f"{file_name(name, 'The baseline', PlanError)}.toml"


def known_baseline(root: Path, name: str) -> Path:
    """The file of a baseline to be read: the working directory's, or else the checkout's. Raises PlanError."""
    here = baseline_path(Path.cwd(), name)
    return here if here.is_file() else baseline_path(root, name)


def read_baseline(path: Path) -> Baseline:
    """Raises CatalogueError naming file and key, PlanError for a rule that is none."""
    found = read_toml(path, Baseline)
    for rule in found.rules.values():
        parse_limits(rule)
    if found.format != FORMAT:
        raise PlanError(f"{path} has format {found.format}, this version reads {FORMAT}; write the baseline again.")
    return found


def brief_manifest(flat: Mapping[str, str]) -> dict[str, str]:
    """What a baseline keeps of a manifest: little enough to read, enough to tell why figures may differ."""
    if not flat:
        return {}
    said = {name: " ".join(flat.get(key, "") for key in keys) for name, keys in _SAID.items()}
    brief = {
        name: value[:_SHORT] if name in {"kernel package", VIRTUAL_BOARD} else value for name, value in said.items()
    }
    for name, prefixes in _HASHED.items():
        rows = sorted((key, value) for key, value in flat.items() if key.startswith(prefixes))
        brief[name] = hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:_SHORT]
    return brief


_SAME_WHEN_MOVED: Final = (COMPILER, VIRTUAL_BOARD, "newlib", "configuration", "timing rules")
"""What of a brief manifest must be the same, besides the code, for its place alone to be the cause."""


def same_settings(before: Mapping[str, str], after: Mapping[str, str]) -> bool:
    """Whether two brief manifests are the same in all that; not of what says nothing."""
    return bool(before) and all(before.get(key) == after.get(key) for key in _SAME_WHEN_MOVED)


def brief_side(side: Side) -> Side:
    """The same side with manifests as a baseline keeps them."""
    return Side(
        side.name,
        [replace(each, manifest=brief_manifest(each.manifest)) for each in side.figures],
    )


def baseline_side(baseline: Baseline, name: str) -> Side:
    """A baseline as a side of a comparison."""
    return Side(
        name,
        [
            Figures(
                each.point,
                {key: Metric(key, unit_of(key), value) for key, value in each.metrics.items()},
                baseline.exact,
                {**baseline.manifest, **each.manifest},
                code=each.code,
            )
            for each in baseline.point
        ],
    )


def make_baseline(side: Side, rules: Mapping[str, str]) -> Baseline:
    """Of a side's figures. Raises PlanError if a point of it has none."""
    lost = [each for each in side.figures if each.missing]
    if lost:
        point, why = lost[0].point, lost[0].missing
        raise PlanError(
            f"{point.benchmark} {point.kernel} {point.board} has no figure ({why}); a baseline needs measured points."
        )
    briefs = [brief_manifest(each.manifest) for each in side.figures]
    shared = {key: value for key, value in briefs[0].items() if all(brief[key] == value for brief in briefs)}
    points = tuple(
        BaselinePoint(
            **each.point.model_dump(exclude={"title"}),
            manifest={key: value for key, value in brief.items() if key not in shared},
            code=each.code,
            metrics={key: metric.value for key, metric in each.metrics.items()},
        )
        for each, brief in zip(side.figures, briefs, strict=True)
    )
    exact = all(each.exact for each in side.figures)
    return Baseline(exact=exact, manifest=shared, rules=dict(rules), point=points)


def write_baseline(baseline: Baseline, path: Path) -> None:
    """As TOML, the same figures as the same bytes. Raises StoreError."""
    lines = [
        "# Figures that `rtoslab gate` holds new ones against; `rtoslab baseline` writes this file. Only [rules] is",
        "# for hands: how much worse a figure may become, by its name.",
        f"format = {baseline.format}",
        f"exact = {str(baseline.exact).lower()}",
    ]
    for title, table in (("manifest", baseline.manifest), ("rules", baseline.rules)):
        lines += ["", f"[{title}]", *toml_rows(table)] if table or title == "rules" else []
    for each in baseline.point:
        axes = each.model_dump(include={"benchmark", "kernel", "board", "cores", "window_ms"})
        lines += ["", "[[point]]", *toml_rows(axes)]
        for title, rows in (("config", each.config), ("manifest", each.manifest)):
            lines += [f"{title} = {{ {', '.join(toml_rows(rows))} }}"] if rows else []
        lines += [f"code = {toml_value(each.code)}"] if each.code else []
        lines += ["[point.metrics]", *toml_rows(each.metrics)]
    make_folder(path.parent)
    write_whole(path, "\n".join(lines) + "\n", "the baseline")
