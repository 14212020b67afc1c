"""Ctrl-C at any moment: one line and exit code 130, never a trace of Python's.

The trap: a KeyboardInterrupt raised inside an import, a finaliser or Python's own end is printed as a trace or lost. So
while the command's modules are loaded Ctrl-C ends the process at once (nothing is begun then); once it works the
interrupt is raised as an exception, but never inside an import or a finaliser, where it waits for their end; and once
its result is known Ctrl-C is not heard any more. This module imports nothing slow: it comes first.
"""

import os
import signal
import time
from types import FrameType

EXIT_INTERRUPTED = 130
SAID = b"Interrupted; what was finished is kept.\n"
_AGAIN_S = 0.02
"""How soon an interrupt that had to wait is tried again."""
_IMPATIENT_S = 2.0
"""A second Ctrl-C so long after the first ends the process, whatever is still being tidied up."""
_first: list[float] = []
"""When Ctrl-C was first raised."""


def at_once() -> None:
    """From here on Ctrl-C ends the process."""
    signal.signal(signal.SIGINT, _leave)


def in_order() -> None:
    """From here on Ctrl-C raises KeyboardInterrupt, once, where that can be heard."""
    signal.signal(signal.SIGALRM, _raise)
    signal.signal(signal.SIGINT, _raise)


def over() -> None:
    """From here on Ctrl-C is not heard: the result is known."""
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _leave(_: int, __: FrameType | None) -> None:
    os.write(2, SAID)
    os._exit(EXIT_INTERRUPTED)


def _raise(number: int, frame: FrameType | None) -> None:
    if _first:
        if time.monotonic() - _first[0] > _IMPATIENT_S:
            _leave(number, frame)
        return
    if _deaf(frame):
        signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
        return
    _first.append(time.monotonic())
    raise KeyboardInterrupt


def _deaf(frame: FrameType | None) -> bool:
    """Whether an exception raised there would be printed or lost."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib") or frame.f_code.co_name == "__del__":
            return True
        frame = frame.f_back
    return False
