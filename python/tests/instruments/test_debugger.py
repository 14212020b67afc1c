"""`rtoslab gdb`: driven by gdb itself, forwards and backwards; and what comes over the wire from anybody else."""

import contextlib
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.board_images import Program
from tests.cli.test_cli import HANG_S, ROOT, command_error, rtoslab
from tests.instruments.spoilt_pointer import SPOILT_AT, spoilt_pointer

GDB = shutil.which("gdb-multiarch")
with_gdb = pytest.mark.skipif(GDB is None, reason="gdb-multiarch is not installed")
BOARD = "nucleo-f446re"


@contextlib.contextmanager
def gdb_server(image: Path, board: str, *options: str) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """A server on a free port: its address, and its process."""
    command = [
        sys.executable,
        "-m",
        "rtoslab",
        "gdb",
        str(image),
        "--board",
        board,
        "--listen",
        "127.0.0.1:0",
        *options,
    ]
    with subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as server:
        try:
            assert server.stderr is not None
            match = re.search(r"target remote (\S+)'", server.stderr.readline())
            assert match is not None
            yield match[1], server
        finally:
            server.kill()


def gdb_output(image: Path, board: str, *commands: str) -> str:
    """What gdb prints for these commands, each one's output behind a line `>> command`."""
    assert GDB is not None
    with gdb_server(image, board) as (address, _):
        request = ["set confirm off", "set pagination off", f"target remote {address}"]
        for command in commands:
            request += [f"echo >> {command}\\n", command]
        options = [part for item in [*request, "disconnect"] for part in ("-ex", item)]
        done = subprocess.run(
            [GDB, "-nx", "-batch", *options, str(image)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=HANG_S, check=False,
        )  # fmt: skip
    return done.stdout


def after(text: str, command: str, place: int = 0) -> str:
    """What stands behind the command's line; of several the one at `place`."""
    return text.split(f">> {command}\n")[place + 1].split(">> ", maxsplit=1)[0]


@with_gdb
def test_fault_is_traced_backwards_to_its_cause() -> None:
    """From the fault, backwards to the write that spoilt the pointer, thousands of instructions before."""
    output = gdb_output(
        spoilt_pointer(BOARD), BOARD, "break fault", "continue", "watch where", "reverse-continue", "print turn",
        "backtrace", "print where == &value", "next", "print where == &value",
    )  # fmt: skip
    assert "Breakpoint 1, fault ()" in after(output, "continue")
    assert "Old value = (int * volatile) 0xf000000" in after(output, "reverse-continue")
    assert "New value = (int * volatile) 0x2000" in after(output, "reverse-continue")
    assert f"= {SPOILT_AT}\n" in after(output, "print turn")
    assert "spoil ()" in after(output, "backtrace")
    assert "= 1\n" in after(output, "print where == &value")
    assert "= 0\n" in after(output, "print where == &value", 1)


@with_gdb
def test_forward_and_backward_steps_give_the_same_registers() -> None:
    output = gdb_output(
        spoilt_pointer(BOARD), BOARD, "break use", "continue", "info registers", "stepi 7", "info registers",
        "reverse-stepi 7", "info registers", "stepi 7", "info registers",
    )  # fmt: skip
    registers = [after(output, "info registers", place) for place in range(4)]
    assert registers[0] == registers[2] != registers[1] == registers[3]
    assert "xpsr" in registers[0]


@with_gdb
def test_breakpoint_is_reached_backwards_at_the_same_cycles() -> None:
    """Three times forwards, twice backwards; before the first time history ends, and from there it runs the same."""
    output = gdb_output(
        spoilt_pointer(BOARD), BOARD, "break use", *["continue", "monitor cycles"] * 3,
        *["reverse-continue", "monitor cycles"] * 3, "continue", "monitor cycles",
    )  # fmt: skip
    cycles = [after(output, "monitor cycles", place) for place in range(7)]
    assert len(set(cycles[:3])) == 3
    assert cycles[3:5] == [cycles[1], cycles[0]]
    assert "No more reverse-execution history" in after(output, "reverse-continue", 2)
    assert cycles[5].startswith("cycle 0,")
    assert cycles[6] == cycles[0]


@with_gdb
def test_both_cores_are_threads_and_step_back_together() -> None:
    image = Program("t7", "pico", cores=2).elf()
    output = gdb_output(
        image, "pico", "break xTaskIncrementTick", "continue", "info threads", "monitor cycles", "thread 2", "stepi",
        "stepi", "stepi", "reverse-stepi", "reverse-stepi", "reverse-stepi", "monitor cycles",
    )  # fmt: skip
    threads = after(output, "info threads")
    assert "1    Thread 1.1" in threads
    assert "2    Thread 1.2" in threads
    before, now = (after(output, "monitor cycles", place).splitlines() for place in (0, 1))
    assert now[2].split(" instructions")[0] == before[2].split(" instructions")[0], "core 1 is where it was"


@with_gdb
@pytest.mark.parametrize("thread", [1, 2])
def test_thread_in_focus_stays_in_focus(thread: int) -> None:
    """Steps back, by instruction and by line, and the end of history stop in the thread that the user looked at."""
    image = Program("t7", "pico", cores=2).elf()
    commands = ("stepi 5", "reverse-stepi", "reverse-stepi 2", "step", "reverse-step", "reverse-continue")
    output = gdb_output(
        image, "pico", "break xTaskIncrementTick", "continue", "delete", f"thread {thread}",
        *(part for command in commands for part in (command, "thread")),
    )  # fmt: skip
    for place, command in enumerate(commands):
        assert f"Thread 1.{thread})" in after(output, "thread", place), command


@with_gdb
@pytest.mark.parametrize("thread", [1, 2])
def test_backward_step_applies_to_the_focused_thread(thread: int) -> None:
    """gdb names no thread with it. A list of threads looks at all of them in between."""
    image = Program("t7", "pico", cores=2).elf()
    output = gdb_output(
        image, "pico", "break xTaskIncrementTick", "continue", "delete", f"thread {thread}", "info threads",
        "reverse-stepi", "thread", "info threads", "reverse-stepi", "thread",
    )  # fmt: skip
    assert [f"Thread 1.{thread})" in after(output, "thread", place) for place in range(2)] == [True, True]


@with_gdb
def test_change_by_the_user_starts_a_new_history() -> None:
    output = gdb_output(
        spoilt_pointer(BOARD), BOARD, "break use", "continue", "set var turn = 4990", "monitor history", "continue",
        "print turn", "reverse-continue", "print turn", "set var $r3 = 7", "print $r3",
    )  # fmt: skip
    began, now = (int(item) for item in re.findall(r"\d+", after(output, "monitor history")))
    assert began == now > 0
    assert "No more reverse-execution history" in after(output, "reverse-continue")
    assert "= 4990\n" in after(output, "print turn", 1)
    assert "= 7\n" in after(output, "print $r3")


@with_gdb
def test_read_watchpoint_is_refused() -> None:
    assert "Could not insert hardware" in gdb_output(spoilt_pointer(BOARD), BOARD, "rwatch turn", "continue")


def test_history_begins_at_until_and_ctrl_c_ends_the_wait() -> None:
    with gdb_server(spoilt_pointer(BOARD), BOARD, "--until", "spoil") as (address, server):
        assert address.startswith("127.0.0.1:")
        server.send_signal(signal.SIGINT)
        assert server.wait(HANG_S) != 0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--listen", "nowhere.invalid:1"), "Cannot listen on nowhere.invalid:1"),
        (("--listen", "127.0.0.1"), "Cannot listen on 127.0.0.1"),
        (("--until", "no_such_function"), "no_such_function"),
        (("--until", "vectors"), "does not reach vectors"),
        (("--cores", "2"), "has 1 cores, not 2"),
    ],
)
def test_impossible_request_is_reported(options: tuple[str, ...], sentence: str) -> None:
    assert sentence in command_error(rtoslab("gdb", spoilt_pointer(BOARD), "--board", BOARD, *options), 1)


