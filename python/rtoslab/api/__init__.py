"""The library's face."""

from rtoslab.api import library
from rtoslab.api.library import board, build_image, default_out, load, profile, run, run_on_port, sweep_phases, timeline

__all__ = [
    "board",
    "build_image",
    "default_out",
    "library",
    "load",
    "profile",
    "run",
    "run_on_port",
    "sweep_phases",
    "timeline",
]
