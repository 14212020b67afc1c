"""Devices to attach to a virtual board: memories, sensors, loop-backs (docs/python-api.md)."""

from rtoslab.devices.eeprom import Eeprom
from rtoslab.devices.loopback import PinLoopback, SpiLoopback, UartLoopback
from rtoslab.devices.temperature import TemperatureSensor

__all__ = ["Eeprom", "PinLoopback", "SpiLoopback", "TemperatureSensor", "UartLoopback"]
