"""A serial port that plays a script: what is heard, what counts of it, and what is said where it cannot count."""

import pytest

from rtoslab.base.errors import BoardResetError, BoardSilentError, SerialPortError
from rtoslab.hardware.listening import SerialPortListener, listen_to_board, open_serial_port
from tests.fakes import EXPECTED, stream


class FakePort:
    def __init__(self, pieces: list[bytes]) -> None:
        self.pieces = pieces
        self.closed = False

    def read(self, size: int = 1) -> bytes:
        return self.pieces.pop(0) if self.pieces else b""

    def close(self) -> None:
        self.closed = True


def listener(*pieces: bytes) -> SerialPortListener:
    return SerialPortListener("p", 115_200, EXPECTED.run, lambda *_: FakePort(list(pieces)))


def listen_without_flashing(port: FakePort, limit_s: float = 0.01) -> bytes:
    return listen_to_board("p", 115_200, EXPECTED.run, limit_s, lambda *_: port)


def test_reading_stops_at_the_end_record() -> None:
    port = FakePort([b"noise\n", stream()[:100], b"", stream()[100:], b"more"])
    assert listen_without_flashing(port, 5) == stream()
    assert port.closed


def test_silent_board_is_an_error() -> None:
    port = FakePort([])
    with pytest.raises(BoardSilentError, match=r"sent nothing within 0.01 s at 115200 baud"):
        listen_without_flashing(port)
    assert port.closed


def test_board_that_stops_sending_gives_its_output() -> None:
    assert listen_without_flashing(FakePort([b"@0 be"])) == b"@0 be"


def test_missing_port_is_an_error() -> None:
    with pytest.raises(SerialPortError, match="check its name"):
        open_serial_port("/dev/does-not-exist", 115_200)


def test_last_run_counts_if_flashed_by_hand() -> None:
    assert listen_without_flashing(FakePort([stream()[:150], stream()])) == stream()


def test_end_record_of_another_image_is_ignored() -> None:
    other = stream().replace(EXPECTED.run.encode(), b"f" * 16)
    heard = listener(other, stream())
    heard.receive_bytes()
    heard.note_image_flashed()
    assert heard.read_until_run_ends(1) == stream()


def test_output_during_flashing_is_received() -> None:
    heard = listener(stream()[:200], stream()[200:])
    heard.receive_bytes()
    heard.note_image_flashed()
    assert heard.read_until_run_ends(1) == stream()


def test_reset_by_the_flash_program_is_not_an_error() -> None:
    heard = listener(stream()[:200], stream())
    heard.receive_bytes()
    heard.note_image_flashed()
    assert heard.read_until_run_ends(1) == stream()


def test_reset_inside_a_line_is_reported() -> None:
    heard = listener(stream()[:200], stream())
    heard.note_image_flashed()
    with pytest.raises(BoardResetError, match="restarted during its run, 200 bytes after its begin"):
        heard.read_until_run_ends(1)
