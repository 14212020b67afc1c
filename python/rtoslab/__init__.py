"""rtoslab: a laboratory for RTOS benchmarking. experiment -> build -> run -> decode -> store -> analyse -> report."""

__version__ = "0.1.0"
