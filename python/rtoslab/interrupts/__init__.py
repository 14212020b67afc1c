"""Ctrl-C or a signal to end, at any moment: one line or one JSON object and exit code 130, never a trace of Python's.

The trap: a KeyboardInterrupt raised inside an import, a finaliser or Python's own end is printed as a trace or lost. So
while the command's modules are loaded a signal ends the process at once (nothing is begun then). Once it works the
interrupt is raised as an exception, but never inside an import or a finaliser, where it waits for their end. And once
its result is known signals are not heard any more. This module imports nothing slow: it comes first.
"""

import os
import signal
import sys
import time
from types import FrameType

EXIT_INTERRUPTED = 130
MESSAGE = b"Interrupted; what was finished is kept.\n"
SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT") if hasattr(signal, name))
"""Those that ask a process to end, as far as the system has them."""
_ALARM: int | None = getattr(signal, "SIGALRM", None)
"""By which an interrupt that had to wait is tried again. Without it, a thread does that."""
_AGAIN_S = 0.02
"""How soon an interrupt that had to wait is tried again."""
_IMPATIENT_S = 2.0
"""A second signal so long after the first ends the process, whatever is still being tidied up."""
_first: list[float] = []
"""When the interrupt was first raised."""
_pending: list[int] = []
"""The signal that came first."""


def at_once() -> None:
    """Lets a signal end the process from here on."""
    for signals in _handled_signals():
        signal.signal(signals, _leave)


def in_order() -> None:
    """Lets a signal raise KeyboardInterrupt once from here on, where that can be handled."""
    if _ALARM is not None:
        signal.signal(_ALARM, _raise)
    for signals in _handled_signals():
        signal.signal(signals, _raise)


def over() -> None:
    """Ignores signals from here on: the result is known."""
    if _ALARM is not None:
        signal.setitimer(signal.ITIMER_REAL, 0)
    ignore()


def ignore() -> None:
    """Ignores signals in a process whose parent handles them."""
    for signal_number in SIGNALS:
        signal.signal(signal_number, signal.SIG_IGN)


def reason(cause: BaseException | None) -> str:
    """Returns what a KeyboardInterrupt came of."""
    name = next((argument for argument in getattr(cause, "args", ()) if isinstance(argument, str)), None)
    return "Stopped by the user." if name is None else f"Ended from outside ({name})."


def sentence(cause: BaseException | None) -> str:
    """Returns the message to the user."""
    text = MESSAGE.decode().strip()
    return text if (why := reason(cause)) == reason(None) else text.replace("Interrupted", why.rstrip("."))


def wants_json() -> bool:
    """Whether the command line asks for JSON. Asked before anything can be parsed, too."""
    return "--json" in sys.argv[1:]


def _handled_signals() -> list[signal.Signals]:
    """One that is ignored already, as SIGHUP is under nohup, stays so. Ctrl-C is heard always."""
    return [
        signal_number
        for signal_number in SIGNALS
        if signal_number == signal.SIGINT or signal.getsignal(signal_number) is not signal.SIG_IGN
    ]


def _interrupt(number: int) -> KeyboardInterrupt:
    return KeyboardInterrupt() if number == signal.SIGINT else KeyboardInterrupt(signal.Signals(number).name)


def _leave(number: int, _: FrameType | None) -> None:
    cause = _interrupt(_pending[0] if _pending else number)
    if wants_json():
        os.write(1, f'{{"stop": "interrupted", "detail": "{reason(cause)}"}}\n'.encode())
    else:
        os.write(2, f"{sentence(cause)}\n".encode())
    os._exit(EXIT_INTERRUPTED)


def _raise(number: int, frame: FrameType | None) -> None:
    if _first:
        if time.monotonic() - _first[0] > _IMPATIENT_S:
            _leave(number, frame)
        return
    if number != _ALARM:
        _pending.append(number)
    if _cannot_raise(frame):
        _try_again()
        return
    _first.append(time.monotonic())
    raise _interrupt(_pending[0])


def _try_again() -> None:
    if _ALARM is not None:
        signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
        return
    from threading import Timer  # noqa: PLC0415 (only where there is no alarm)

    again = Timer(_AGAIN_S, signal.raise_signal, [signal.SIGINT])
    again.daemon = True
    again.start()


def _cannot_raise(frame: FrameType | None) -> bool:
    """Whether an exception raised there would be printed or lost."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib") or frame.f_code.co_name == "__del__":
            return True
        frame = frame.f_back
    return False
