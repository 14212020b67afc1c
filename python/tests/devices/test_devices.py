"""Each device by itself, as its bus calls it."""

from rtoslab.devices import Eeprom, PinLoopback, SpiLoopback, TemperatureSensor, UartLoopback


def write(device: Eeprom | TemperatureSensor, *data: int, now_ns: int = 0) -> bool:
    return device.start(False, now_ns) and all(device.write(byte, now_ns) for byte in data)


def read(device: Eeprom | TemperatureSensor, count: int) -> list[int]:
    assert device.start(True, 10**9)
    return [device.read(10**9) for _ in range(count)]


def test_an_eeprom_stores_pages_after_the_stop() -> None:
    eeprom = Eeprom(256, page=8, address_bytes=1)
    assert write(eeprom, 0x06, 1, 2, 3, 4)
    assert eeprom.memory[:8] == b"\xff" * 8
    eeprom.stop(1000)
    # The third byte wraps to the begin of the page.
    assert eeprom.memory[:10] == b"\x03\x04\xff\xff\xff\xff\x01\x02\xff\xff"
    assert not eeprom.start(False, 4_999_999)
    assert eeprom.start(False, 5_001_000)


def test_an_eeprom_reads_on_and_wraps_at_its_end() -> None:
    eeprom = Eeprom(256, page=8, address_bytes=1)
    eeprom.memory[255], eeprom.memory[0] = 7, 8
    assert write(eeprom, 0xFF)
    eeprom.stop(0)
    assert read(eeprom, 2) == [7, 8]
    assert read(eeprom, 1) == [0xFF]
    # An address alone stores nothing, so the memory is not busy.
    assert eeprom.start(True, 1)


def test_addresses_of_two_bytes() -> None:
    eeprom = Eeprom()
    write(eeprom, 0x12, 0x34, 0x56)
    eeprom.stop(0)
    assert (eeprom.memory[0x1234], len(eeprom.memory)) == (0x56, 32768)


def test_a_sensor_has_eighths_of_a_degree() -> None:
    sensor = TemperatureSensor()
    for celsius, expected in [
        (25.0, [0x19, 0x00]),
        (25.125, [0x19, 0x20]),
        (-25.0, [0xE7, 0x00]),
        (-0.125, [0xFF, 0xE0]),
    ]:
        sensor.celsius = celsius
        write(sensor, 0)
        assert read(sensor, 2) == expected, celsius


def test_the_registers_of_a_sensor() -> None:
    sensor = TemperatureSensor()
    write(sensor, 3)
    assert read(sensor, 2) == [80, 0]
    write(sensor, 2, 0x30, 0x80)
    assert read(sensor, 3) == [0x30, 0x80, 0x30]
    write(sensor, 1, 0x18)
    assert read(sensor, 2) == [0x18, 0x18]
    write(sensor, 0, 1, 2)
    assert read(sensor, 2) == [25, 0]


def test_wires() -> None:
    assert SpiLoopback().exchange(0x5A, 8, 0) == 0x5A
    assert UartLoopback().receive(65, 0) == b"A"
    wire = PinLoopback(2, 3)
    assert (wire.change(2, True, 0), wire.change(4, True, 0)) == ([(3, True)], [])
