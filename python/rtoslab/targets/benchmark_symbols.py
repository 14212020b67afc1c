"""The symbols of a benchmark's image, and the limits of its phases."""

from typing import Final

WINDOW_SYMBOL: Final = "bench_window_state"
DONE_SYMBOL: Final = "bench_done"
SETUP_LIMIT_S: Final = 5.0
SENDING_LIMIT_S: Final = 30.0
