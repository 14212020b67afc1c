"""No call that only POSIX has stands in the way to macOS and Windows, but where it is asked for first."""

import ast
import re
from collections.abc import Iterator

import pytest

from rtoslab.base import find_checkout_root

PACKAGE = find_checkout_root() / "python" / "rtoslab"
FILES = sorted(PACKAGE.rglob("*.py"))
MODULES = {"fcntl", "termios", "pty", "tty", "pwd", "grp", "resource", "syslog"}
NAMES = {
    "os": {"fork", "forkpty", "setsid", "killpg", "getuid", "geteuid", "fchmod", "fchown", "chown", "nice", "mkfifo",
           "sched_getaffinity", "sysconf", "getpgid", "setpgid", "wait3", "wait4", "O_NOCTTY", "O_NONBLOCK",
           "O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW"},
    "signal": {"SIGKILL", "SIGALRM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGSTOP", "SIGCONT", "pthread_kill", "alarm"},
    "select": {"poll", "epoll"},
}  # fmt: skip
GUARDED = {
    "intake/input_files.py": {"select.poll": "of a pipe with a name, which Windows has not",
                              "select.POLLIN": "the same"},
    "interrupts/__init__.py": {"signal.setitimer": "where there is SIGALRM", "signal.ITIMER_REAL": "the same"},
}  # fmt: skip
NAMES["signal"] |= {"setitimer", "ITIMER_REAL"}
NAMES["select"] |= {"POLLIN"}
OPTIONS = {"preexec_fn", "start_new_session", "pass_fds"}
TOLD = re.compile("|".join((*sorted(MODULES.union(*NAMES.values(), OPTIONS)), "proc")))
"""What a source without it has not: the text says so sooner than the tree."""


def posix_only(source: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(source)) if TOLD.search(source) else ():
        if isinstance(node, ast.Import):
            yield from ((node.lineno, item.name) for item in node.names if item.name.partition(".")[0] in MODULES)
        elif isinstance(node, ast.ImportFrom):
            if node.module in MODULES:
                yield node.lineno, str(node.module)
            elif node.module in NAMES:
                wrong = (item.name for item in node.names if item.name in NAMES[str(node.module)])
                yield from ((node.lineno, f"{node.module}.{name}") for name in wrong)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.attr in NAMES.get(node.value.id, ()):
                yield node.lineno, f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.keyword) and node.arg in OPTIONS:
            yield node.lineno, node.arg
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("/proc/"):
            yield node.lineno, node.value


def test_no_posix_only_module_is_unguarded() -> None:
    wrong: list[str] = []
    for path in FILES:
        name = path.relative_to(PACKAGE).as_posix()
        result = posix_only(path.read_text())
        wrong += [f"{name}:{line}: {result}" for line, result in result if result not in GUARDED.get(name, {})]
    assert not wrong


def test_guarded_imports_still_exist() -> None:
    for name, allowed in GUARDED.items():
        assert {item for _, item in posix_only((PACKAGE / name).read_text())} == set(allowed)


@pytest.mark.parametrize(
    "source", ["import fcntl", "from os import fork", "os.fork()", "signal.SIGKILL", "f(preexec_fn=g)", "'/proc/self'"]
)
def test_posix_only_import_is_found(source: str) -> None:
    assert list(posix_only(source))
