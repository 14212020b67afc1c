"""Ctrl-C or a signal to end, at any moment: one line or one JSON object and exit code 130, never a trace of Python's.

A KeyboardInterrupt that is raised inside an import, a finaliser or Python's own end is printed as a trace or lost. So
while the command's modules are loaded a signal ends the process at once (nothing is begun then). Once it works the
interrupt is raised as an exception, but never inside an import, a finaliser or pydantic, where it waits for their end.
And once its result is known signals are not heard any more. This module imports nothing slow: it comes first.
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
_RETRY_SIGNAL: int | None = getattr(signal, "SIGALRM", None)
"""By which an interrupt that had to wait is tried again. Without it, a thread does that."""
_RETRY_S = 0.02
"""How soon an interrupt that had to wait is tried again."""
_PYDANTIC = f"{os.sep}pydantic{os.sep}"
"""A part of the names of pydantic's files."""
_FORCED_EXIT_S = 2.0
"""A second signal so long after the first ends the process, whatever is still being tidied up."""
_raised_at_s: list[float] = []
"""When the interrupt was first raised."""
_pending_signals: list[int] = []
"""The signal that came first."""


def exit_on_signal() -> None:
    """Makes signals (Ctrl-C, SIGTERM, SIGHUP) end the process at once, from this call on."""
    for signals in _signals_to_handle():
        signal.signal(signals, _print_message_and_exit)


def raise_on_signal() -> None:
    """Makes the first signal after this call raise KeyboardInterrupt, at a place where the exception is not lost."""
    if _RETRY_SIGNAL is not None:
        signal.signal(_RETRY_SIGNAL, _raise_interrupt)
    for signals in _signals_to_handle():
        signal.signal(signals, _raise_interrupt)


def stop_handling_signals() -> None:
    """Ignores signals from this call on, because the result is known. Also cancels a waiting retry."""
    if _RETRY_SIGNAL is not None:
        signal.setitimer(signal.ITIMER_REAL, 0)
    ignore_signals()


def ignore_signals() -> None:
    """Ignores signals from this call on, as for a process whose parent handles them."""
    for signal_number in SIGNALS:
        signal.signal(signal_number, signal.SIG_IGN)


def reason_of_process_interruption(cause: BaseException | None) -> str:
    """Returns why the process was interrupted, in a sentence: by the user, or by which signal. `cause`: the
    KeyboardInterrupt."""
    name = next((argument for argument in getattr(cause, "args", ()) if isinstance(argument, str)), None)
    return "Stopped by the user." if name is None else f"Ended by the signal {name}."


def user_interruption_message(cause: BaseException | None) -> str:
    """Returns the message to the user about an interrupt. `cause`: the KeyboardInterrupt."""
    text = MESSAGE.decode().strip()
    return (
        text
        if (why := reason_of_process_interruption(cause)) == reason_of_process_interruption(None)
        else text.replace("Interrupted", why.rstrip("."))
    )


def is_json_output_requested() -> bool:
    """Whether the command line asks for JSON. Works before the command line is parsed."""
    return "--json" in sys.argv[1:]


def _signals_to_handle() -> list[signal.Signals]:
    """Returns the signals to handle. One that is ignored already, as SIGHUP under nohup, stays ignored, except
    SIGINT."""
    return [
        signal_number
        for signal_number in SIGNALS
        if signal_number == signal.SIGINT or signal.getsignal(signal_number) is not signal.SIG_IGN
    ]


def _make_keyboard_interrupt(number: int) -> KeyboardInterrupt:
    """Returns the KeyboardInterrupt for a signal number. Its argument is the signal's name, except for Ctrl-C."""
    return KeyboardInterrupt() if number == signal.SIGINT else KeyboardInterrupt(signal.Signals(number).name)


def _print_message_and_exit(number: int, _: FrameType | None) -> None:
    """Prints the message about a signal, as JSON if the command line asked for that, and ends the process."""
    cause = _make_keyboard_interrupt(_pending_signals[0] if _pending_signals else number)
    if is_json_output_requested():
        os.write(1, f'{{"stop": "interrupted", "detail": "{reason_of_process_interruption(cause)}"}}\n'.encode())
    else:
        os.write(2, f"{user_interruption_message(cause)}\n".encode())
    os._exit(EXIT_INTERRUPTED)


def _raise_interrupt(number: int, frame: FrameType | None) -> None:
    """Raises KeyboardInterrupt, or tries again soon where the exception would be lost.
    Signals and the retry's alarm call it.
    """
    if _raised_at_s:
        if time.monotonic() - _raised_at_s[0] > _FORCED_EXIT_S:
            _print_message_and_exit(number, frame)
        return
    if number != _RETRY_SIGNAL:
        _pending_signals.append(number)
    if _can_python_frame_lose_exception(frame):
        _schedule_signal_handler_retry()
        return
    _raised_at_s.append(time.monotonic())
    raise _make_keyboard_interrupt(_pending_signals[0])


def _schedule_signal_handler_retry() -> None:
    """Lets the handler of signals run again after a short time."""
    if _RETRY_SIGNAL is not None:
        signal.setitimer(signal.ITIMER_REAL, _RETRY_S)
        return
    from threading import Timer  # noqa: PLC0415 (only where there is no alarm)

    again = Timer(_RETRY_S, signal.raise_signal, [signal.SIGINT])
    again.daemon = True
    again.start()


def _can_python_frame_lose_exception(frame: FrameType | None) -> bool:
    """Whether an exception raised in this frame would be printed or lost: inside an import, a finaliser, or pydantic,
    which builds the forms of models when they are first used and makes an error of its own from any exception."""
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith("<frozen importlib") or _PYDANTIC in file or frame.f_code.co_name == "__del__":
            return True
        frame = frame.f_back
    return False
