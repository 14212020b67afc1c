"""Test code only: fixtures of several files, and which simulator is tested.

RTOSLAB_SIM names another one than the installed: a library as cargo builds it, with assertions, say
(`make test-checked`).
"""

import atexit
import gc
import importlib.machinery
import importlib.util
import os
import sys
import threading
import time
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from rtoslab.catalogue.trees import kernel_tree_descriptions_folder


def _take_simulator(library: str) -> None:
    """Puts a library in the place of rtoslab._sim, in this process. Raises ImportError if it is none."""
    name = "rtoslab._sim"
    loader = importlib.machinery.ExtensionFileLoader(name, library)
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec is not None
    assert name not in sys.modules, "it is too late for another simulator"
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    sys.modules["rtoslab"].__dict__["_sim"] = module


# How long an example takes says something of the machine, and nothing of what is tested.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

# What the user of this machine has named is no part of a test, but of those that are about it.
os.environ.setdefault("RTOSLAB_NAMED_TREES", str(kernel_tree_descriptions_folder()))
os.environ["RTOSLAB_TREES"] = os.devnull
os.environ.pop("RTOSLAB_PORTS", None)

if "RTOSLAB_SIM" in os.environ:
    import rtoslab  # noqa: F401 (the package comes before its module)

    _take_simulator(os.environ["RTOSLAB_SIM"])

from tests.checkouts import build_apart, copy_checkout  # noqa: E402 (it imports the simulator)
from tests.processes import signals_as_usual  # noqa: E402


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays: to look through it for what nobody holds any more, again and again as it grows and later
    each time that all is looked through, took a twentieth of the tests' time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        atexit.register(gc.unfreeze)  # Python's end takes apart what it finds, in an order that warns of nothing
        gc.set_threshold(50_000, 20, 100)  # as the command and what it forks to measure have it
        gc.enable()


@pytest.fixture(autouse=True)
def _signals() -> Iterator[None]:
    with signals_as_usual():
        yield


def _start_to_end_late(thread: threading.Thread) -> None:
    """A thread ends a moment after its work: who does not wait for its end is caught each time, not now and then."""
    run = thread.run

    def late() -> None:
        try:
            run()
        finally:
            time.sleep(0.02)

    thread.run = late  # type: ignore[method-assign]
    _start(thread)


_start = threading.Thread.start
threading.Thread.start = _start_to_end_late  # type: ignore[method-assign, assignment]


@pytest.fixture(autouse=True)
def _threads() -> Iterator[None]:
    """A thread that a test leaves behind may look for what is removed with the test, and then fails another one."""
    before = set(threading.enumerate())
    yield
    left = [thread.name for thread in threading.enumerate() if thread not in before]
    assert not left, f"{left} of this test still run"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of this checkout that a test may break; images of it are built apart, of objects that all tests share."""
    root, build = copy_checkout(tmp_path / "checkout"), build_apart(tmp_path / "build")
    monkeypatch.setenv("RTOSLAB_ROOT", str(root))
    monkeypatch.setenv("RTOSLAB_BUILD", str(build))
    return root
