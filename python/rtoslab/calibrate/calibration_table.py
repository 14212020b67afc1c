"""firmware/calibration/calibration.toml: the rows, and the registers that they may touch on each chip."""

from pydantic import Field

from rtoslab.base import Strict
from rtoslab.catalogue import Catalogue, read_toml


class Registers(Strict):
    """Addresses that may be read, and written with 0, without effect."""

    ahb_read: int
    ahb_write: int
    apb1: int
    apb2: int
    bit_band: int
    """1 if the core has bit-bands."""


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
