"""The options of a point, in one table: their keys in `--config`, their defaults, an example.

Each is a field of `Point` of the same name. A point's name (`PointId.config`), the macros of the kernel, and the help
of `rtoslab run` follow from this table. Their CMake names are in `images.image_inputs`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rtoslab.catalogue import DEFAULT_CODE, DEFAULT_OPT

DEFAULT_COMPILER: Final = "gcc"
DEFAULT_RAM: Final = "striped"
BANKS: Final = "banks"
"""The division of the SRAM that gives each core banks of its own."""


@dataclass(frozen=True, slots=True)
class PlannedPointOption:
    """One option of a point: its key in `--config`, its default, an example."""

    key: str
    default: str | None
    """The value if the option is not given. None: the one in board.toml or benchmark.toml."""
    example: str
    """Empty for an option that is set by other means than `--config`."""

    def option_value_text(self, point: object) -> str | None:
        """Returns the option's value in a point's settings, as text. None if the point has the default."""
        value = getattr(point, self.key)
        text = str(int(value)) if isinstance(value, bool) else str(value)
        return None if value is None or text == self.default else text


POINT_OPTIONS: Final = (
    PlannedPointOption("instrument", None, "counter"),
    PlannedPointOption("samples", None, "100"),
    PlannedPointOption("opt", DEFAULT_OPT, "-O3"),
    PlannedPointOption("compiler", DEFAULT_COMPILER, "clang"),
    PlannedPointOption("lto", "0", "1"),
    PlannedPointOption("placement", "0", "1"),
    PlannedPointOption("code", DEFAULT_CODE, "sram"),
    PlannedPointOption("data", None, "dtcm"),
    PlannedPointOption("warmup_ms", None, "10"),
    PlannedPointOption("clock_hz", None, "84000000"),
    PlannedPointOption("wait_states", None, "5"),
    PlannedPointOption("beside", None, ""),
    PlannedPointOption("core", None, ""),
    PlannedPointOption("ram", DEFAULT_RAM, BANKS),
)
"""In the order of a stored point's configuration."""
KEY_GROUPS: Final = (("feature", "NAME=0"), ("param", "NAME=N"), ("timing", "KEY=N"))
"""Keys with a dot: the board's caches and prefetchers, the benchmark's parameters, the virtual board's timing rules.
Any other key is a macro of the kernel's configuration."""
POINT_KEYS: Final = frozenset(option.key for option in POINT_OPTIONS)
DEFAULTS: Final = {option.key: option.default for option in POINT_OPTIONS if option.default is not None}
"""The values that a point's configuration leaves out, because it has only what differs."""


def config_with_defaults(config: Mapping[str, str]) -> dict[str, str]:
    """Returns the settings of a point with all defaults filled in."""
    return {**DEFAULTS, **config}


CONFIG_HELP: Final = ", ".join(
    [
        *(f"{option.key}={option.example}" for option in POINT_OPTIONS if option.example),
        *(f"{name}.{rest}" for name, rest in KEY_GROUPS),
        "or a macro of the kernel's configuration.",
    ]
)
"""The help of `--config`."""
