"""The options of a point, written down once: their keys in `--config`, what they are unless said, an example.

Each is a field of `Point` of the same name. A point's name (`PointId.config`), the macros of the kernel, and the help
of `rtoslab run` follow from this table. Their CMake names are in `images.image_inputs`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rtoslab.catalogue import DEFAULT_OPT

DEFAULT_COMPILER: Final = "gcc"
DEFAULT_CODE: Final = "flash"


@dataclass(frozen=True, slots=True)
class PointOption:
    """One option."""

    key: str
    usual: str | None
    """What it is unless it is said. None: what board.toml or benchmark.toml say."""
    example: str

    def text(self, point: object) -> str | None:
        """Returns what a point's configuration says of it: only what is not as usual."""
        value = getattr(point, self.key)
        text = str(int(value)) if isinstance(value, bool) else str(value)
        return None if value is None or text == self.usual else text


POINT_OPTIONS: Final = (
    PointOption("instrument", None, "counter"),
    PointOption("samples", None, "100"),
    PointOption("opt", DEFAULT_OPT, "-O3"),
    PointOption("compiler", DEFAULT_COMPILER, "clang"),
    PointOption("lto", "0", "1"),
    PointOption("placement", "0", "1"),
    PointOption("code", DEFAULT_CODE, "sram"),
    PointOption("data", None, "dtcm"),
    PointOption("warmup_ms", None, "10"),
    PointOption("clock_hz", None, "84000000"),
    PointOption("wait_states", None, "5"),
)
"""In the order in which a stored point has them."""
GROUPS: Final = (("feature", "NAME=0"), ("param", "NAME=N"), ("timing", "KEY=N"))
"""Keys with a dot: the board's caches and prefetchers, the benchmark's parameters, the virtual board's timing rules.
Any other key is a macro of the kernel's configuration."""
POINT_KEYS: Final = frozenset(option.key for option in POINT_OPTIONS)
USUAL: Final = {option.key: option.usual for option in POINT_OPTIONS if option.usual is not None}
"""What a point's configuration does not say, because it says only what differs."""


def with_usual(config: Mapping[str, str]) -> dict[str, str]:
    """A point's configuration, and what it does not say of itself: so two can be compared key by key."""
    return {**USUAL, **config}


CONFIG_HELP: Final = ", ".join(
    [
        *(f"{option.key}={option.example}" for option in POINT_OPTIONS),
        *(f"{name}.{rest}" for name, rest in GROUPS),
        "or a macro of the kernel's configuration.",
    ]
)
"""The help of `--config`."""
