"""Consoles of the usual SDKs and kernels: blocking, interrupt-driven, typed into and scripted."""

import itertools

import pytest

from tests.compat.build import Board, image, uf2_of

DRIVERS = ("SDK", "NUTTX", "ZEPHYR", "EMBASSY")
BANNER = "a line that is longer than the FIFO of the UART\n" * 5


@pytest.mark.parametrize("name", ["hello", "launch", "timers", "rom"])
def test_common_start_up_touches_nothing_that_is_not_modelled(name: str) -> None:
    board = Board(image(name), strict=True).run(60)
    assert board.stop != "strict", board.machine.warnings()


def test_fifo_is_sent_after_main_has_returned() -> None:
    board = Board(image("hello")).run(20)
    assert board.uart == b"Hello, UART!\r\n"
    assert board.stop == "lockup"


@pytest.mark.parametrize("defines", [("FOREVER",), ("FOREVER", "NO_FIFO")])
def test_blocking_output_has_the_speed_of_the_line(defines: tuple[str, ...]) -> None:
    board = Board(image("hello", defines=defines))
    seen: list[int] = []
    while len(seen) < 14:
        board.machine.run(50)
        seen += [board.machine.cycle()] * len(board.machine.take_uart())
    # 115200 baud of 125 MHz: 1085 cycles a bit, ten bits a frame, no gap between frames.
    assert all(abs(end - start - 10850) <= 100 for start, end in itertools.pairwise(seen))


def test_uf2_runs_as_its_elf_does() -> None:
    elf = image("shell", defines=("SDK",))
    first, second = Board(elf).run(30), Board(uf2_of(elf)).run(30)
    assert first.uart == second.uart != b""
    assert first.machine.registers(0) == second.machine.registers(0)


@pytest.mark.parametrize("driver", DRIVERS)
def test_typed_lines_are_echoed(driver: str) -> None:
    board = Board(image("shell", defines=(driver,)))
    board.machine.type_uart(b"help\r")
    board.run(40)
    board.machine.type_uart(b"one much longer line, beyond what the receive FIFO holds\r")
    text = board.run(40).uart.decode().replace("\0", "").replace("\r", "")
    assert sorted(text) == sorted(
        BANNER + "$ help\nok\n$ one much longer line, beyond what the receive FIFO holds\nok\n$ "
    )
    assert text.endswith("ok\n$ ")


@pytest.mark.parametrize("driver", DRIVERS)
def test_scripted_lines_wait_for_their_prompt(driver: str) -> None:
    board = Board(image("shell", defines=(driver,)))
    board.machine.script_uart([(b"$ ", b"first\r"), (b"ok\r\n$ ", b"second\r"), (b"$ ", b"third\r")])
    text = board.run(80).uart.decode().replace("\0", "").replace("\r", "")
    assert text == BANNER + "$ first\nok\n$ second\nok\n$ third\nok\n$ "
    assert board.machine.warnings() == []
