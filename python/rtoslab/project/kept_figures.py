"""The figures of a project as a text file for its repository: rtoslab.baseline.toml.

[image.NAME] board, cores, compiler, placements; [[item]] image, name, digests of code and places, [item.figures]
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pydantic import Field

from rtoslab.base import CatalogueError, PlanError, Strict, __version__, toml_key, toml_rows, toml_value, write_whole
from rtoslab.catalogue import read_toml
from rtoslab.intake import is_file, shown_path
from rtoslab.project.measuring import ImageFigures, Item

FORMAT: Final = 1
Value = float | tuple[float, ...]


class KeptImage(Strict):
    """What the figures of an image were made with."""

    board: str
    cores: int
    compiler: str = ""
    placements: int = 1


class KeptItem(Strict):
    """A function, an interval, or an image's sizes."""

    image: str
    name: str
    code: str = ""
    """Digest of the instructions that may have taken its cycles, wherever they lie; empty where no symbol tells."""
    places: str = ""
    """Digest of where they lay."""
    figures: dict[str, Value]
    """A number, or one for each placement where they differ."""

    def item(self, placements: int) -> Item:
        """As it was measured."""
        values = self.figures.items()
        figures = {key: each if isinstance(each, tuple) else (each,) * placements for key, each in values}
        return Item(figures, self.code, self.places)


class KeptFigures(Strict):
    """What `rtoslab gate` holds the figures of a project against: rtoslab.baseline.toml."""

    format: int = FORMAT
    rtoslab: str = ""
    """The version that measured."""
    simulator: str = ""
    """Digest of the virtual board's sources."""
    image: dict[str, KeptImage]
    item: tuple[KeptItem, ...] = Field(default=())

    def figures(self) -> dict[str, ImageFigures]:
        """As they were measured."""
        return {
            name: ImageFigures(
                each.board, each.cores, each.compiler, each.placements,
                {one.name: one.item(each.placements) for one in self.item if one.image == name},
            )
            for name, each in self.image.items()
        }  # fmt: skip


def read_kept(path: Path) -> KeptFigures:
    """Raises CatalogueError naming file and key, PlanError where there is none."""
    if not is_file(path):
        raise PlanError(f"There is no baseline {shown_path(path)}; `rtoslab baseline` writes it from what is measured.")
    kept = read_toml(path, KeptFigures)
    if kept.format != FORMAT:
        raise PlanError(f"{path} has format {kept.format}, this version reads {FORMAT}; write the baseline again.")
    for each in kept.item:
        if each.image not in kept.image:
            raise CatalogueError(f"{path}, item {each.name!r}: no image is named {each.image!r}; write it again.")
        wanted = kept.image[each.image].placements
        for name, values in each.item(wanted).figures.items():
            if len(values) != wanted:
                raise CatalogueError(f"{path}, {each.name}, {name}: {len(values)} values for {wanted} placements.")
    return kept


def write_kept(found: Mapping[str, ImageFigures], simulator: str, path: Path) -> None:
    """The same figures as the same bytes. Raises StoreError."""
    lines = [
        "# Figures that `rtoslab gate` holds new ones against; `rtoslab baseline` writes this file.",
        f"format = {FORMAT}",
        f"rtoslab = {toml_value(__version__)}",
        f"simulator = {toml_value(simulator)}",
    ]
    for name, image in found.items():
        facts = {
            "board": image.board, "cores": image.cores, "compiler": image.compiler, "placements": image.placements,
        }  # fmt: skip
        lines += ["", f"[image.{toml_key(name)}]", *toml_rows(facts)]
    for name, image in found.items():
        for key, item in image.items.items():
            facts = {"image": name, "name": key}
            facts |= {"code": item.code, "places": item.places} if item.code else {}
            values = {one: each if len(set(each)) > 1 else each[0] for one, each in item.figures.items()}
            lines += ["", "[[item]]", *toml_rows(facts), "[item.figures]", *toml_rows(values)]
    write_whole(path, "\n".join(lines) + "\n", "the baseline")
