"""Wires that bring back what a board sends."""


class SpiLoopback:
    """A wire from MOSI to MISO."""

    def exchange(self, frame: int, _bits: int, _now_ns: int) -> int:
        """Returns the frame that the board sends."""
        return frame


class UartLoopback:
    """A wire from TX to RX."""

    def receive(self, byte: int, _now_ns: int) -> bytes:
        """Returns the byte that the board sends. It arrives at line speed."""
        return bytes([byte])


class PinLoopback:
    """A wire from one pin to another."""

    def __init__(self, source: int, destination: int) -> None:
        """Numbers of the pins, as in recorded edges."""
        self._source = source
        self._destination = destination

    def change(self, pin: int, level: bool, _now_ns: int) -> list[tuple[int, bool]]:
        """Returns the new level of the destination if the source's level changed."""
        return [(self._destination, level)] if pin == self._source else []
