"""A serial port that plays a script: what is heard, what counts of it, and what is said where it cannot count."""

import pytest

from rtoslab.base.errors import BoardResetError, BoardSilentError, PortError
from rtoslab.hardware.listening import Listener, listen_to_board, open_port
from tests.fakes import EXPECTED, stream


class FakePort:
    def __init__(self, pieces: list[bytes]) -> None:
        self.pieces = pieces
        self.closed = False

    def read(self, size: int = 1) -> bytes:
        return self.pieces.pop(0) if self.pieces else b""

    def close(self) -> None:
        self.closed = True


def listener(*pieces: bytes) -> Listener:
    return Listener("p", 115_200, EXPECTED.run, lambda *_: FakePort(list(pieces)))


def by_hand(port: FakePort, limit_s: float = 0.01) -> bytes:
    return listen_to_board("p", 115_200, EXPECTED.run, limit_s, lambda *_: port)


def test_listening_ends_with_the_end_record() -> None:
    port = FakePort([b"noise\n", stream()[:100], b"", stream()[100:], b"more"])
    assert by_hand(port, 5) == stream()
    assert port.closed


def test_a_silent_board_is_an_error() -> None:
    port = FakePort([])
    with pytest.raises(BoardSilentError, match=r"sent nothing within 0.01 s at 115200 baud"):
        by_hand(port)
    assert port.closed


def test_a_board_that_falls_silent_gives_what_it_sent() -> None:
    assert by_hand(FakePort([b"@0 be"])) == b"@0 be"


def test_a_missing_port_is_an_error() -> None:
    with pytest.raises(PortError, match="check its name"):
        open_port("/dev/does-not-exist", 115_200)


def test_by_hand_the_last_run_to_begin_counts() -> None:
    assert by_hand(FakePort([stream()[:150], stream()])) == stream()


def test_another_images_last_words_do_not_end_the_listening() -> None:
    other = stream().replace(EXPECTED.run.encode(), b"f" * 16)
    heard = listener(other, stream())
    heard.receive()
    heard.mark_flashed()
    assert heard.read_run(1) == stream()


def test_what_the_program_starts_before_it_ends_is_heard() -> None:
    heard = listener(stream()[:200], stream()[200:])
    heard.receive()
    heard.mark_flashed()
    assert heard.read_run(1) == stream()


def test_a_reset_by_the_program_itself_is_no_reset_in_the_middle() -> None:
    heard = listener(stream()[:200], stream())
    heard.receive()
    heard.mark_flashed()
    assert heard.read_run(1) == stream()


def test_a_reset_in_the_middle_is_said_even_inside_a_line() -> None:
    heard = listener(stream()[:200], stream())
    heard.mark_flashed()
    with pytest.raises(BoardResetError, match="restarted during its run, 200 bytes after its begin"):
        heard.read_run(1)
