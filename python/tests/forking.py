"""Test code only: the command as processes forked of one that has loaded its modules and was altered first.

What `tests/command_server.py` forks is the command as it is. Here a test says what is different: for all calls before a
module is loaded (packages that are missing), or for one call in its own process (a signal that comes).
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from tests.cli.test_cli import HANG_S, ROOT
from tests.command_server import carry_out, load_commands

_CODE = "from tests.forking import serve; serve({})"


class Forking:
    """Calls of the command, each in a process of its own."""

    def __init__(self, before: str = "", load: Sequence[str] = ()) -> None:
        """`before`: Python, executed before a module of the laboratory is loaded; `load`: modules besides the commands'
        own."""
        self._process = subprocess.Popen(
            [sys.executable, "-c", f"{before}\n{_CODE.format([*load])}"],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._process.communicate()

    def run(self, *words: str | Path, first: str = "", cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
        """The command with these words and no input; `first`: Python, executed in its process before it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with _file() as out, _file() as err:
            request = {"words": [*map(str, words)], "first": first, "cwd": str(cwd), "out": out.name, "err": err.name}
            self._process.stdin.write(f"{json.dumps(request)}\n")
            self._process.stdin.flush()
            code = self._process.stdout.readline()
            assert code, "the process that forks has ended"
            return subprocess.CompletedProcess(request["words"], int(code), out.read(), err.read())


@contextmanager
def _file() -> Iterator[IO[str]]:
    with tempfile.NamedTemporaryFile("r") as file:
        yield file


def serve(load: Sequence[str]) -> None:
    """The life of the process that forks: calls in, the code that each ended with out."""
    load_commands(load)
    while line := sys.stdin.readline():
        child = os.fork()
        if child == 0:
            _become(**json.loads(line))
            return
        sys.stdout.write(f"{os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}\n")
        sys.stdout.flush()


def _become(words: list[str], first: str, cwd: str, out: str, err: str) -> None:
    """The command, from here to the end of the process."""
    signal.alarm(HANG_S)  # nobody waits for one that hangs
    for number, name in enumerate((os.devnull, out, err)):
        opened = os.open(name, os.O_WRONLY if number else os.O_RDONLY)
        os.dup2(opened, number)
        os.close(opened)
    os.chdir(cwd)
    exec(first, {})  # noqa: S102 (the test's own)
    carry_out(words)
