"""A command that is ended from outside: like Ctrl-C, so that what it has is still printed."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


@contextmanager
def ended_from_outside() -> Iterator[None]:
    """Signals that ask the process to end raise KeyboardInterrupt with their name, the first one only."""

    def end(number: int, _: FrameType | None) -> None:
        for each in SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        raise KeyboardInterrupt(signal.Signals(number).name)

    # One that is ignored already, as under nohup, stays so.
    before = {each: signal.getsignal(each) for each in SIGNALS}
    for each, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(each, end)
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
