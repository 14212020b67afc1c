"""firmware/calibration/calibration.toml: the rows, and the registers that they may touch on each chip."""

from pydantic import Field

from rtoslab.base import Strict
from rtoslab.catalogue import Catalogue, read_toml


class Registers(Strict):
    """Addresses of one chip, as the head of calibration.toml explains them; 0 where it has none."""

    ahb_read: int
    ahb_write: int
    apb1: int
    apb2: int
    apb_write: int = 0
    apb_alias: int = 0
    near_read: int = 0
    near_write: int = 0
    bit_band: int = 0
    line_ram: int = 0
    flash_acr: int = 0
    apb1_divider: int = 0
    xip_word: int = 0


class Row(Strict):
    """One micro-benchmark."""

    id: str
    title: str
    group: str
    values: int = Field(default=1, ge=1)
    """How many it gives in a round."""
    keys: tuple[str, ...] = ()
    """Settings that it is a witness of."""


class CalibrationTable(Strict):
    """The whole file. What the build alone reads of it stands here so that nothing unknown passes."""

    id: str
    title: str
    tasks_per_core: int
    stack_bytes: int
    services: tuple[str, ...]
    params: dict[str, int]
    registers: dict[str, Registers]
    row: tuple[Row, ...]


def read_table_of(catalogue: Catalogue) -> CalibrationTable:
    """Of the checkout. Raises CatalogueError."""
    return read_toml(catalogue.root / "firmware" / "calibration" / "calibration.toml", CalibrationTable)