def test_port_in_use_is_reported() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        output = command_error(rtoslab("gdb", spoilt_pointer(BOARD), "--board", BOARD, "--listen", address), 1)
    assert f"Cannot listen on {address}" in output


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[str, int]]:
    with gdb_server(spoilt_pointer(BOARD), BOARD) as (address, _):
        host, _, port = address.partition(":")
        yield host, int(port)


def _packet(body: bytes) -> bytes:
    return b"$" + body + f"#{sum(body) % 256:02x}".encode()


def _answer(line: socket.socket) -> bytes:
    """The body of the next packet from the server; acknowledgements before it are passed over."""
    text = b""
    while not (match := re.search(rb"\$([^#]*)#..", text)):
        received = line.recv(4096)
        assert received, "the server has closed the connection"
        text += received
    return match[1]


@pytest.fixture
def pico_line() -> Iterator[socket.socket]:
    """A connection to the server of a board with two cores, which names threads with their process."""
    with gdb_server(Program("t7", "pico", cores=2).elf(), "pico") as (address, _):
        host, _, port = address.partition(":")
        with socket.create_connection((host, int(port)), timeout=HANG_S) as line:
            line.sendall(_packet(b"qSupported:multiprocess+"))
            assert b"multiprocess+" in _answer(line)
            yield line


