"""The programs of firmware/footprint/, built for a kernel, a board and a configuration."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rtoslab.base import PlanError
from rtoslab.catalogue import Catalogue
from rtoslab.footprint.attribute import Footprint, footprint_of
from rtoslab.footprint.memories import regions_of
from rtoslab.footprint.points import footprint_point
from rtoslab.images import CALLGRAPH, MAP, Build, build, tree_of
from rtoslab.plan import Point

MINIMAL = "minimal"


@dataclass(frozen=True, slots=True)
class BuiltProgram:
    """A built program and what it weighs."""

    point: Point
    build: Build
    footprint: Footprint

    @property
    def callgraph(self) -> Path:
        """Returns what the compiler wrote of each function's frame and callees."""
        return self.build.folder / CALLGRAPH


def weigh(
    catalogue: Catalogue,
    kernel: str,
    board: str,
    *,
    program: str = MINIMAL,
    cores: int = 1,
    config: Mapping[str, str] | None = None,
) -> BuiltProgram:
    """Builds one program and weighs it. Raises PlanError where it cannot exist, BuildError, UnknownNameError."""
    point = footprint_point(catalogue, program, kernel, board, cores, config or {})
    return weigh_point(catalogue, point)


def weigh_point(catalogue: Catalogue, point: Point) -> BuiltProgram:
    """Builds one point and weighs it. Raises PlanError where it cannot exist."""
    if point.not_applicable is not None:
        raise PlanError(f"{point.label} cannot be built: {point.not_applicable}.")
    built = build(catalogue, point)
    regions = regions_of(catalogue.board(point.board).facts)
    tree = tree_of(catalogue, point)
    return BuiltProgram(point, built, footprint_of(built.elf, built.folder / MAP, regions, tree.path if tree else None))
