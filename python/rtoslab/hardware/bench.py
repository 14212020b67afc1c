"""The hardware map of a bench: a TOML file with one `[[target]]` for each board, strictly read."""

import re
from pathlib import Path
from typing import Final

from pydantic import Field, ValidationError, field_validator, model_validator

from rtoslab.base import CatalogueError, StrictFileSchemaModel
from rtoslab.hardware.usb import shell_safe_device_serial_number
from rtoslab.intake import first_validation_problem, printable_path, read_toml_table

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
FLASH_LIMIT_S: Final = 120.0
"""Erasing and writing 512 KiB through an ST-LINK/V2 takes about half a minute."""
SILENCE_LIMIT_S: Final = 60.0
"""The longest silence of a board, beyond the window itself."""


class HardwareMapBoard(StrictFileSchemaModel):
    """One board of a hardware map, with its probe, port and flash tool."""

    name: str
    """The board's name in `--target`."""
    board: str
    """A folder of firmware/boards/."""
    probe: str
    """Serial number of its probe, or of the board itself where it is flashed in BOOTSEL."""
    port: str | None = None
    """Serial port. Without it the one that the probe has."""
    tool: str | None = None
    """Program that flashes it. Without it the first one installed that can."""
    drive: str | None = None
    """Where its UF2 drive is mounted."""
    flash_limit_s: float = Field(default=FLASH_LIMIT_S, gt=0, le=3600)
    silence_limit_s: float = Field(default=SILENCE_LIMIT_S, gt=0, le=3600)

    @field_validator("name")
    @classmethod
    def _check_name(cls, name: str) -> str:
        """Returns the name if it can be part of a command. Raises ValueError."""
        if not _NAME.fullmatch(name) or name == "auto":
            raise ValueError("a name consists of small letters, digits and `-`, and must not be `auto`")
        return name

    @field_validator("probe")
    @classmethod
    def _check_probe(cls, probe: str) -> str:
        """Returns the probe's serial number if it can be part of a command. Raises ValueError."""
        if not shell_safe_device_serial_number(probe):
            raise ValueError("a serial number consists of letters, digits and `._:-`")
        return probe

    @field_validator("port", "drive")
    @classmethod
    def _check_path(cls, path: str | None) -> str | None:
        """Returns the path of a port or drive if it can be part of a command. Raises ValueError."""
        if path is not None and (not path or path.startswith("-") or not path.isprintable()):
            raise ValueError("a path must not begin with `-` or contain control characters")
        return path


class HardwareMap(StrictFileSchemaModel):
    """The content of a hardware map: the boards that are connected."""

    target: tuple[HardwareMapBoard, ...] = Field(min_length=1, max_length=1000)

    @model_validator(mode="after")
    def _require_distinct_board_connections(self) -> "HardwareMap":
        """Raises ValueError if two boards have one name, probe or port, because one could be measured for the other."""
        for what in ("name", "probe", "port"):
            seen: set[str] = set()
            for target in self.target:
                value = getattr(target, what)
                if value is not None and value in seen:
                    raise ValueError(f"two targets have the {what} {value}")
                seen |= {value} - {None}
        return self

    def find_board_in_hardware_map(self, name: str) -> HardwareMapBoard | None:
        """Returns the board of this name in the hardware map. None if there is none."""
        return next((target for target in self.target if target.name == name), None)


def read_hardware_map(path: Path) -> HardwareMap:
    """Returns the content of a hardware map, the TOML file that lists the connected boards.

    Raises CatalogueError, which names file and key.
    """
    try:
        return HardwareMap.model_validate(read_toml_table(path, "the hardware map", CatalogueError))
    except ValidationError as cause:
        raise CatalogueError(
            f"{printable_path(path)}, {first_validation_problem(cause)}; correct or remove it."
        ) from None