def test_ctrl_c_stops_in_the_thread_in_focus(pico_line: socket.socket) -> None:
    pico_line.sendall(_packet(b"Hgp1.2"))
    assert _answer(pico_line) == b"OK"
    pico_line.sendall(_packet(b"g"))
    _answer(pico_line)
    pico_line.sendall(_packet(b"vCont;c") + b"\x03")
    assert _answer(pico_line) == b"T02thread:p01.02;"


@pytest.mark.parametrize("body", [b"g", b"m20000000,4", b"M20000000,1:00"])
def test_thread_that_does_not_exist_is_an_error(pico_line: socket.socket, body: bytes) -> None:
    pico_line.sendall(_packet(b"Hgp1.9"))
    assert _answer(pico_line) == b"OK"
    pico_line.sendall(_packet(body))
    assert _answer(pico_line).startswith(b"E")
    pico_line.sendall(_packet(b"Hgp1.2"))
    assert _answer(pico_line) == b"OK"
    pico_line.sendall(_packet(b"m20000000,4"))
    assert not _answer(pico_line).startswith(b"E")


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        (b"Z2,20000000,fd", b"OK"),
        (b"Z2,20000000,fe", b"E16"),
        (b"Z2,20000000,ffffffff", b"E16"),
        (b"G", b"E79"),
        (b"G00000000", b"E79"),
    ],
)
def test_request_that_the_board_cannot_meet_whole_is_an_error(
    pico_line: socket.socket, body: bytes, answer: bytes
) -> None:
    """A watch has at most 64 words. A write of the registers has a value for each."""
    pico_line.sendall(_packet(body))
    assert _answer(pico_line) == answer


def _assert_answered(server: tuple[str, int]) -> None:
    with socket.create_connection(server, timeout=30) as line:
        line.sendall(_packet(b"qSupported:multiprocess+"))
        assert _answer(line).startswith(b"PacketSize")


def test_step_of_a_thread_that_does_not_exist_ends_the_session_alone(server: tuple[str, int]) -> None:
    with socket.create_connection(server, timeout=HANG_S) as line:
        line.sendall(_packet(b"vCont;s:9"))
    _assert_answered(server)


@pytest.mark.parametrize("sent", [b"$", b"$m2000", b"$g#", b"$g#6"])
def test_incomplete_packet_does_not_block_the_next_client(server: tuple[str, int], sent: bytes) -> None:
    with socket.create_connection(server, timeout=HANG_S) as line:
        line.sendall(_packet(b"?") + sent)
        _assert_answered(server)


def test_endless_packet_ends_its_session(server: tuple[str, int]) -> None:
    with socket.create_connection(server, timeout=HANG_S) as line:
        with contextlib.suppress(ConnectionError):
            line.sendall(b"$" + b"m" * 3_000_000)
        _assert_answered(server)  # although this client stays connected
        with contextlib.suppress(ConnectionError):
            assert line.recv(1) == b""


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.one_of(
        st.binary(min_size=1, max_size=200),
        st.text("mMgGpPzZvbcsHTqQ?!DX0123456789abcdef,:;+-", min_size=1, max_size=60).map(
            lambda text: _packet(text.encode())
        ),
    )
)
def test_server_survives_any_input(server: tuple[str, int], junk: bytes) -> None:
    """Kill packets aside, which end it as they should; after each a plain question is answered."""
    if b"$k#" in junk or b"vKill" in junk:
        return
    with socket.create_connection(server, timeout=HANG_S) as line:
        line.sendall(junk)
    _assert_answered(server)
