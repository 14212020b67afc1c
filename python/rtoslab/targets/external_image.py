"""An image that the user built: what it says about itself, whichever kernel is in it."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rtoslab.base import ImageFileError, SettingError
from rtoslab.catalogue import Catalogue, CatalogueEntry, Kernel
from rtoslab.intake import MAGIC, read_program_image
from rtoslab.records import DecodedRun, ExpectedImageIdentity, read_wire_constants
from rtoslab.targets.introduction import run_until_image_identified


@dataclass(frozen=True, slots=True)
class ExternalImage:
    """An ELF file that the user built, with the records that it sent about itself at its start."""

    path: Path
    content: bytes
    introduction: DecodedRun

    @property
    def file_sha256(self) -> str:
        """Returns the SHA-256 of the ELF file, which replaces that of its unknown sources and flags."""
        return hashlib.sha256(self.content).hexdigest()

    @property
    def image_identity_expected_in_records(self) -> ExpectedImageIdentity:
        """Returns the run id and manifest that all records of the image must contain."""
        return ExpectedImageIdentity(self.introduction.begin.run, self.introduction.begin.manifest)


def read_external_image(catalogue: Catalogue, path: Path, board: str, timing: Mapping[str, int]) -> ExternalImage:
    """Reads a user's image, and runs it until it has sent its begin record and parameters.

    Raises ImageFileError, RunError for an image without our runner, SettingError for another board's image.
    """
    facts = catalogue.find_board(board).facts
    content = read_program_image(path)
    if not content.startswith(MAGIC):
        raise ImageFileError(f"{path} is not an ELF file. The observation needs symbols; give the ELF file.")
    image = ExternalImage(
        path,
        content,
        run_until_image_identified(content, path.name, facts, timing, read_wire_constants(catalogue.root)),
    )
    named = image.introduction.begin.board
    if named != facts.id:
        raise SettingError(f"{path} is for the board {named}; run it with --board {named}.")
    return image


def catalogue_with_kernel(catalogue: Catalogue, kernel: str, cores: int) -> Catalogue:
    """Returns the catalogue with the kernel added, if the catalogue does not know it. The added kernel has every
    service, and no symbols."""
    if kernel in catalogue.kernels:
        return catalogue
    services = {service for entry in catalogue.kernels.values() for service in entry.facts.services}
    # Not validated as a kernel.toml, because nobody wrote one.
    facts = Kernel.model_construct(
        id=kernel, title=kernel, smp=cores > 1, services=dict.fromkeys(sorted(services), True)
    )
    return catalogue.catalogue_with_added_kernel(CatalogueEntry(kernel, catalogue.root, facts))
