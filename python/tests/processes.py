"""Processes that tests start: they hear signals, and none outlives its test."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rtoslab.interrupts import SIGNALS


@contextmanager
def signals_as_usual() -> Iterator[None]:
    """A command run in this process leaves signals unheard once its answer is known, and processes started later would
    inherit that, as they would inherit what started the tests: a test that ends one would wait for ever."""
    _hear()
    _survive_broken_pipes()
    yield
    _hear()


def _hear() -> None:
    for item in SIGNALS:
        if signal.getsignal(item) is signal.SIG_IGN:
            signal.signal(item, signal.default_int_handler if item == signal.SIGINT else signal.SIG_DFL)


def _survive_broken_pipes() -> None:
    """vcdvcd lets a broken pipe end the process that imports it, without a word; Python raises an error instead."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)


@contextmanager
def start_process(command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """As subprocess.Popen with text, but what does not end by itself is killed behind the block."""
    with subprocess.Popen(command, text=True, **options) as process:
        try:
            yield process
        finally:
            process.kill()
