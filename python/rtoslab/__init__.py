"""rtoslab: a laboratory for RTOS benchmarking. experiment -> build -> run -> decode -> store -> analyse -> report.

import rtoslab
outcomes = rtoslab.run("vieira2026", cores=[1, 2], window_ms=250, out="runs/mine")
for outcome in outcomes:
    print(outcome.result.status, outcome.result.point.benchmark)

board = rtoslab.board("nucleo-f446re", "image.elf")      # docs/python-api.md
board.run_until("main")
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from rtoslab.api import board, build_image, load, profile, run, sweep_phases, timeline

__all__ = ["__version__", "board", "build_image", "load", "profile", "run", "sweep_phases", "timeline"]


def _from_api(name: str) -> Any:
    from rtoslab import api  # noqa: PLC0415

    return getattr(api, name)


def __getattr__(name: str) -> Any:
    """What `rtoslab.api` gives is loaded on first use, so that the command starts fast."""
    if name in __all__:
        return _from_api(name)
    raise AttributeError(f"module 'rtoslab' has no attribute {name!r}")


class _Package(ModuleType):
    """`run` is the function, although importing the folder of that name would make it that of the package."""

    @property
    def run(self) -> Any:
        """`rtoslab.api.run`."""
        return _from_api("run")

    @run.setter
    def run(self, _: ModuleType) -> None: ...


if not TYPE_CHECKING:
    sys.modules[__name__].__class__ = _Package
