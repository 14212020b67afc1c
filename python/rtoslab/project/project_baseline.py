"""Stores the figures of a project as a text file for its repository: rtoslab.baseline.toml.

[image.NAME] board, cores, compiler, placements, [image.NAME.functions], state, data, run. [[item]] image, name,
digests of code and places, [item.figures]. It is sealed: an edited figure would be a regression without a cause, or
hide one."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pydantic import Field

from rtoslab.base import (
    CatalogueError,
    PlanError,
    StrictFileSchemaModel,
    __version__,
    digest_of_values,
    format_toml_key,
    toml_lines,
    write_file_atomically,
)
from rtoslab.catalogue import read_validated_toml
from rtoslab.intake import is_file_or_pipe, printable_path
from rtoslab.project.measuring import ImageMeasuredValues, ProjectValuesByCodePlacement

FORMAT: Final = 2
UNSEALED: Final = 1
"""The format of files without a seal."""
_TABLES: Final = ("functions", "state", "data", "run")
"""The tables of an image."""
Value = float | tuple[float, ...]


class BaselineImage(StrictFileSchemaModel):
    """The conditions under which an image of a project's baseline was measured."""

    board: str
    cores: int
    compiler: str = ""
    placements: int = 1
    functions: dict[str, str] = Field(default_factory=dict)
    """By name, the digest of the instructions of each function that ran since reset."""
    state: dict[str, int | str] = Field(default_factory=dict)
    """The board's settings at the end of the run."""
    data: dict[str, str] = Field(default_factory=dict)
    """By name, the digest of each object's first content and memory."""
    run: dict[str, int | str] = Field(default_factory=dict)
    """What the image ran for and with."""


class ProjectBaselineEntry(StrictFileSchemaModel):
    """The stored figures of a function, an interval or an image's sizes."""

    image: str
    name: str
    code: str = ""
    """Digest of the instructions that may have taken its cycles, wherever they are. Empty where a function has no
    symbol."""
    places: str = ""
    """Digest of the addresses of that code."""
    functions: tuple[str, ...] = ()
    """The functions of that code. Empty: all that ran."""
    figures: dict[str, Value]
    """A number, or one for each placement where they differ."""

    def duplicate_values_for_code_placements(self, placements: int) -> ProjectValuesByCodePlacement:
        """Returns the item as it was measured, with a value of each figure for each of so many placements."""
        values = self.figures.items()
        figures = {key: value if isinstance(value, tuple) else (value,) * placements for key, value in values}
        return ProjectValuesByCodePlacement(figures, self.code, self.places, frozenset(self.functions))


class ProjectBaseline(StrictFileSchemaModel):
    """The content of rtoslab.baseline.toml: the figures with which `rtoslab gate` compares a project."""

    format: int = FORMAT
    seal: str = ""
    """Digest of everything else."""
    rtoslab: str = ""
    """The version that measured."""
    simulator: str = ""
    """Digest of the virtual board's sources."""
    image: dict[str, BaselineImage]
    item: tuple[ProjectBaselineEntry, ...] = Field(default=())

    @property
    def content_digest(self) -> str:
        """Returns the digest that `seal` must have: that of all other content."""
        content = self.model_dump(mode="json", exclude={"seal"})
        for image in content["image"].values():
            for table in _TABLES[1:]:  # a file of an earlier version lacks these
                if not image[table]:
                    del image[table]
        return digest_of_values(content)

    def values_by_measured_image(self) -> dict[str, ImageMeasuredValues]:
        """Returns the figures of each image as they were measured, by name."""
        values: dict[str, dict[str, ProjectValuesByCodePlacement]] = {name: {} for name in self.image}
        for one in self.item:
            values[one.image][one.name] = one.duplicate_values_for_code_placements(self.image[one.image].placements)
        return {
            name: ImageMeasuredValues(
                item.board,
                item.cores,
                item.compiler,
                item.placements,
                {
                    one.name: one.duplicate_values_for_code_placements(item.placements)
                    for one in self.item
                    if one.image == name
                },
                item.functions,
                item.state,
                item.data,
                item.run,
            )
            for name, item in self.image.items()
        }


