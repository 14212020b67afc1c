"""Test code only: the command in a process of its own, without loading its modules anew each time.

Most of what a short command takes is the loading of modules: for the tests together it was minutes. So one process for
each of pytest's has loaded them, and forks for each call. A call has its own memory, environment, descriptors and end;
nothing was asked of the modules before. `test_command_server.py` holds it against the command as a shell starts it.
What is told to Python itself (how it starts, its encoding) is not heard here: `served` says where that is so.
"""

import array
import gc
import importlib
import json
import multiprocessing
import os
import pkgutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from multiprocessing import forkserver
from pathlib import Path
from typing import IO, Any

_LENGTH = struct.Struct("!I")
_ENDED = struct.Struct("!i")
_OF_PYTHON = ("PYTHON", "LANG", "LC_", "LD_")
"""Variables that begin like this are read before any module of ours is."""
_ROOT = "RTOSLAB_ROOT"
"""Some modules read a file of it as they are loaded."""
FORKED = "rtoslab.measure.fork_server"
"""What `measure/pool.py` has its fork server load."""
_LATER = ("rtoslab.reports.charts", "scipy.stats", FORKED)
"""Loaded by commands that draw, test or measure; others do without (`test_extras.py`)."""
_CHECKOUT = Path(__file__).resolve().parents[2]


def is_served(environment: Mapping[str, str]) -> bool:
    """Whether a process that loaded its modules without these variables does as one that loads them with these."""
    differ = (name for name, value in environment.items() if os.environ.get(name) != value)
    return not os.environ.get(_ROOT, environment.get(_ROOT)) and not any(item.startswith(_OF_PYTHON) for item in differ)


def run_served(
    words: Sequence[str], environment: Mapping[str, str], cwd: Path, timeout_s: float
) -> subprocess.CompletedProcess[str]:
    """`python -m rtoslab`, its standard input empty. Raises subprocess.TimeoutExpired."""
    command = [sys.executable, "-m", "rtoslab", *words]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        server = _server()
        if server.poll() is not None:
            _server.cache_clear()
            server = _server()
        request = json.dumps({"words": list(words), "environment": dict(environment), "cwd": str(cwd)}).encode()
        line = _lines()[server.pid]
        with Path(os.devnull).open("rb") as nothing:
            descriptors = array.array("i", [item.fileno() for item in (nothing, out, err)])
            line.sendmsg([_LENGTH.pack(len(request))], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors)])
        line.sendall(request)
        line.settimeout(timeout_s)
        try:
            code = _ENDED.unpack(_read_exactly(line, _ENDED.size))[0]
        except TimeoutError:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()
            raise subprocess.TimeoutExpired(command, timeout_s, _text(out), _text(err)) from None
        return subprocess.CompletedProcess(command, code, _text(out), _text(err))


@cache
def _lines() -> dict[int, socket.socket]:
    return {}


@cache
def _server() -> "subprocess.Popen[bytes]":
    mine, its = socket.socketpair()
    with its:
        code = f"from tests.command_server import serve; serve({its.fileno()})"
        plain = {name: value for name, value in os.environ.items() if not name.startswith("RTOSLAB_")}
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            cwd=_CHECKOUT, env=plain, stdin=subprocess.DEVNULL, pass_fds=[its.fileno()], start_new_session=True,
        )  # fmt: skip
    _lines()[process.pid] = mine
    return process


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode().replace("\r\n", "\n")


def _read_exactly(line: socket.socket, size: int) -> bytes:
    result = b""
    while len(result) < size:
        part = line.recv(size - len(result))
        if not part:
            raise EOFError("the process that starts commands for the tests has ended")
        result += part
    return result


def serve(descriptor: int) -> None:
    """The life of the process that forks: calls in, the code that each ended with out."""
    load_commands(_LATER)
    _start_fork_server()
    gc.freeze()
    with socket.socket(fileno=descriptor) as line:
        while True:
            head, passed, _, _ = socket.recv_fds(line, _LENGTH.size, 3)
            if not head:
                return
            request = json.loads(
                _read_exactly(line, _LENGTH.unpack(head + _read_exactly(line, _LENGTH.size - len(head)))[0])
            )
            child = os.fork()
            if child == 0:
                line.close()
                _become(request, passed)
                return
            for item in passed:
                os.close(item)
            line.sendall(_ENDED.pack(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])))


def _start_fork_server() -> None:
    """Of it the commands fork the processes that measure. It loads modules for longer than most of them measure, and
    each process is told its environment and folder anew."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([FORKED])
    forkserver.ensure_running()


def _become(request: Mapping[str, Any], passed: Sequence[int]) -> None:
    """The command, from here to the end of the process."""
    for number, item in enumerate(passed):
        os.dup2(item, number)
        os.close(item)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environment"])
    # It is no child of this process, which would ask the system about it as if it were.
    forkserver._forkserver.ensure_running = lambda: None  # type: ignore[method-assign]
    carry_out(request["words"])


def load_commands(more: Sequence[str]) -> None:
    """Loads the modules of all commands, and more."""
    from rtoslab import cli  # noqa: PLC0415 (of this process alone)

    for name in (*(f"{cli.__name__}.{module.name}" for module in pkgutil.iter_modules(cli.__path__)), *more):
        importlib.import_module(name)


def carry_out(words: Sequence[str]) -> None:
    """The command with these words: the rest of this process's life."""
    sys.argv = [str(Path(str(sys.modules["rtoslab"].__file__)).with_name("__main__.py")), *words]
    from rtoslab.__main__ import main  # noqa: PLC0415 (of this process alone)

    main()
