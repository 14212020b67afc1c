"""Reads a real board's serial port from the moment it is opened to the end record, or to a silence too long.

Data from a wire is untrusted: it is bounded in bytes and time, and only the decoder interprets it."""

import time
from collections.abc import Callable
from typing import Final, Protocol

import serial

from rtoslab.base import BoardResetError, BoardSilentError, SerialPortError
from rtoslab.intake import STREAM_BYTES
from rtoslab.records import OVERRIDES

_POLL_S: Final = 0.05
_PIECE: Final = 4096
_LAST: Final = (b" end ", *(f" {name} ".encode() for name in sorted(OVERRIDES)))
_BEGIN: Final = "@0 begin run="


class SerialPortInterface(Protocol):
    """The interface of a serial port, as far as rtoslab needs it."""

    def read(self, size: int = 1) -> bytes:
        """Returns up to `size` bytes that were received, or none after the time limit of a read."""

    def close(self) -> None:
        """Closes the serial port."""


Opener = Callable[[str, int], SerialPortInterface]


def open_serial_port(device: str, baud: int) -> SerialPortInterface:
    """Returns a serial port (8 data bits, no parity), opened for this process alone. Raises SerialPortError."""
    try:
        port: SerialPortInterface = serial.Serial(device, baud, timeout=_POLL_S, exclusive=True)
    except (serial.SerialException, OSError, ValueError) as cause:
        raise SerialPortError(
            f"Cannot open the serial port {device} ({cause}); check its name, cable and permissions, and that no other "
            "program uses it."
        ) from None
    return port


class SerialPortListener:
    """An open serial port with all bytes received so far."""

    def __init__(
        self, device: str, baud: int, run_id: str, opener: Opener = open_serial_port, *, flashed_by_hand: bool = False
    ) -> None:
        """Opens the port for the image of a run id. `flashed_by_hand`: somebody flashes and resets the board meanwhile,
        so the last run to begin counts. Raises SerialPortError."""
        self._device = device
        self._baud = baud
        self._is_flashed_by_hand = flashed_by_hand
        self._begin_mark = f"{_BEGIN}{run_id} ".encode()
        self._port = opener(device, baud)
        self.received = bytearray()
        self._flashed_at = 0

    def close(self) -> None:
        """Closes the serial port."""
        self._port.close()

    def receive_bytes(self) -> bool:
        """Reads bytes for a moment. Returns whether any came. Raises SerialPortError if the port does not work any
        more."""
        try:
            fresh = self._port.read(_PIECE)
        except (serial.SerialException, OSError) as cause:
            raise SerialPortError(
                f"The serial port {self._device} failed after {len(self.received):,} bytes ({cause}); check the cable."
            ) from None
        self.received += fresh
        return bool(fresh)

    def note_image_flashed(self) -> None:
        """Remembers that the image is flashed and started now. A run that begins later is the image's own."""
        self._flashed_at = len(self.received)

    def read_until_run_ends(self, silence_limit_s: float) -> bytes:
        """Reads until the image's run ends. Returns its bytes from the begin record to the end record, or to a record
        that voids the run.

        A board that falls silent after it has spoken ends the listening: the decoder then says what is missing. Raises
        BoardSilentError, BoardResetError, SerialPortError.
        """
        quiet_since = time.monotonic()
        while not self._has_run_ended() and len(self.received) < STREAM_BYTES:
            if self.receive_bytes():
                quiet_since = time.monotonic()
                self._require_one_boot()
            elif time.monotonic() - quiet_since > silence_limit_s:
                break
        if len(self.received) == self._flashed_at and not self._offsets_of_begin_records():
            raise BoardSilentError(
                f"The board on {self._device} sent nothing within {silence_limit_s:g} s at {self._baud} baud; "
                "check that the image is flashed and that the transmit pin is connected, and reset the board."
            )
        return bytes(self.received[self._valid_run_offset_in_received_bytes() :])

    def _offsets_of_begin_records(self) -> list[int]:
        """Returns where each begin record of the image is in the received bytes.

        A reset may come inside a line, so begin records are searched anywhere. No value of another record can contain
        one.
        """
        boots, place = [], self.received.find(self._begin_mark)
        while place >= 0:
            boots.append(place)
            place = self.received.find(self._begin_mark, place + 1)
        return boots

    def _valid_run_offset_in_received_bytes(self) -> int:
        """Returns where the valid run begins in the received bytes.

        The flashing program may reset the board more than once, so a run that began before flashing ended is replaced
        by a later one.
        """
        boots = self._offsets_of_begin_records()
        later = [boot for boot in boots if boot >= self._flashed_at]
        if later and not self._is_flashed_by_hand:
            return later[0]
        # Without a begin record of ours the decoder sees all that came since the image was started.
        return boots[-1] if boots else self._flashed_at

    def _require_one_boot(self) -> None:
        """Raises BoardResetError if the image has started more than once since it was flashed."""
        later = [boot for boot in self._offsets_of_begin_records() if boot >= self._flashed_at]
        if len(later) > 1 and not self._is_flashed_by_hand:
            raise BoardResetError(
                f"The board on {self._device} restarted during its run, {later[1] - later[0]:,} bytes after its "
                "begin; check its watchdog, its power supply and the reset button."
            )

    def _has_run_ended(self) -> bool:
        """Whether the last whole line that was received ends the run."""
        if not self.received.endswith(b"\n"):
            return False
        begins = self.received.rfind(b"\n", 0, len(self.received) - 1) + 1
        last = bytes(self.received[begins:-1])
        return (
            begins >= self._valid_run_offset_in_received_bytes()
            and last.startswith(b"@")
            and any(mark in last for mark in _LAST)
        )


def listen_to_board(
    device: str, baud: int, run_id: str, silence_limit_s: float, opener: Opener = open_serial_port
) -> bytes:
    """Returns what an image sends over a serial port, up to its end record or to one that voids the run.

    `run_id`: that of the image. Somebody flashes and resets the board by hand. Raises BoardSilentError,
    SerialPortError.
    """
    listener = SerialPortListener(device, baud, run_id, opener, flashed_by_hand=True)
    try:
        return listener.read_until_run_ends(silence_limit_s)
    finally:
        listener.close()
