"""The simulator's module, for what Rust libraries read better than Python's."""

from typing import Any

from rtoslab.base import ToolMissingError


def load_simulator_module() -> Any:
    """Returns the simulator's module `rtoslab._sim`. Raises ToolMissingError if it is not built."""
    try:
        from rtoslab import _sim  # noqa: PLC0415 (slow to load)
    except ImportError:
        raise ToolMissingError("The simulator is not built; run `make demo`, or `maturin develop --release`.") from None
    return _sim
