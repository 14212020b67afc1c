"""rtoslab: a laboratory for RTOS benchmarking. experiment -> build -> run -> decode -> store -> analyse -> report.

import rtoslab
outcomes = rtoslab.run("vieira2026", cores=[1, 2], window_ms=250, out="runs/mine")
for outcome in outcomes:
    print(outcome.result.status, outcome.result.point.benchmark)

board = rtoslab.board("nucleo-f446re", "image.elf")      # docs/python-api.md
board.run_until("main")
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rtoslab import devices
    from rtoslab.api import board, build_image, load, profile, run, sweep_phases, timeline
    from rtoslab.base import __version__

__all__ = ["__version__", "board", "build_image", "devices", "load", "profile", "run", "sweep_phases", "timeline"]


def __getattr__(name: str) -> Any:
    """Loads a public name of `rtoslab.api.library` on first use, so that the command starts fast."""
    if name not in __all__:
        raise AttributeError(f"module 'rtoslab' has no attribute {name!r}")
    if name == "devices":
        # `from rtoslab import devices` would ask for the attribute again.
        return import_module("rtoslab.devices")
    from rtoslab import api, base  # noqa: PLC0415

    return getattr(base if name == "__version__" else api, name)


def __dir__() -> list[str]:
    """Returns the public names, which a Python shell completes though they are not loaded yet."""
    return sorted(__all__)