def read_project_baseline(path: Path) -> ProjectBaseline:
    """Returns the content of an rtoslab.baseline.toml.

    Raises CatalogueError, which names file and key, PlanError if there is none, or it was edited.
    """
    if not is_file_or_pipe(path):
        raise PlanError(
            f"There is no baseline {printable_path(path)}; run `rtoslab gate --store` to measure and write it."
        )
    baseline = read_validated_toml(path, ProjectBaseline)
    if baseline.format not in {UNSEALED, FORMAT}:
        raise PlanError(
            f"{path} has format {baseline.format}, but this version reads format {FORMAT}; write the baseline again."
        )
    if not baseline.seal:
        raise PlanError(
            f"{path} has no seal, so it was written by an earlier version or by hand; `rtoslab gate --store` writes it "
            "again."
        )
    if baseline.seal != baseline.content_digest:
        raise PlanError(f"{path} was edited; `rtoslab gate --store` writes it again.")
    for item in baseline.item:
        if item.image not in baseline.image:
            raise CatalogueError(
                f"{path}, item {item.name!r}: no image is named {item.image!r}; run `rtoslab gate "
                "--store` to write it again."
            )
        placements = baseline.image[item.image].placements
        for name, values in item.duplicate_values_for_code_placements(placements).figures.items():
            if len(values) != placements:
                raise CatalogueError(
                    f"{path}, {item.name}, {name}: {len(values)} values for {placements} "
                    "placements; run `rtoslab gate --store` to write it again."
                )
    return baseline


def write_project_baseline(figures: Mapping[str, ImageMeasuredValues], simulator: str, path: Path) -> None:
    """Writes the figures of a project to an rtoslab.baseline.toml. The same figures give the same bytes. `simulator`:
    the virtual board's digest.

    Raises StoreError.
    """
    baseline = _make_project_baseline(figures, simulator)
    lines = [
        "# Figures that `rtoslab gate` compares with new ones; `rtoslab gate --store` writes this file.",
        *toml_lines(
            {
                "format": FORMAT,
                "seal": baseline.content_digest,
                "rtoslab": baseline.rtoslab,
                "simulator": baseline.simulator,
            }
        ),
    ]
    for name, image in baseline.image.items():
        key = format_toml_key(name)
        lines += ["", f"[image.{key}]", *toml_lines(image.model_dump(exclude={*_TABLES}))]
        for table in _TABLES:
            entries = getattr(image, table)
            lines += [f"[image.{key}.{table}]", *toml_lines(entries)] if entries else []
    for item in baseline.item:
        facts = item.model_dump(include={"image", "name"})
        facts |= {"code": item.code, "places": item.places} if item.code else {}
        facts |= {"functions": item.functions} if item.functions else {}
        lines += ["", "[[item]]", *toml_lines(facts), "[item.figures]", *toml_lines(item.figures)]
    write_file_atomically(path, "\n".join(lines) + "\n", "the baseline")


def _make_project_baseline(figures: Mapping[str, ImageMeasuredValues], simulator: str) -> ProjectBaseline:
    """Returns the content of an rtoslab.baseline.toml that has these figures."""
    images = {
        name: BaselineImage(
            board=entry.board, cores=entry.cores, compiler=entry.compiler, placements=entry.placements,
            functions=dict(entry.functions), state=dict(entry.state), data=dict(entry.data), run=dict(entry.run),
        )
        for name, entry in figures.items()
    }  # fmt: skip
    items = [
        ProjectBaselineEntry(
            image=name, name=key, code=item.code, places=item.places if item.code else "",
            functions=tuple(sorted(item.functions)) if item.code else (),
            figures={one: entry if len(set(entry)) > 1 else entry[0] for one, entry in item.figures.items()},
        )
        for name, image in figures.items()
        for key, item in image.items.items()
    ]  # fmt: skip
    return ProjectBaseline(rtoslab=__version__, simulator=simulator, image=images, item=tuple(items))
