"""firmware/calibration/calibration.toml: the rows, and the registers that they may touch on each chip."""

from pydantic import Field

from rtoslab.base import StrictFileSchemaModel
from rtoslab.catalogue import Catalogue, read_validated_toml


class CalibrationRegisters(StrictFileSchemaModel):
    """The registers of a chip that calibration may read and write without effect."""

    ahb_read: int = 0
    ahb_write: int = 0
    apb1: int = 0
    apb2: int = 0
    bit_band: int = 0
    """1 if the core has bit-bands."""
    near_read: int = 0
    near_write: int = 0
    axi_ram: int = 0
    io_port: int = 0
    io_port_write: int = 0
    apb2_divider: int = 0
    apb2_half: int = 0
    xip_control: int = 0


class CalibrationRow(StrictFileSchemaModel):
    """One micro-benchmark of the calibration image, with its number of values."""

    id: str
    title: str
    group: str
    values: int = Field(default=1, ge=1)
    """How many values it gives in a round."""
    keys: tuple[str, ...] = ()
    """Timing settings that the row shows."""


class CalibrationTable(StrictFileSchemaModel):
    """The content of firmware/calibration/calibration.toml.
    The keys that the build alone reads are here too, so that no unknown key passes.
    """

    id: str
    title: str
    tasks_per_core: int
    stack_bytes: int
    services: tuple[str, ...]
    figures: tuple[str, ...]
    """Benchmarks and suites of `calibrate --figures all`."""
    params: dict[str, int]
    registers: dict[str, CalibrationRegisters]
    row: tuple[CalibrationRow, ...]


def read_calibration_table(catalogue: Catalogue) -> CalibrationTable:
    """Returns the content of calibration.toml in this checkout. Raises CatalogueError."""
    return read_validated_toml(catalogue.root / "firmware" / "calibration" / "calibration.toml", CalibrationTable)
