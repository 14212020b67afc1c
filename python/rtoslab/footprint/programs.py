"""The programs of firmware/footprint/, built for a kernel, a board and a configuration."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rtoslab.base import PlanError
from rtoslab.catalogue import Catalogue
from rtoslab.footprint.attribute import ImageFootprint, read_image_footprint
from rtoslab.footprint.memories import board_memory_regions
from rtoslab.footprint.points import plan_footprint_program_build
from rtoslab.images import CALLGRAPH, MAP, BuiltImage, build_measurement_point_image, source_tree_of_point
from rtoslab.plan import PlannedPoint

MINIMAL = "minimal"


@dataclass(frozen=True, slots=True)
class BuiltFootprintProgram:
    """A built program of firmware/footprint/ with its size by owner."""

    point: PlannedPoint
    build: BuiltImage
    footprint: ImageFootprint

    @property
    def callgraph_path(self) -> Path:
        """Returns the path of the call graph that the compiler wrote: stack frame and callees of each function."""
        return self.build.folder / CALLGRAPH


def build_footprint_program(
    catalogue: Catalogue,
    kernel: str,
    board: str,
    *,
    program: str = MINIMAL,
    cores: int = 1,
    config: Mapping[str, str] | None = None,
) -> BuiltFootprintProgram:
    """Builds a program of firmware/footprint/. Returns it with its size by owner (symbol and object file).

    Raises PlanError if it cannot exist, BuildError, UnknownNameError.
    """
    point = plan_footprint_program_build(catalogue, program, kernel, board, cores, config or {})
    return build_footprint_program_of_point(catalogue, point)


def build_footprint_program_of_point(catalogue: Catalogue, point: PlannedPoint) -> BuiltFootprintProgram:
    """Builds the program of a point. Returns it with its size by owner. Raises PlanError if it cannot exist."""
    if point.not_applicable is not None:
        raise PlanError(f"{point.label} cannot be built: {point.not_applicable}.")
    built = build_measurement_point_image(catalogue, point)
    regions = board_memory_regions(catalogue.find_board(point.board).facts)
    tree = source_tree_of_point(catalogue, point)
    return BuiltFootprintProgram(
        point, built, read_image_footprint(built.elf_path, built.folder / MAP, regions, tree.path if tree else None)
    )
