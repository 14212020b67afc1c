"""The figures of a project as a text file for its repository: rtoslab.baseline.toml.

[image.NAME] board, cores, compiler, placements, [image.NAME.functions]; [[item]] image, name, digests of code and
places, [item.figures]. It is sealed: an edited figure would be a regression without a cause, or hide one.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pydantic import Field

from rtoslab.base import CatalogueError, PlanError, Strict, __version__, content_seal, toml_key, toml_rows, write_whole
from rtoslab.catalogue import read_toml
from rtoslab.intake import is_file, shown_path
from rtoslab.project.measuring import ImageFigures, Item

FORMAT: Final = 2
UNSEALED: Final = 1
"""The format of files without a seal."""
Value = float | tuple[float, ...]


class KeptImage(Strict):
    """What the figures of an image were made with."""

    board: str
    cores: int
    compiler: str = ""
    placements: int = 1
    functions: dict[str, str] = Field(default_factory=dict)
    """Functions that ran since reset: digest of each one's instructions."""


class KeptItem(Strict):
    """A function, an interval, or an image's sizes."""

    image: str
    name: str
    code: str = ""
    """Digest of the instructions that may have taken its cycles, wherever they lie; empty where no symbol tells."""
    places: str = ""
    """Digest of where they lay."""
    functions: tuple[str, ...] = ()
    """Whose instructions those are; of none: all that ran."""
    figures: dict[str, Value]
    """A number, or one for each placement where they differ."""

    def item(self, placements: int) -> Item:
        """As it was measured."""
        values = self.figures.items()
        figures = {key: each if isinstance(each, tuple) else (each,) * placements for key, each in values}
        return Item(figures, self.code, self.places, frozenset(self.functions))


class KeptFigures(Strict):
    """What `rtoslab gate` holds the figures of a project against: rtoslab.baseline.toml."""

    format: int = FORMAT
    seal: str = ""
    """Digest of all else."""
    rtoslab: str = ""
    """The version that measured."""
    simulator: str = ""
    """Digest of the virtual board's sources."""
    image: dict[str, KeptImage]
    item: tuple[KeptItem, ...] = Field(default=())

    @property
    def digest(self) -> str:
        """The seal that its content has."""
        return content_seal(self.model_dump(mode="json", exclude={"seal"}))

    def figures(self) -> dict[str, ImageFigures]:
        """As they were measured."""
        return {
            name: ImageFigures(
                each.board, each.cores, each.compiler, each.placements,
                {one.name: one.item(each.placements) for one in self.item if one.image == name}, each.functions,
            )
            for name, each in self.image.items()
        }  # fmt: skip


def read_kept(path: Path) -> KeptFigures:
    """Raises CatalogueError naming file and key, PlanError where there is none."""
    if not is_file(path):
        raise PlanError(f"There is no baseline {shown_path(path)}; `rtoslab baseline` writes it from what is measured.")
    kept = read_toml(path, KeptFigures)
    if kept.format not in {UNSEALED, FORMAT}:
        raise PlanError(f"{path} has format {kept.format}, this version reads {FORMAT}; write the baseline again.")
    if not kept.seal:
        raise PlanError(
            f"{path} has no seal: an earlier version wrote it, or a hand did; `rtoslab baseline` writes it."
        )
    if kept.seal != kept.digest:
        raise PlanError(f"{path} is not what was written: a value was edited; `rtoslab baseline` writes it anew.")
    for item in kept.item:
        if item.image not in kept.image:
            raise CatalogueError(f"{path}, item {item.name!r}: no image is named {item.image!r}; write it again.")
        wanted = kept.image[item.image].placements
        for name, values in item.item(wanted).figures.items():
            if len(values) != wanted:
                raise CatalogueError(f"{path}, {item.name}, {name}: {len(values)} values for {wanted} placements.")
    return kept


def write_kept(found: Mapping[str, ImageFigures], simulator: str, path: Path) -> None:
    """The same figures as the same bytes. Raises StoreError."""
    kept = _kept(found, simulator)
    lines = [
        "# Figures that `rtoslab gate` holds new ones against; `rtoslab baseline` writes this file.",
        *toml_rows({"format": FORMAT, "seal": kept.digest, "rtoslab": kept.rtoslab, "simulator": kept.simulator}),
    ]
    for name, image in kept.image.items():
        key = toml_key(name)
        lines += ["", f"[image.{key}]", *toml_rows(image.model_dump(exclude={"functions"}))]
        lines += [f"[image.{key}.functions]", *toml_rows(image.functions)] if image.functions else []
    for item in kept.item:
        facts = item.model_dump(include={"image", "name"})
        facts |= {"code": item.code, "places": item.places} if item.code else {}
        facts |= {"functions": item.functions} if item.functions else {}
        lines += ["", "[[item]]", *toml_rows(facts), "[item.figures]", *toml_rows(item.figures)]
    write_whole(path, "\n".join(lines) + "\n", "the baseline")


def _kept(found: Mapping[str, ImageFigures], simulator: str) -> KeptFigures:
    images = {
        name: KeptImage(
            board=each.board, cores=each.cores, compiler=each.compiler, placements=each.placements,
            functions=dict(each.functions),
        )
        for name, each in found.items()
    }  # fmt: skip
    items = [
        KeptItem(
            image=name, name=key, code=item.code, places=item.places if item.code else "",
            functions=tuple(sorted(item.functions)) if item.code else (),
            figures={one: each if len(set(each)) > 1 else each[0] for one, each in item.figures.items()},
        )
        for name, image in found.items()
        for key, item in image.items.items()
    ]  # fmt: skip
    return KeptFigures(rtoslab=__version__, simulator=simulator, image=images, item=tuple(items))
