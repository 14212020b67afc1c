"""Test code only: the command in a process of its own, without loading its modules anew each time.

Most of what a short command takes is the loading of modules: for the tests together it was minutes. So one process has
loaded them, and forks for each call. A call has its own memory, environment, descriptors and end, and nothing was asked
of the modules before. `test_command_server.py` compares it with the command as a shell starts it. What is told to
Python itself (how it starts, its encoding) has no effect here: `is_served` says where that is so.
"""

import atexit
import gc
import importlib
import json
import multiprocessing
import os
import pkgutil
import selectors
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from multiprocessing import forkserver
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self

from rtoslab.base.paths import find_checkout_root

HANG_S: Final = 900
"""After this a command hangs: far above what any takes, on a busy machine too."""
FORKED = "rtoslab.measure.fork_server"
"""What `measure/pool.py` has its fork server load."""
_ROOT = find_checkout_root()
_OF_PYTHON = ("PYTHON", "LANG", "LC_", "LD_")
"""Variables that begin like this are read before any module of ours is."""
_ROOT_VARIABLE = "RTOSLAB_ROOT"
"""Some modules read a file of it as they are loaded."""
_LATER = ("rtoslab.reports.charts", "scipy.stats", FORKED)
"""Loaded by commands that draw, test or measure; others do without (`test_extras.py`)."""


def is_served(environment: Mapping[str, str]) -> bool:
    """Whether a process that loaded its modules without these variables does as one that loads them with these."""
    differ = (name for name, value in environment.items() if os.environ.get(name) != value)
    root = os.environ.get(_ROOT_VARIABLE, environment.get(_ROOT_VARIABLE))
    return not root and not any(item.startswith(_OF_PYTHON) for item in differ)


def run_served(
    words: Sequence[str], environment: Mapping[str, str], cwd: Path, timeout_s: float
) -> subprocess.CompletedProcess[str]:
    """`python -m rtoslab`, its standard input empty. Raises subprocess.TimeoutExpired."""
    if not _common_server().is_alive():
        _common_server.cache_clear()
    return _common_server().run(*words, environment=environment, cwd=cwd, timeout_s=timeout_s)


@cache
def _common_server() -> "CommandServer":
    plain = {name: value for name, value in os.environ.items() if not name.startswith("RTOSLAB_")}
    server = CommandServer(load=_LATER, environment=plain, forks_measurers=True)
    atexit.register(server.close)
    return server


class CommandServer:
    """Calls of the command, each in a process that is forked of one which has loaded its modules."""

    def __init__(
        self,
        before: str = "",
        load: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        *,
        forks_measurers: bool = False,
    ) -> None:
        """`before`: Python, executed before a module of the laboratory is loaded; `load`: modules besides the commands'
        own; `forks_measurers`: the processes that measure are forked of one that has loaded theirs, too."""
        code = f"{before}\nfrom tests.command_server import _serve; _serve({[*load]}, {forks_measurers})"
        self._process = subprocess.Popen(
            [sys.executable, "-c", code],
            cwd=_ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Ends the server after the present call."""
        if self._process.stdin is not None and not self._process.stdin.closed:
            self._process.communicate()

    def is_alive(self) -> bool:
        """Whether the process that forks has not ended."""
        return self._process.poll() is None

    def run(
        self,
        *words: str | Path,
        first: str = "",
        environment: Mapping[str, str] | None = None,
        cwd: Path = _ROOT,
        timeout_s: float = HANG_S,
    ) -> subprocess.CompletedProcess[str]:
        """The command with these words and no input; `first`: Python, executed in its process before it.

        Raises subprocess.TimeoutExpired, and then ends the server.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with tempfile.NamedTemporaryFile() as out, tempfile.NamedTemporaryFile() as err:
            command = [*map(str, words)]
            request = {
                "words": command, "first": first, "cwd": str(cwd), "out": out.name, "err": err.name,
                "environment": None if environment is None else dict(environment),
            }  # fmt: skip
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
            with selectors.DefaultSelector() as ready:
                ready.register(self._process.stdout, selectors.EVENT_READ)
                if not ready.select(timeout_s):
                    os.killpg(self._process.pid, signal.SIGKILL)
                    self.close()
                    raise subprocess.TimeoutExpired(command, timeout_s, _text(out), _text(err))
            code = self._process.stdout.readline()
            assert code, "the process that forks has ended"
            return subprocess.CompletedProcess(command, int(code), _text(out), _text(err))


def _text(file: IO[bytes]) -> str:
    return Path(file.name).read_bytes().decode().replace("\r\n", "\n")


def _serve(load: Sequence[str], forks_measurers: bool) -> None:
    """The life of the process that forks: calls in, the code that each ended with out."""
    from rtoslab import cli  # noqa: PLC0415 (of this process alone)

    for name in (*(f"{cli.__name__}.{module.name}" for module in pkgutil.iter_modules(cli.__path__)), *load):
        importlib.import_module(name)
    if forks_measurers:
        # They load modules for longer than most of them measure. Each is told its environment and folder anew.
        multiprocessing.get_context("forkserver").set_forkserver_preload([FORKED])
        forkserver.ensure_running()
        # It is no child of the commands, which would ask the system about it as if it were.
        forkserver._forkserver.ensure_running = lambda: None  # type: ignore[method-assign]
    gc.freeze()
    while line := sys.stdin.buffer.readline():
        child = os.fork()
        if child == 0:
            _become(**json.loads(line))
            return
        sys.stdout.write(f"{os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}\n")
        sys.stdout.flush()


def _become(
    words: list[str], first: str, environment: dict[str, str] | None, cwd: str, out: str, err: str, **_: Any
) -> None:
    """The command, from here to the end of the process."""
    for number, name in enumerate((os.devnull, out, err)):
        opened = os.open(name, os.O_WRONLY if number else os.O_RDONLY)
        os.dup2(opened, number)
        os.close(opened)
    os.chdir(cwd)
    if environment is not None:
        os.environ.clear()
        os.environ.update(environment)
    sys.argv = [str(Path(str(sys.modules["rtoslab"].__file__)).with_name("__main__.py")), *words]
    exec(first, {})  # noqa: S102 (the test's own)
    from rtoslab.__main__ import main  # noqa: PLC0415 (of this process alone)

    main()
