"""The images of two kernels on one board: each core's own, and the one that contains both."""

from dataclasses import dataclass
from pathlib import Path

from rtoslab.catalogue import Catalogue
from rtoslab.images import BuiltImage, build_measurement_point_image
from rtoslab.intake import read_program_image
from rtoslab.plan import PlannedPoint


@dataclass(frozen=True, slots=True)
class DualKernelImagePair:
    """The images of a board with two kernels: that of the other core, and the one that contains both."""

    other: Path
    """The image of the other core."""
    started: Path
    """The image that contains both."""
    record: dict[str, object]
    """The manifest's entry for them."""

    def bytes_of_both_images(self) -> tuple[bytes, bytes]:
        """Returns the bytes of both images, the other core's first."""
        return read_program_image(self.other), read_program_image(self.started)


def build_pair_images(catalogue: Catalogue, point: PlannedPoint, built: BuiltImage) -> DualKernelImagePair | None:
    """Builds the images for the kernel on the other core. None if the point has no second kernel. Raises BuildError."""
    if point.beside is None:
        return None
    other = build_measurement_point_image(catalogue, point.measurement_on_other_core())
    started = built if point.core == 0 else other  # core 0's contains both
    core_map = catalogue.find_dual_kernel_memory_map(catalogue.find_board(point.board))
    record: dict[str, object] = {
        "core": point.core,
        "build": other.info,
        "elf_sha256": other.elf_sha256,
        "started_sha256": started.elf_sha256,
        "ram": point.ram,
        "map": core_map.model_dump(mode="json") if core_map else {},
    }
    return DualKernelImagePair(other.elf_path, started.elf_path, record)
