"""The default kernel and board, the same in every command and in the library."""

from typing import Final

DEFAULT_KERNEL: Final = "freertos"
"""The kernel with the most services, which most newcomers know."""
DEFAULT_BOARD: Final = "pico"
"""The board with two cores, on which every benchmark can run."""
DEFAULT_OPT: Final = "-O2"
"""The optimisation of code by default."""
DEFAULT_CODE: Final = "flash"
"""The memory that code is in by default, by its name in board.toml."""
DEMO_SUITE: Final = "vieira2026"
"""The suite that `rtoslab demo` measures on one core and on two."""
