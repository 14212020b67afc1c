"""An EEPROM of the 24xx family on an I2C bus."""

from typing import Final

ERASED: Final = 0xFF
WRITE_TIME_MS: Final = 5.0
"""The longest time that data sheets give for a page."""


class Eeprom:
    """A serial EEPROM: a word address, then data. A write is stored page by page after the STOP.

    While it stores, it does not acknowledge its address: firmware polls for the end.
    """

    def __init__(
        self, size: int = 32768, *, page: int = 64, address_bytes: int = 2, write_time_ms: float = WRITE_TIME_MS
    ) -> None:
        """`size` and `page` in bytes. The default is a 24LC256. A 24LC02 has size=256, page=8, address_bytes=1."""
        self.memory = bytearray([ERASED]) * size
        self._page = page
        self._address_bytes = address_bytes
        self._write_time_ns = round(write_time_ms * 1e6)
        self._address = 0
        self._missing = 0
        self._latch: dict[int, int] = {}
        self._busy_until_ns = 0

    def start(self, reads: bool, now_ns: int) -> bool:
        """Begins a transfer at the device's address. Returns False (no acknowledge) while a page is being stored."""
        if now_ns < self._busy_until_ns:
            return False
        if not reads:
            self._missing = self._address_bytes
            self._latch.clear()
        return True

    def write(self, byte: int, _now_ns: int) -> bool:
        """Takes a byte: first those of the word address, then data. Data wrap around in their page."""
        if self._missing:
            self._missing -= 1
            self._address = (self._address << 8 | byte) & ((1 << 8 * self._address_bytes) - 1)
            self._address %= len(self.memory)
            return True
        self._latch[self._address] = byte
        begin = self._address - self._address % self._page
        self._address = begin + (self._address + 1 - begin) % self._page
        return True

    def read(self, _now_ns: int) -> int:
        """Returns the byte at the word address, and goes on to the next. The first byte follows the last one."""
        byte = self.memory[self._address]
        self._address = (self._address + 1) % len(self.memory)
        return byte

    def stop(self, now_ns: int) -> None:
        """Ends the transfer, and begins to store what was written."""
        if self._latch:
            for address, byte in self._latch.items():
                self.memory[address] = byte
            self._latch.clear()
            self._busy_until_ns = now_ns + self._write_time_ns
