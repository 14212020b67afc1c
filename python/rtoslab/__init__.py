"""rtoslab: a laboratory for RTOS benchmarking. experiment -> build -> run -> decode -> store -> analyse -> report.

import rtoslab
outcomes = rtoslab.run("vieira2026", cores=[1, 2], window_ms=250, out="runs/mine")
for outcome in outcomes:
    print(outcome.result.status, outcome.result.point.benchmark)
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from rtoslab.api import load, run

__all__ = ["__version__", "load", "run"]


def __getattr__(name: str) -> Any:
    """`run` and `load` come from `rtoslab.api`, loaded on first use so that the command starts fast."""
    if name in {"run", "load"}:
        from rtoslab import api  # noqa: PLC0415

        return getattr(api, name)
    raise AttributeError(f"module 'rtoslab' has no attribute {name!r}")
