"""Options that go with an image. The image says what it is, so only the board, its timing and devices can be set."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, BinaryIO

import click

from rtoslab.base import PlanError
from rtoslab.catalogue import DEFAULT_BOARD
from rtoslab.cli.names import split_names
from rtoslab.targets import BusDeviceRequest, parse_device_request

if TYPE_CHECKING:
    from rtoslab.catalogue import Catalogue

attach_option = click.option(
    "--attach",
    "attached",
    multiple=True,
    metavar="BUS[:PLACE]=DEVICE",
    help="Attach a device: i2c1:0x50=eeprom, i2c1:0x48=lm75:21.5, spi1:PA4=loopback, uart2=loopback, or your own, "
    "i2c1:0x20=file.py:Class. May be repeated.",
)


def parse_devices(texts: Sequence[str]) -> tuple[BusDeviceRequest, ...]:
    """Returns the devices that the texts of `--attach` name. Raises PlanError."""
    return tuple(parse_device_request(text) for text in texts)


def board_and_timing_settings_of_image(
    catalogue: "Catalogue", boards: tuple[str, ...], config: Mapping[str, str]
) -> tuple[str, dict[str, int]]:
    """Returns the board, and the timing settings that the user gives for an image. Raises PlanError for any other
    option."""
    from rtoslab.plan import parse_integer_setting  # noqa: PLC0415 (`sim` and `gdb` would wait for it, and have no --config)

    other = [key for key in config if not key.startswith("timing.")]
    if other:
        raise PlanError(
            f"{other[0]} is a setting of the build, but the image is already built; only timing.KEY can be set."
        )
    named = split_names(boards, catalogue.boards) or (DEFAULT_BOARD,)
    if len(named) > 1:
        raise PlanError("An image is built for one board; name it with --board.")
    return named[0], {key: parse_integer_setting(key, value) for key, value in config.items()}


class FirmwareOutputWriter:
    """Writes the firmware's output to the terminal as it comes.
    UART goes out as it is, each line of another channel with its name.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._rests: dict[str, bytes] = {}

    def write_channel_output_to_terminal(self, channel: str, data: bytes) -> None:
        """Writes new output of a channel to the terminal. An incomplete last line of a channel other than UART waits
        for its end."""
        if channel != "uart":
            *lines, self._rests[channel] = (self._rests.get(channel, b"") + data).split(b"\n")
            data = b"".join(channel.encode() + b": " + line + b"\n" for line in lines)
        self._stream.write(data)
        self._stream.flush()
