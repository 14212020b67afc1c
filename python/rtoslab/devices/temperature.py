"""A temperature sensor on an I2C bus, with the registers of an LM75."""

from typing import Final

_TEMPERATURE, _CONFIGURATION, _HYSTERESIS, _LIMIT = range(4)
_RESOLUTION: Final = 0.125
"""Degrees of the lowest of eleven bits, as the LM75B has them."""


class TemperatureSensor:
    """An LM75B: a pointer selects temperature (0), configuration (1), hysteresis (2) or limit (3).

    Set `celsius` at any time. Temperatures have two bytes, the upper eleven bits in eighths of a degree.
    """

    def __init__(self, celsius: float = 25.0) -> None:
        """`celsius`: what it measures first."""
        self.celsius = celsius
        self._registers = {_CONFIGURATION: 0, _HYSTERESIS: 75 << 8, _LIMIT: 80 << 8}
        self._pointer = 0
        self._written = 0
        self._sent = 0

    def start(self, _reads: bool, _now_ns: int) -> bool:
        """Begins a transfer at the device's address, and acknowledges it."""
        self._written = self._sent = 0
        return True

    def write(self, byte: int, _now_ns: int) -> bool:
        """Takes the pointer, then the bytes of a register, the upper one first."""
        if self._written == 0:
            self._pointer = byte & 3
        elif self._pointer == _CONFIGURATION:
            self._registers[_CONFIGURATION] = byte
        elif self._pointer != _TEMPERATURE and self._written <= 2:
            shift = 8 * (2 - self._written)
            self._registers[self._pointer] = self._registers[self._pointer] & ~(0xFF << shift) | byte << shift
        self._written += 1
        return True

    def read(self, _now_ns: int) -> int:
        """Returns the next byte of the register that the pointer selects."""
        if self._pointer == _CONFIGURATION:
            return self._registers[_CONFIGURATION]
        if self._pointer == _TEMPERATURE:
            value = round(self.celsius / _RESOLUTION) << 5 & 0xFFFF
        else:
            value = self._registers[self._pointer]
        self._sent += 1
        return value >> 8 if self._sent % 2 else value & 0xFF
