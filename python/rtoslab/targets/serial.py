"""A real board: the bytes of its serial port, from the moment of listening to the end record or a silence too long."""

import time
from collections.abc import Callable
from typing import Final, Protocol

import serial

from rtoslab.base import BoardSilentError, PortError
from rtoslab.records import OVERRIDES

SILENCE_LIMIT_S: Final = 60.0
"""Beyond the window itself: time to flash and reset the board by hand."""
_POLL_S: Final = 0.2
_LAST: Final = (b" end ", *(f" {name} ".encode() for name in sorted(OVERRIDES)))


class Port(Protocol):
    """What is used of a serial port."""

    def read(self, size: int = 1) -> bytes:
        """Up to `size` bytes, or none after the poll time."""

    def close(self) -> None:
        """Gives the device back."""


def open_port(device: str, baud: int) -> Port:
    """Opens the device, 8 data bits, no parity. Raises PortError."""
    try:
        port: Port = serial.Serial(device, baud, timeout=_POLL_S)
    except (serial.SerialException, OSError, ValueError) as cause:
        raise PortError(
            f"Cannot open the serial port {device} ({cause}); check its name, cable and permissions."
        ) from None
    return port


def listen_to_board(
    device: str, baud: int, silence_limit_s: float, opener: Callable[[str, int], Port] = open_port
) -> bytes:
    """Every byte up to the end record or an override. Raises BoardSilentError, PortError.

    A board that falls silent after it has spoken ends the listening: the decoder then says what is missing.
    """
    port = opener(device, baud)
    received = bytearray()
    quiet_since = time.monotonic()
    try:
        while not _is_over(received):
            try:
                fresh = port.read(4096)
            except (serial.SerialException, OSError) as cause:
                raise PortError(
                    f"The serial port {device} failed while listening ({cause}); check the cable."
                ) from None
            now = time.monotonic()
            if fresh:
                received += fresh
                quiet_since = now
            elif now - quiet_since > silence_limit_s:
                break
    finally:
        port.close()
    if not received:
        raise BoardSilentError(
            f"The board on {device} never answered within {silence_limit_s:g} s at {baud} baud; "
            "check that the image is flashed, the wiring of its transmit pin, and reset it."
        )
    return bytes(received)


def _is_over(received: bytearray) -> bool:
    """Whether the last whole line is one that ends a run."""
    if not received.endswith(b"\n"):
        return False
    last = received[:-1][received[:-1].rfind(b"\n") + 1 :]
    return last.startswith(b"@") and any(mark in last for mark in _LAST)
