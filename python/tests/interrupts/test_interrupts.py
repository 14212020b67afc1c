"""Ctrl-C at any moment: one line, exit code 130, no trace of Python's."""

import os
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

from rtoslab import interrupts
from rtoslab.base.paths import find_checkout_root
from rtoslab.interrupts import EXIT_INTERRUPTED, MESSAGE, _can_python_frame_lose_exception
from tests.processes import signals_as_usual, start_process

BEGUN = "import sys; sys.argv = ['rtoslab', *sys.argv[1:]]; print('begun', flush=True); "
"""What comes before is the interpreter's own start, of which nothing of ours can know."""


def interrupt_after(code: str, after_s: float) -> tuple[int, str]:
    child = subprocess.Popen(
        [sys.executable, "-c", code, "list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=find_checkout_root()
    )
    assert child.stdout is not None
    child.stdout.readline()
    time.sleep(after_s)
    child.send_signal(signal.SIGINT)
    _, output = child.communicate(timeout=120)
    return child.returncode, output.decode()


def assert_quiet(code: int, output: str) -> None:
    assert (code, output) in {
        (EXIT_INTERRUPTED, MESSAGE.decode()),
        (EXIT_INTERRUPTED, "\n" + MESSAGE.decode()),
        (0, ""),
    }, output


def test_pending_interrupt_of_a_command_does_not_reach_the_next_test() -> None:
    with signals_as_usual():
        interrupts.ignore_signals()
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_broken_pipe_does_not_end_the_test_process() -> None:
    import vcdvcd  # noqa: F401, PLC0415 (sets that signal as it is imported)

    with signals_as_usual():
        assert signal.getsignal(signal.SIGPIPE) is signal.SIG_IGN


def test_no_process_outlives_its_test() -> None:
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(600)"
    with start_process([sys.executable, "-c", deaf], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGTERM)
    assert process.returncode == -signal.SIGKILL


STEPS = 8


@pytest.mark.parametrize("step", range(STEPS))
def test_interrupt_during_import_and_during_work(step: int) -> None:
    """From the first line of ours on; `list` takes about half a second."""
    code = f"import rtoslab.interrupts as i; i.exit_on_signal(); {BEGUN} from rtoslab.__main__ import main; main()"
    assert_quiet(*interrupt_after(code, 0.5 * step / STEPS))


@pytest.mark.long
@pytest.mark.parametrize("step", range(100))
def test_interrupt_at_a_hundred_moments(step: int) -> None:
    code = f"import rtoslab.interrupts as i; i.exit_on_signal(); {BEGUN} from rtoslab.__main__ import main; main()"
    assert_quiet(*interrupt_after(code, 0.01 * step))


def test_interrupt_waits_for_the_end_of_an_import(tmp_path: object) -> None:
    code = (
        "import rtoslab.interrupts as i, sys, types, importlib.abc, importlib.util\n"
        "i.raise_on_signal()\n"
        "class Slow(importlib.abc.MetaPathFinder, importlib.abc.Loader):\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        return importlib.util.spec_from_loader(name, self) if name == 'slow' else None\n"
        "    def exec_module(self, module):\n"
        "        import time; end = time.monotonic() + 0.6; print('begun', flush=True)\n"
        "        while time.monotonic() < end: pass\n"
        "        module.whole = True\n"
        "sys.meta_path.insert(0, Slow())\n"
        "try:\n"
        "    import slow\n"
        "    end = __import__('time').monotonic() + 5\n"
        "    while __import__('time').monotonic() < end: pass\n"
        "except KeyboardInterrupt:\n"
        "    sys.exit(42 if sys.modules['slow'].whole else 1)\n"
    )
    assert interrupt_after(code, 0.1) == (42, "")


@pytest.mark.parametrize(("file", "waits"), [("/lib/pydantic/_internal/_fields.py", True), ("/app/fields.py", False)])
def test_interrupt_waits_for_pydantic(file: str, waits: bool) -> None:
    """It would make an error of its own from it."""
    scope: dict[str, Any] = {"ask": lambda: _can_python_frame_lose_exception(sys._getframe())}
    exec(compile("answer = ask()", file, "exec"), scope)  # noqa: S102 (for the file's name alone)
    assert scope["answer"] == waits


def test_second_interrupt_does_not_disturb_cleanup() -> None:
    code = (
        "import rtoslab.interrupts as i, os, signal, sys, time\n"
        "i.raise_on_signal()\n"
        "print('begun', flush=True)\n"
        "try:\n"
        "    time.sleep(20)\n"
        "finally:\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    time.sleep(0.2)\n"
        "    sys.exit(43)\n"
    )
    assert interrupt_after(code, 0.1) == (43, "")


EACH = """
import sys
from rtoslab.__main__ import main
for name in sys.argv[1:]:
    sys.argv = ["rtoslab", "pins", "decode", name]
    try:
        main()
    except SystemExit as ended:
        print(ended.code)
"""
"""The command for each name in turn: loading its modules takes longer than all else."""


def test_output_is_escaped_for_a_limited_terminal() -> None:
    """Names that are no text, an encoding that lacks them, sizes that are none: no trace."""
    names = ("x\udcff.vcd", "[/x]\x1b[2J.vcd", "\u2603" * 3, "x" * 5000)
    done = subprocess.run(
        [sys.executable, "-c", EACH, *map(os.fsencode, names)],
        capture_output=True, cwd=find_checkout_root(), check=False, stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "9" * 30, "LINES": "-1", "TERM": "none"},
    )  # fmt: skip
    assert done.stdout.split() == [b"1"] * len(names)
    assert done.stderr.count(b"\n") == len(names)
    assert b"Traceback" not in done.stderr
    assert b"\x1b" not in done.stderr
